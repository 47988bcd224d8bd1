import { parseChaos } from '#bus/chaos.js';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { openPool } from '#database/database.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { ConfigReader } from '#platform/config.js';
import { startHealthServer } from '#platform/health.js';
import { createLogger } from '#platform/logging.js';
import { createRegistry } from '#platform/metrics.js';
import { portFault, type RunningProgram, runProgram } from '#platform/program.js';
import { readBillingConfig } from './billing.config.js';
import { startBilling } from './billing.program.js';

const HELP = `Billing: answers charges on the bus, and sweeps what nobody ended.

Usage: node dist/apps/billing/main.js [--help]

Environment:
  DATABASE_URL            login of the role tollgate_billing; its password may be in DATABASE_PASSWORD
  KAFKA_BROKERS           brokers, host:port, separated by commas
  KAFKA_NAMESPACE         stands before every topic and group, for several installations on one broker
  HOST                    address to listen on (0.0.0.0)
  HEALTH_PORT             /health/live, /health/ready, /metrics (9464)
  DATABASE_POOL           connections to the database at most (10)
  CHARGE_GRACE_SECONDS    how long past its deadline a charge may still be resolved (30)
  SWEEP_INTERVAL_SECONDS  pause between sweeps (5)
  OUTBOX_POLL_SECONDS     net under the outbox relay (0.25)
  KEY_USE_SECONDS         how often the last use of keys is recorded (60)
  REPORT_SECONDS          how often it reports how it is (5)
  LOG_LEVEL               info

A secret may be in a file instead, which NAME_FILE names, such as DATABASE_PASSWORD_FILE.
SIGTERM and SIGINT finish what is under way first. Exit codes: 0 stopped, 1 failed.
`;

/** A stop that takes longer is cut: whatever was not committed is consumed again by the next start. */
const STOP_LIMIT_MS = 30_000;

function readConfig(env: NodeJS.ProcessEnv) {
  const reader = new ConfigReader(env);
  const port = (name: string, fallback: number) => reader.integer(name, { fallback, min: 0, max: 65_535 });
  return reader.finish({
    databaseUrl: reader.secretUrl('DATABASE_URL'),
    brokers: reader.string('KAFKA_BROKERS', undefined) ? reader.list('KAFKA_BROKERS') : [],
    namespace: reader.optionalString('KAFKA_NAMESPACE') ?? '',
    host: reader.string('HOST', '0.0.0.0'),
    healthPort: port('HEALTH_PORT', 9464),
    poolSize: reader.integer('DATABASE_POOL', { fallback: 10, min: 2, max: 500 }),
    billing: readBillingConfig(reader),
    chaos: parseChaos(reader.optionalString('BUS_CHAOS')),
  });
}

async function start(): Promise<RunningProgram> {
  const config = readConfig(process.env);
  const log = createLogger('billing');
  const registry = createRegistry('billing');
  const { databaseUrl: url, poolSize: max, host } = config;
  const pool = openPool({ url, max, applicationName: 'billing', log });
  const onFatal = (error: Error) => {
    log.fatal({ err: error }, 'the connection to Kafka is lost for good');
    process.exit(1);
  };
  const transport = new KafkaTransport({
    brokers: config.brokers,
    namespace: config.namespace,
    clientId: 'billing',
    log,
    registry,
    onFatal,
  });
  const billing = await startBilling({
    pool,
    transport,
    config: config.billing,
    log,
    registry,
    chaos: config.chaos,
  });
  const port = config.healthPort;
  const health = await startHealthServer({ host, port, checks: billing.checks, registry }).catch((error) => {
    throw portFault(error, 'HEALTH_PORT', { host, port });
  });
  log.info('billing is ready');

  return {
    stopLimitMs: STOP_LIMIT_MS,
    stop: async () => {
      health.close();
      await billing.close();
      await transport.close();
      await pool.end();
    },
  };
}

await runProgram({ help: HELP, start, sentenceFor: operatorSentence });
