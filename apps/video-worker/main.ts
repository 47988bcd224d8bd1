import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { openPool } from '#database/database.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { ConfigReader } from '#platform/config.js';
import { startHealthServer } from '#platform/health.js';
import { createLogger } from '#platform/logging.js';
import { createRegistry } from '#platform/metrics.js';
import { type RunningProgram, runProgram } from '#platform/program.js';
import { openStorage, readStorageConfig } from '#storage/storage.config.js';
import { readVideoWorkerConfig } from './video-worker.config.js';
import { startVideoWorker } from './video-worker.program.js';

const HELP = `The video worker: follows videos upstream, stores their files, announces their ends.

Usage: node dist/apps/video-worker/main.js [--help]

Environment:
  DATABASE_URL               login of the role tollgate_worker; its password may be in DATABASE_PASSWORD
  SECRETS_KEY                opens the keys of channels: 32 bytes in base64, the same for every program
  KAFKA_BROKERS              brokers, host:port, separated by commas
  KAFKA_NAMESPACE            stands before every topic and group, for several installations on one broker
  STORAGE                    where finished files are, shared with the gateways: file (default) or s3
  STORAGE_DIR                file: the folder
  S3_BUCKET                  s3: the bucket, in S3_REGION (us-east-1) of S3_ENDPOINT (Amazon's)
  S3_ACCESS_KEY_ID           s3: the key, with S3_SECRET_ACCESS_KEY
  S3_FORCE_PATH_STYLE        s3: name the bucket in the path (true with an endpoint)
  HOST                       address to listen on (0.0.0.0)
  HEALTH_PORT                /health/live, /health/ready, /metrics (9465)
  DATABASE_POOL              connections to the database at most (10)
  WORKER_CONCURRENCY         videos asked about at the same time (256)
  WORKER_COPIES              finished files copied at the same time (32)
  POLL_INTERVAL_SECONDS      between the first polls of a video (1), growing to
  POLL_MAX_SECONDS           at most (8), which bounds how late an end is noticed
  CHANNEL_FAILURES_TO_OPEN   failed calls in a row, of several accounts or also of ours, after which a channel is left alone (5)
  CHANNEL_OPEN_SECONDS       so long, before one task tries it (10)
  LEASE_SECONDS              after which a dead worker's videos go to another (30)
  SWEEP_INTERVAL_SECONDS     pause between sweeps (5)
  STUCK_AFTER_SECONDS        when a video that was not submitted counts as stuck (30)
  FILE_COPY_ATTEMPTS         tries to copy a finished file (8)
  FILE_COPY_BACKOFF_SECONDS  pause before the second try (1), doubling
  VIDEO_FILE_LIFE_SECONDS    how long a video or 3D asset may be downloaded (1500)
  IMAGE_URL_LIFE_SECONDS     how long an image may be downloaded (3600)
  IDEMPOTENCY_LIFE_SECONDS   how long the answer to an Idempotency-Key is kept (86400)
  REPORT_SECONDS             how often it says how it is, for the page of programs (5)
  CATALOG_LIFE_SECONDS       how long the catalog is cached (30)
  OUTBOX_POLL_SECONDS        net under the outbox relay (0.25)
  LOG_LEVEL                  info

A secret may be in a file instead, which NAME_FILE names, such as DATABASE_PASSWORD_FILE.
SIGTERM and SIGINT give back what is under way first. Exit codes: 0 stopped, 1 failed.
`;

/** A stop that takes longer is cut: leases run out, and another worker carries on. */
const STOP_LIMIT_MS = 30_000;

function readConfig(env: NodeJS.ProcessEnv) {
  const reader = new ConfigReader(env);
  return reader.finish({
    databaseUrl: reader.secretUrl('DATABASE_URL'),
    brokers: reader.string('KAFKA_BROKERS') ? reader.list('KAFKA_BROKERS') : [],
    namespace: reader.optionalString('KAFKA_NAMESPACE') ?? '',
    storage: readStorageConfig(reader),
    host: reader.string('HOST', '0.0.0.0'),
    healthPort: reader.integer('HEALTH_PORT', { fallback: 9465, min: 0, max: 65_535 }),
    poolSize: reader.integer('DATABASE_POOL', { fallback: 10, min: 2, max: 500 }),
    worker: readVideoWorkerConfig(reader),
  });
}

async function start(): Promise<RunningProgram> {
  const config = readConfig(process.env);
  const log = createLogger('video-worker');
  const registry = createRegistry('video-worker');
  const { databaseUrl: url, poolSize: max, host } = config;
  const storage = openStorage(config.storage);
  const pool = openPool({ url, max, applicationName: 'video-worker', log });
  const onFatal = (error: Error) => {
    log.fatal({ err: error }, 'the connection to Kafka is lost for good');
    process.exit(1);
  };
  const transport = new KafkaTransport({
    brokers: config.brokers,
    namespace: config.namespace,
    clientId: 'video-worker',
    log,
    registry,
    onFatal,
  });
  const worker = await startVideoWorker({
    pool,
    transport,
    storage,
    config: config.worker,
    log,
    registry,
  });
  const health = await startHealthServer({ host, port: config.healthPort, checks: worker.checks, registry });
  log.info({ storage: storage.place }, 'the video worker runs');

  return {
    stopLimitMs: STOP_LIMIT_MS,
    stop: async () => {
      health.close();
      await worker.close();
      await transport.close();
      await pool.end();
    },
  };
}

await runProgram({ help: HELP, start, sentenceFor: operatorSentence });
