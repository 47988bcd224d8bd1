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
    'The public origin of the API, shown in the console and used for links in answers. Without it, links use the host of the request',
  ),
  PUBLIC_CONSOLE_URL: url(
    'The public origin of the console, used for links in mail. If it is https, cookies are only sent over https',
    'http://127.0.0.1:8788',
  ),
  ALLOWED_HOSTS: list(
    'Hosts that requests and links may use. Without it, any host. The host of `PUBLIC_BASE_URL` is always allowed; the host of `GATEWAY_URL` is not',
  ),
  TRUST_PROXY: proxies(
    'Trust the `X-Forwarded-*` headers of one proxy (`true`), or of this number of proxies',
  ),
  GATEWAY_URL: optionalUrl(
    'Where the control plane reaches a gateway for calls from the console. Defaults to `PUBLIC_BASE_URL`',
  ),
  PLAYGROUND_CONCURRENCY: count('Concurrent calls from the console', 200),
  LOG_LEVEL: text('Log level', 'info'),
  REPORT_SECONDS: seconds('How often a program reports its state to the console', 5),
};

export const database = {
  DATA_DIR: text('Folder for the database, files, demo key and secrets', '.data'),
  DATABASE_URL: login("The PostgreSQL database, with the login of the program's own role"),
  // Billing keeps three: two for the ledger's batches, one for its outbox.
  DATABASE_POOL: count('Maximum number of connections. Standalone uses fixed numbers', 10, {
    min: 4,
    max: 500,
  }),
  DATABASE_CONNECT_SECONDS: seconds(
    'How long to wait for a free or new connection. 0 means without a limit',
    5,
  ),
  REPORTS_DATABASE_URL: optionalLogin(
    'A read replica (hot standby) for reports and CSV files, with the login of `tollgate_billing`. Defaults to `DATABASE_URL`',
  ),
  REPORTS_LAG_SECONDS: seconds('Reports are refused if the replica is further behind than this', 60),
  OWNER_DATABASE_URL: login(
    'The login that owns the database and runs migrations. It needs no superuser rights',
  ),
  ADMIN_DATABASE_URL: optionalLogin(
    'A superuser that creates the roles and the database. Without it, they must exist, or the owner must be allowed to create roles',
  ),
  GATEWAY_DATABASE_PASSWORD: optionalSecret('Password to set for the role `tollgate_gateway`'),
  WORKER_DATABASE_PASSWORD: optionalSecret('Password to set for the role `tollgate_worker`'),
  BILLING_DATABASE_PASSWORD: optionalSecret('Password to set for the role `tollgate_billing`'),
};

export const secrets = {
  SECRETS_KEY: secret(
    'Encrypts secrets in the database: 32 bytes in base64 or hex. Separate several with commas: the first one encrypts, all of them decrypt',
  ),
  CHAIN_SIGNING_KEY: optionalSecret(
    'Ed25519 private key that signs the heads of the hash chain. Without it, they are not signed',
  ),
  URL_SIGNING_SECRET: secret(
    'Signs file URLs: at least 32 characters, the same in every gateway',
    MIN_SECRET_CHARS,
  ),
  CONSOLE_GRANT_SECRET: optionalSecret(
    'Lets signed-in people call models from the console: at least 32 characters, the same in gateway and control plane',
    MIN_SECRET_CHARS,
  ),
  BACKUP_PASSPHRASE: secret(
    'Encrypts backups: at least 16 characters. Do not store it with the backups. Without it, they cannot be restored',
    MIN_PASSPHRASE_CHARS,
  ),
};

export const kafka = {
  KAFKA_BROKERS: requiredList('Brokers as host:port, separated by commas'),
  KAFKA_NAMESPACE: optionalText(
    'Prefix of all topics and consumer groups, so that installations can share brokers',
  ),
  OUTBOX_POLL_SECONDS: seconds('How often the outbox is polled, in case a wake-up was missed', 1),
};

