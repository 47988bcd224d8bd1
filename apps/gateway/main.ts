import { parseChaos } from '#bus/chaos.js';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { openPool } from '#database/database.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { ConfigReader } from '#platform/config.js';
import { startHealthServer } from '#platform/health.js';
import { createLogger } from '#platform/logging.js';
import { createRegistry } from '#platform/metrics.js';
import { type RunningProgram, runProgram } from '#platform/program.js';
import { openStorage, readStorageConfig } from '#storage/storage.config.js';
import { readGatewayConfig } from './gateway.config.js';
import { startGateway } from './gateway.program.js';

const HELP = `Gateway: the data plane at /v1 and /vendora/v1.

Usage: node dist/apps/gateway/main.js [--help]

Environment:
  DATABASE_URL                 login of the role tollgate_gateway; its password may be in DATABASE_PASSWORD
  KAFKA_BROKERS                brokers, host:port, separated by commas
  KAFKA_NAMESPACE              stands before every topic and group, for several installations on one broker
  STORAGE                      where finished files are, shared with the video workers: file (default) or s3
  STORAGE_DIR                  file: the folder
  S3_BUCKET                    s3: the bucket, in S3_REGION (us-east-1) of S3_ENDPOINT (Amazon's)
  S3_ACCESS_KEY_ID             s3: the key, with S3_SECRET_ACCESS_KEY
  S3_FORCE_PATH_STYLE          s3: name the bucket in the path (true with an endpoint)
  URL_SIGNING_SECRET           signs download addresses; the same for every gateway, 32 characters or more
  SECRETS_KEY                  opens the keys of channels: 32 bytes in base64, the same for every program
  CONSOLE_GRANT_SECRET         shared with the control plane, 32 characters or more: the console may call for people
  PUBLIC_BASE_URL              address that clients use, such as https://api.example.com; else taken from requests
  ALLOWED_HOSTS                hosts that requests may name, separated by commas; else any
  TRUST_PROXY                  believe X-Forwarded-* of one proxy (true) or of so many (false)
  HOST                         address to listen on (0.0.0.0)
  PORT                         data plane (8787)
  HEALTH_PORT                  /health/live, /health/ready, /metrics (9464)
  DATABASE_POOL                connections to the database at most (10)
  IMAGE_REQUEST_LIMIT_SECONDS  from an image request to the abort of its upstream call (120)
  STREAM_LIMIT_SECONDS         from a chat, response, message or speech request to the abort of its upstream call (600)
  STREAM_DRAIN_SECONDS         how long an answer is read on after its client left, to learn what it used (30)
  STREAM_DRAINS_PER_ACCOUNT    such answers of an account at once; others are stopped and billed by estimate (8)
  VIDEO_CREATE_LIMIT_SECONDS   how long an upstream may take to accept a video (20)
  IMAGE_URL_LIFE_SECONDS       life of image links (3600)
  PICTURE_URLS_MAY_BE_PRIVATE  fetch pictures named in requests from private hosts too (false)
  BODY_MEMORY_MEGABYTES        large bodies of all requests together, as received; beyond it a 503 (512)
  HOLD_EXPIRES_SECONDS         how late billing may see a charge (10)
  BUS_REQUEST_TIMEOUT_SECONDS  one wait for an answer of billing (5)
  IDEMPOTENCY_LIFE_SECONDS     how long the answer to an Idempotency-Key is kept (86400)
  IDEMPOTENCY_LEASE_SECONDS    silence after which a gateway counts as dead (10)
  REPORT_SECONDS               how often it says how it is, for the page of programs (5)
  SHUTDOWN_GRACE_SECONDS       how long requests in flight are waited for (30)
  LOG_LEVEL                    info

A secret may be in a file instead, which NAME_FILE names, such as DATABASE_PASSWORD_FILE.
SIGTERM and SIGINT finish what is in flight first. Exit codes: 0 stopped, 1 failed.
`;

/** Beyond the grace for requests: time to send what is left to say, then the stop is cut. */
const STOP_MARGIN_MS = 10_000;

function readConfig(env: NodeJS.ProcessEnv) {
  const reader = new ConfigReader(env);
  const port = (name: string, fallback: number) => reader.integer(name, { fallback, min: 0, max: 65_535 });
  return reader.finish({
    databaseUrl: reader.secretUrl('DATABASE_URL'),
    brokers: reader.string('KAFKA_BROKERS') ? reader.list('KAFKA_BROKERS') : [],
    namespace: reader.optionalString('KAFKA_NAMESPACE') ?? '',
    storage: readStorageConfig(reader),
    host: reader.string('HOST', '0.0.0.0'),
    port: port('PORT', 8787),
    healthPort: port('HEALTH_PORT', 9464),
    poolSize: reader.integer('DATABASE_POOL', { fallback: 10, min: 2, max: 500 }),
    gateway: readGatewayConfig(reader),
    chaos: parseChaos(reader.optionalString('BUS_CHAOS')),
  });
}

async function start(): Promise<RunningProgram> {
  const config = readConfig(process.env);
  const log = createLogger('gateway');
  const registry = createRegistry('gateway');
  const pool = openPool({ url: config.databaseUrl, max: config.poolSize, applicationName: 'gateway', log });
  const transport = new KafkaTransport({
    brokers: config.brokers,
    namespace: config.namespace,
    clientId: 'gateway',
    log,
    registry,
    onFatal: (error: Error) => {
      log.fatal({ err: error }, 'the connection to Kafka is lost for good');
      process.exit(1);
    },
  });
  const gateway = await startGateway({
    pool,
    transport,
    storage: openStorage(config.storage),
    config: config.gateway,
    log,
    registry,
    chaos: config.chaos,
    listen: { host: config.host, port: config.port },
  });
  const { host, healthPort } = config;
  const health = await startHealthServer({ host, port: healthPort, checks: gateway.checks, registry });
  log.info({ port: gateway.port }, 'the gateway runs');

  return {
    stopLimitMs: config.gateway.shutdownGraceMs + STOP_MARGIN_MS,
    stop: async () => {
      health.close();
      await gateway.close();
      await transport.close();
      await pool.end();
    },
  };
}

await runProgram({ help: HELP, start, sentenceFor: operatorSentence });
