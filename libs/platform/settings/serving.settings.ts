import {
  choice,
  count,
  flag,
  form,
  list,
  login,
  optionalLogin,
  optionalSecret,
  optionalText,
  optionalUrl,
  port,
  proxies,
  requiredList,
  secret,
  seconds,
  text,
  url,
} from './setting.js';

/** Shorter secrets can be guessed from one thing that they signed. */
const MIN_SECRET_CHARS = 32;
const MIN_PASSPHRASE_CHARS = 16;
const MANY = { max: 1_000_000_000 };

export const addresses = {
  PORT: port('Where the API listens', 8787),
  CONSOLE_PORT: port('Where the console and `/api` listen', 8788),
  HOST: text('Address to listen on', '0.0.0.0'),
  HEALTH_PORT: port('`/health/live`, `/health/ready` and `/metrics`. Each program needs its own', 9464),
  PUBLIC_BASE_URL: optionalUrl(
    'The public origin of the API. Links in answers start with it, and the console shows it; otherwise links start with what the request names',
  ),
  PUBLIC_CONSOLE_URL: url(
    'The public origin of the console. Links in mail start with it; over https, cookies are sent over https only',
    'http://127.0.0.1:8788',
  ),
  ALLOWED_HOSTS: list(
    'Hosts that requests may name and that links may be built for; any without it. The host of `PUBLIC_BASE_URL` is added; the host of `GATEWAY_URL` is not',
  ),
  TRUST_PROXY: proxies('Trust the `X-Forwarded-*` headers of one proxy (`true`), or of this many'),
  GATEWAY_URL: optionalUrl(
    'Where the control plane reaches a gateway to make calls from the console. Without it, `PUBLIC_BASE_URL`',
  ),
  PLAYGROUND_CONCURRENCY: count('Calls from the console that may run at once', 200),
  LOG_LEVEL: text('How much the programs log', 'info'),
  REPORT_SECONDS: seconds('How often a program reports its state, for the page of programs', 5),
};

export const database = {
  DATA_DIR: text('Folder of the database, files, demo key and secrets', '.data'),
  DATABASE_URL: login("PostgreSQL, with the login of the program's own role"),
  DATABASE_POOL: count('Most connections a program opens. Standalone has fixed numbers of its own', 10, {
    min: 2,
    max: 500,
  }),
  REPORTS_DATABASE_URL: optionalLogin(
    'A read replica (hot standby) for reports and files of rows, with the login of `tollgate_billing`. Without it, they read `DATABASE_URL`',
  ),
  REPORTS_LAG_SECONDS: seconds('A replica that is further behind than this answers no reports', 60),
  OWNER_DATABASE_URL: login('The login that owns the database and runs the migrations: no superuser'),
  ADMIN_DATABASE_URL: optionalLogin(
    'A superuser that creates the roles and the database, and owns nothing in it. Without it, they must be there, or the owner may create roles',
  ),
  GATEWAY_DATABASE_PASSWORD: optionalSecret('Password to set for the role `tollgate_gateway`'),
  WORKER_DATABASE_PASSWORD: optionalSecret('Password to set for the role `tollgate_worker`'),
  BILLING_DATABASE_PASSWORD: optionalSecret('Password to set for the role `tollgate_billing`'),
};

export const secrets = {
  SECRETS_KEY: secret(
    'Encrypts secrets in the database: 32 bytes in base64 or hex. Separate several with commas: the first encrypts, all of them decrypt',
  ),
  CHAIN_SIGNING_KEY: optionalSecret(
    'Ed25519 private key that signs the heads of the hash chain. Without it, heads are not signed',
  ),
  URL_SIGNING_SECRET: secret(
    'Signs the addresses of files: at least 32 characters, the same in every gateway',
    MIN_SECRET_CHARS,
  ),
  CONSOLE_GRANT_SECRET: optionalSecret(
    'Lets the console call models for signed-in people: at least 32 characters, the same in gateway and control plane',
    MIN_SECRET_CHARS,
  ),
  BACKUP_PASSPHRASE: secret(
    'Encrypts backups: at least 16 characters. Keep it apart from them; without it nothing can be restored',
    MIN_PASSPHRASE_CHARS,
  ),
};

