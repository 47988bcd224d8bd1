import type pg from 'pg';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { openPool } from '#database/database.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { ConfigReader } from '#platform/config.js';
import { type HealthServerOptions, type ReadinessChecks, startHealthServer } from '#platform/health.js';
import { createLogger, type Logger } from '#platform/logging.js';
import { createRegistry, type Registry } from '#platform/metrics.js';
import { portFault, type RunningProgram, runProgram } from '#platform/program.js';
import { helpOf } from '#platform/settings/help.js';
import { readTelemetry } from '#platform/telemetry/telemetry.config.js';
import { startTelemetry } from '#platform/telemetry/telemetry.js';
import { untilSchema } from './schema-wait.js';

/** It is alive but not ready, so that nobody restarts it because its database is down. */
const STARTING: ReadinessChecks = {
  start: () => Promise.reject(new Error('it waits for its database, or is about to begin')),
};

interface Surroundings {
  pool: pg.Pool;
  databaseUrl: string;
  transport: KafkaTransport;
  log: Logger;
  registry: Registry;
  host: string;
}

export interface DistributedProgram<Own> {
  name: 'gateway' | 'billing' | 'control-plane' | 'video-worker';
  /** Its purpose, in one line. */
  about: string;
  /** Reads the program's own settings, in addition to those of all programs. */
  read: (reader: ConfigReader) => Own;
  start(own: Own, surroundings: Surroundings): Promise<{ checks: ReadinessChecks; close(): Promise<void> }>;
  /** A longer stop is cut off. What was not committed is consumed again by the next start. */
  stopLimitMs(own: Own): number;
}

export function readShared(reader: ConfigReader) {
  return {
    databaseUrl: reader.get('DATABASE_URL'),
    pool: {
      max: reader.get('DATABASE_POOL'),
      connectTimeoutMs: reader.get('DATABASE_CONNECT_SECONDS'),
    },
    brokers: reader.get('KAFKA_BROKERS'),
    namespace: reader.get('KAFKA_NAMESPACE') ?? '',
    host: reader.get('HOST'),
    healthPort: reader.get('HEALTH_PORT'),
    logLevel: reader.get('LOG_LEVEL'),
    telemetry: readTelemetry(reader),
  };
}

/** Runs a program of the distributed mode as a process: with its database, bus, health and metrics. */
export function runDistributed<Own>(program: DistributedProgram<Own>): Promise<void> {
  const { name, about, read } = program;
  const all = (reader: ConfigReader) => ({ shared: readShared(reader), own: read(reader) });
  return runProgram({
    help: helpOf({ about, usage: `node dist/apps/${name}/main.js [--help]`, read: all }),
    sentenceFor: startSentence,
    start: async () => {
      const reader = new ConfigReader(process.env);
      return start(program, reader.finish(all(reader)));
    },
  });
}

/** Why a program did not start. Kafka's errors only name the socket, which could be the database's as well. */
export function startSentence(error: unknown): string | undefined {
  const { name, message } = error as Error;
  return name.startsWith('KafkaJS') ? `Kafka cannot be reached: ${message}.` : operatorSentence(error);
}

async function start<Own>(
  program: DistributedProgram<Own>,
  { shared, own }: { shared: ReturnType<typeof readShared>; own: Own },
): Promise<RunningProgram> {
  const { name } = program;
  const { databaseUrl, brokers, namespace, host, healthPort: port } = shared;
  const log = createLogger(name, shared.logLevel);
  const registry = createRegistry(name);
  const telemetry = await startTelemetry(shared.telemetry, { program: name, registry, log });
  const pool = openPool({ ...shared.pool, url: databaseUrl, applicationName: name, log, registry });
  const health: HealthServerOptions = { host, port, checks: STARTING, registry };
  const server = await startHealthServer(health).catch((error) => {
    throw portFault(error, 'HEALTH_PORT', { host, port });
  });
  await untilSchema(pool, { log });
  const onFatal = (error: Error) => {
    log.fatal({ err: error }, 'the connection to Kafka is lost permanently');
    process.exit(1);
  };
  const transport = new KafkaTransport({ brokers, namespace, clientId: name, log, registry, onFatal });
  const running = await program.start(own, { pool, databaseUrl, transport, log, registry, host });
  health.checks = running.checks;
  log.info(`${name} is ready`);
  return {
    stopLimitMs: program.stopLimitMs(own),
    stop: async () => {
      server.close();
      await running.close();
      await transport.close();
      await pool.end();
      await telemetry.stop();
    },
  };
}