export const storage = {
  STORAGE: choice(
    'Where finished files are kept: `file` (a folder) or `s3` (an S3-compatible store). Gateways and workers need the same store',
    ['file', 's3'],
    'file',
  ),
  STORAGE_DIR: optionalText('The folder, for `file`'),
  S3_ENDPOINT: optionalUrl('The store, for `s3`. Defaults to Amazon S3'),
  S3_REGION: text('Its region', 'us-east-1'),
  S3_BUCKET: optionalText('The bucket'),
  S3_ACCESS_KEY_ID: optionalSecret('A key that may read, write, list and delete in the bucket'),
  S3_SECRET_ACCESS_KEY: optionalSecret('The secret of that key'),
  S3_FORCE_PATH_STYLE: flag(
    'Put the bucket in the path instead of the host name. True by default if `S3_ENDPOINT` is set',
  ),
  VIDEO_FILE_LIFE_SECONDS: seconds('How long a finished video or 3D asset can be downloaded', 1500),
  IMAGE_URL_LIFE_SECONDS: seconds('How long an image URL works', 3600),
  FILE_COPY_ATTEMPTS: count(
    'Attempts to fetch a finished file before the task fails. While our own store takes no files, it waits for its deadline',
    8,
    { max: 1000 },
  ),
  FILE_COPY_BACKOFF_SECONDS: seconds(
    'Pause before the second attempt. It doubles with each further attempt',
    1,
  ),
};

export const requestLog = {
  REQUEST_LOG: choice(
    'Where the request log is exported, one object per hour: `file` (a folder), `s3` (a bucket in the store of `S3_ENDPOINT`, with its key) or `off`',
    ['off', 'file', 's3'],
    'off',
  ),
  REQUEST_LOG_DIR: optionalText('The folder, for `file`'),
  REQUEST_LOG_BUCKET: optionalText('The bucket, for `s3`. It must not be `S3_BUCKET`'),
  REQUEST_LOG_SECONDS: seconds('How often to check whether an hour can be exported', 60),
};

export const requests = {
  HOLD_EXPIRES_SECONDS: seconds('Billing refuses a hold that reaches it later than this', 10),
  BUS_REQUEST_TIMEOUT_SECONDS: seconds('How long to wait for one answer from billing', 5),
  IMAGE_REQUEST_LIMIT_SECONDS: seconds(
    'Time limit of an image request, after which its upstream call is aborted',
    120,
  ),
  STREAM_LIMIT_SECONDS: seconds(
    'Time limit of chats, responses, messages, speech, transcriptions and embeddings, streamed or not',
    600,
  ),
  STREAM_DRAIN_SECONDS: seconds(
    'How long to keep reading an answer after its client disconnected, to learn its usage',
    30,
  ),
  STREAM_DRAINS_PER_ACCOUNT: count('Concurrent answers of one account that are read on like that', 8, {
    min: 0,
    max: 10_000,
  }),
  VIDEO_CREATE_LIMIT_SECONDS: seconds(
    'Time limit for creating a task upstream. After it, the outcome is unclear and the answer is `queued`',
    20,
  ),
  CHARGE_GRACE_SECONDS: seconds('How long after every limit an unresolved charge is swept', 30),
  SWEEP_INTERVAL_SECONDS: seconds('Pause between rounds of the sweepers', 5),
  PUBLISH_SETTLEMENTS: flag('Publish `charge.settled` for each charge, for your own programs', false),
  IDEMPOTENCY_LIFE_SECONDS: seconds('How long the answer to an `Idempotency-Key` is kept', 86_400),
  IDEMPOTENCY_LEASE_SECONDS: seconds(
    'How long a gateway may be silent before its requests count as abandoned',
    10,
  ),
  SHUTDOWN_GRACE_SECONDS: seconds('How long a shutdown waits for requests in progress', 30),
  CATALOG_LIFE_SECONDS: seconds('How long the catalog is cached. Changes clear the cache sooner', 30),
  KEY_CACHE_SECONDS: seconds('How long keys are cached. Changes clear the cache sooner', 1),
  KEY_USE_SECONDS: seconds('How often the last use of keys is recorded', 60),
};