export const kafka = {
  KAFKA_BROKERS: requiredList('Brokers, host:port, separated by commas'),
  KAFKA_NAMESPACE: optionalText('Prefix of every topic and group, so that installations can share brokers'),
  OUTBOX_POLL_SECONDS: seconds('How often the outbox is polled, in case a wake-up was missed', 1),
};

export const storage = {
  STORAGE: choice(
    'Where finished files are kept: `file` (a folder) or `s3` (an S3-compatible store). Gateways and workers need the same store',
    ['file', 's3'],
    'file',
  ),
  STORAGE_DIR: optionalText('The folder, for `file`'),
  S3_ENDPOINT: optionalUrl('The store, for `s3`. Without it, Amazon'),
  S3_REGION: text('Its region', 'us-east-1'),
  S3_BUCKET: optionalText('The bucket'),
  S3_ACCESS_KEY_ID: optionalSecret('A key that may read, write, list and delete in the bucket'),
  S3_SECRET_ACCESS_KEY: optionalSecret('The secret of that key'),
  S3_FORCE_PATH_STYLE: flag(
    'Put the bucket in the path instead of the host name. True by default where `S3_ENDPOINT` is set',
  ),
  VIDEO_FILE_LIFE_SECONDS: seconds('How long a finished video or 3D asset can be downloaded', 1500),
  IMAGE_URL_LIFE_SECONDS: seconds('How long the address of an image works', 3600),
  FILE_COPY_ATTEMPTS: count('Attempts to copy a finished file before the task fails', 8, { max: 1000 }),
  FILE_COPY_BACKOFF_SECONDS: seconds('Pause before the second attempt; it doubles with each further one', 1),
};

export const requestLog = {
  REQUEST_LOG: choice(
    'Where the log of requests is exported to, an object for each hour: `file` (a folder), `s3` (a bucket in the store of `S3_ENDPOINT`, with its key) or `off`',
    ['off', 'file', 's3'],
    'off',
  ),
  REQUEST_LOG_DIR: optionalText('The folder, for `file`'),
  REQUEST_LOG_BUCKET: optionalText('The bucket, for `s3`: another one than `S3_BUCKET`'),
  REQUEST_LOG_SECONDS: seconds('How often to check whether an hour can be exported', 60),
};

export const requests = {
  HOLD_EXPIRES_SECONDS: seconds('A hold that billing sees later than this is refused', 10),
  BUS_REQUEST_TIMEOUT_SECONDS: seconds('How long to wait for one answer from billing', 5),
  IMAGE_REQUEST_LIMIT_SECONDS: seconds(
    'From the start of an image request until its upstream call is aborted',
    120,
  ),
  STREAM_LIMIT_SECONDS: seconds(
    'The same for chats, responses, messages, speech, transcriptions and embeddings, streamed or not',
    600,
  ),
  STREAM_DRAIN_SECONDS: seconds(
    'How long an answer is read on after its client left, to learn its usage',
    30,
  ),
  STREAM_DRAINS_PER_ACCOUNT: count('How many such answers of one account at once', 8, {
    min: 0,
    max: 10_000,
  }),
  VIDEO_CREATE_LIMIT_SECONDS: seconds(
    'After this, the outcome of a create is unclear and the answer is `queued`',
    20,
  ),
  CHARGE_GRACE_SECONDS: seconds('Time past every limit before an unresolved charge is swept', 30),
  SWEEP_INTERVAL_SECONDS: seconds('Pause between rounds of the sweepers', 5),
  PUBLISH_SETTLEMENTS: flag(
    'Publishes `charge.settled` for each settled charge, for programs of yours',
    false,
  ),
  IDEMPOTENCY_LIFE_SECONDS: seconds('How long the answer to an `Idempotency-Key` is kept', 86_400),
  IDEMPOTENCY_LEASE_SECONDS: seconds('A gateway that is silent for this long has given up its requests', 10),
  SHUTDOWN_GRACE_SECONDS: seconds('How long a stop waits for requests in flight', 30),
  CATALOG_LIFE_SECONDS: seconds('How long the catalog is cached. Events empty the cache sooner', 30),
  KEY_CACHE_SECONDS: seconds('How long keys are cached. Events empty the cache sooner', 1),
  KEY_USE_SECONDS: seconds('How often the last use of keys is recorded', 60),
};