export const limits = {
  KEY_REQUESTS_PER_MINUTE: count(
    'Requests per minute of a key, unless it, its group or its account has its own limit',
    600,
    MANY,
  ),
  ACCOUNT_REQUESTS_PER_MINUTE: count(
    'Requests per minute of an account, unless it or the group of the key has its own limit',
    1_200,
    MANY,
  ),
  KEY_CONCURRENT_REQUESTS: count(
    'Concurrent paid requests of a key in each gateway, with the same exceptions',
    64,
    MANY,
  ),
  ACCOUNT_CONCURRENT_REQUESTS: count(
    'Concurrent paid requests of an account in each gateway, with the same exceptions',
    128,
    MANY,
  ),
  FAILED_KEYS_PER_MINUTE: count('Requests per minute with a wrong key from one network', 120, MANY),
  BODY_MEMORY_MEGABYTES: count('Memory for large request bodies, shared fairly among accounts', 512),
  UPLOADS_PER_ACCOUNT: count('Concurrent uploads of one account', 32),
  UPLOAD_GRACE_SECONDS: seconds('How long an upload may be slow', 10),
  UPLOAD_LEAST_KILOBYTES_PER_SECOND: count('After that, slower uploads are cut off with 408', 16, { min: 0 }),
  PICTURE_THREADS: count('Images in requests that are decoded concurrently', 2, { max: 64 }),
  PICTURE_URLS_MAY_BE_PRIVATE: flag(
    'Also fetch image URLs in requests from private hosts. Only for your own network',
    false,
  ),
};

export const channels = {
  CHANNEL_FAILURES_TO_OPEN: count(
    'Failed calls in a row, of several accounts or with a failed test of our own, after which a channel gets no more calls for the model',
    5,
  ),
  CHANNEL_OPEN_SECONDS: seconds('How long until one call may try the channel again', 10),
  CHANNEL_WAIT_SECONDS: seconds('How long a call waits for a channel at its limit', 30),
  CHANNEL_TEST_SECONDS: seconds('Timeout of a channel test', 10),
  CHANNEL_CHECK_SECONDS: seconds(
    'How often a gateway tests all channels, switching failing ones off and on again; 0 is never',
    0,
  ),
};

export const tasks = {
  TASK_DEADLINE_SECONDS: seconds('A task that has not ended after this fails and is refunded', 3600),
  STUCK_AFTER_SECONDS: seconds('How long until the worker takes over a task that its gateway abandoned', 30),
  UNCLEAR_CREATE_SECONDS: seconds(
    'How long until a task whose creation stayed unclear fails and is refunded',
    120,
  ),
  POLL_INTERVAL_SECONDS: seconds('First pause between polls of a task', 1),
  POLL_MAX_SECONDS: seconds(
    'Longest pause between polls, and so the longest delay until an end is noticed',
    8,
  ),
  LEASE_SECONDS: seconds('How long until another worker takes over the tasks of a dead one', 30),
  WORKER_CONCURRENCY: count('Tasks polled concurrently, at most three quarters of them on one channel', 256, {
    max: 10_000,
  }),
  WORKER_COPIES: count('Finished files copied concurrently', 32, { max: 10_000 }),
};

export const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(
    'Collector for traces and metrics (OTLP over HTTP as JSON), such as `http://127.0.0.1:4318`. Without it, nothing is traced or sent',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSecret(
    'Headers for the collector, such as `authorization=Bearer%20TOKEN`, separated by commas',
  ),
  OTEL_RESOURCE_ATTRIBUTES: optionalText(
    'Attributes of this installation in traces and metrics, such as `deployment.environment.name=production`, separated by commas',
  ),
  OTEL_TRACES_SAMPLER_ARG: form('The share of calls to record, from 0 to 1', {
    pattern: /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/,
    rule: 'must be a number from 0 to 1',
    fallback: '0.05',
  }),
  TRACE_CLIENTS_DECIDE: flag(
    'Also record every call whose `traceparent` is sampled. Anyone with a key can request that',
    false,
  ),
  TRACE_UPSTREAMS: flag(
    'Send `traceparent` to upstreams, which can then tell which calls belong together',
    false,
  ),
  OTEL_METRICS_EXPORTER: choice('`none` only sends traces', ['otlp', 'none'], 'otlp'),
  OTEL_METRIC_EXPORT_INTERVAL: count('Milliseconds between reports of metrics', 60_000, { min: 100 }),
};