export const limits = {
  KEY_REQUESTS_PER_MINUTE: count(
    'Paid requests of a key, unless it or its group has its own limit',
    600,
    MANY,
  ),
  ACCOUNT_REQUESTS_PER_MINUTE: count(
    'Paid requests of an account, unless it or its group has its own limit',
    1_200,
    MANY,
  ),
  KEY_CONCURRENT_REQUESTS: count(
    'Paid requests of a key at once in each gateway, with the same exceptions',
    64,
    MANY,
  ),
  ACCOUNT_CONCURRENT_REQUESTS: count(
    'Paid requests of an account at once in each gateway, with the same exceptions',
    128,
    MANY,
  ),
  FAILED_KEYS_PER_MINUTE: count('Requests with a wrong key from one network', 120, MANY),
  BODY_MEMORY_MEGABYTES: count(
    'Memory for the large bodies of all requests together, as received; accounts have fair shares of it',
    512,
  ),
  UPLOADS_PER_ACCOUNT: count('Bodies of one account that may arrive at once', 32),
  UPLOAD_GRACE_SECONDS: seconds('How long a body may take whatever its pace', 10),
  UPLOAD_LEAST_KILOBYTES_PER_SECOND: count(
    'After the grace, a body that arrives slower than this is cut off with 408',
    16,
    { min: 0 },
  ),
  PICTURE_THREADS: count('Images in requests that are decoded at once', 2, { max: 64 }),
  PICTURE_URLS_MAY_BE_PRIVATE: flag(
    'Fetch images named in requests from private hosts too: only inside a network of your own',
    false,
  ),
};

export const channels = {
  CHANNEL_FAILURES_TO_OPEN: count(
    'Failed calls in a row, of several accounts, after which a model of a channel is left alone',
    5,
  ),
  CHANNEL_OPEN_SECONDS: seconds('How long it is left alone before one call may try it', 10),
  CHANNEL_WAIT_SECONDS: seconds('How long a call waits for a place on a full channel', 30),
  CHANNEL_TEST_SECONDS: seconds('How long an upstream may take to answer the test of a channel', 10),
};

export const tasks = {
  TASK_DEADLINE_SECONDS: seconds('A task that has not ended by then fails, and its hold is refunded', 3600),
  STUCK_AFTER_SECONDS: seconds('When the worker takes over a task that its gateway left', 30),
  UNCLEAR_CREATE_SECONDS: seconds(
    'When a create with an unclear outcome fails and its hold is refunded',
    120,
  ),
  POLL_INTERVAL_SECONDS: seconds('First pause between polls of a task', 1),
  POLL_MAX_SECONDS: seconds('Longest pause between polls. An end is noticed at most this late', 8),
  LEASE_SECONDS: seconds('When the tasks of a dead worker are free for another', 30),
  WORKER_CONCURRENCY: count('Tasks polled at once, at most three quarters of them on one channel', 256, {
    max: 10_000,
  }),
  WORKER_COPIES: count('Finished files copied at once', 32, { max: 10_000 }),
};

export const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(
    'Collector of traces and metrics (OTLP over HTTP with JSON), such as `http://127.0.0.1:4318`. Without it, nothing is traced or sent',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSecret(
    'Headers that the collector asks for, such as `authorization=Bearer%20TOKEN`, separated by commas',
  ),
  OTEL_RESOURCE_ATTRIBUTES: optionalText(
    'What traces and metrics say of this installation, such as `deployment.environment.name=production`, separated by commas',
  ),
  OTEL_TRACES_SAMPLER_ARG: form('The part of calls that is recorded, from 0 to 1', {
    pattern: /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/,
    rule: 'must be a number from 0 to 1',
    fallback: '1',
  }),
  TRACE_CLIENTS_DECIDE: flag(
    'Records each call whose `traceparent` says that its client records it, besides. Anyone with a key can say so',
    false,
  ),
  TRACE_UPSTREAMS: flag('Sends `traceparent` to upstreams, which can then tell calls of one trace', false),
  OTEL_METRICS_EXPORTER: choice('`none` sends traces alone', ['otlp', 'none'], 'otlp'),
  OTEL_METRIC_EXPORT_INTERVAL: count('Milliseconds between two reports of the metrics', 60_000, { min: 100 }),
};
