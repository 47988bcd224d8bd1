import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type DataSourceOptions, type ValueTransformer } from 'typeorm';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import { measurePool } from './pool-metrics.js';
import { answerLimitMs, PooledClient, setAnswerLimit } from './pooled-client.js';

export interface PoolOptions {
  url: string;
  /** The most connections at once. */
  max: number;
  /** How long a query waits for a free or new connection. The default is 5 s. */
  connectTimeoutMs?: number | undefined;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Longer statements are cancelled. The default is 30 s; 0 means never. */
  statementTimeoutMs?: number;
  /** Refuses all writes. */
  readOnly?: boolean;
  /** Called when a connection is lost. The pool replaces it by itself. */
  log?: Pick<Logger, 'warn'>;
  /** The registry for its metrics. If omitted, there are none. */
  registry?: Registry;
}

/** A request to a database that does not answer should fail while its client still waits. */
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;

/** TCP keepalive checks whether the other end of an idle connection is still there. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** A program that hangs inside a transaction must not keep its locks. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000;

const INT8 = 20;
const INT8_ARRAY = 1016;
const TEXT_ARRAY = 1009;

type TextParser = (text: string) => unknown;

/** The standard parsers, typed for any oid. */
const standardParser = pg.types.getTypeParser as (oid: number, format: string) => TextParser;

/** int8 as bigint, for one pool. A global setting would affect every other library in the process. */
function parserOf(oid: number, format = 'text'): TextParser {
  if (format === 'text' && oid === INT8) return BigInt;
  if (format === 'text' && oid === INT8_ARRAY) return parseBigints;
  return standardParser(oid, format);
}

const bigintTypes = { getTypeParser: parserOf } as pg.CustomTypesConfig;

function parseBigints(text: string): (bigint | null)[] {
  const items = standardParser(TEXT_ARRAY, 'text')(text) as (string | null)[];
  return items.map((item) => (item === null ? null : BigInt(item)));
}

/**
 * A pool of connections for hand-written SQL. int8 arrives as bigint, numeric as a decimal string, timestamptz as Date.
 * A lost connection only fails the queries that ran on it. So does one whose server is silent for longer than a
 * statement may take. Queries passed to one client without waiting are sent at once and answered in order.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS;
  const answerLimit = answerLimitMs(statementTimeoutMs);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    ...driverOptions(statementTimeoutMs),
    ...(options.readOnly ? { options: '-c default_transaction_read_only=on' } : {}),
  });
  pool.on('acquire', (client) => setAnswerLimit(client, answerLimit));
  // Every connection reports this, even if it is checked out and idle between two queries. The pool repeats it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', (error) => reportLoss(pool, error, options.log)));
  if (options.registry) measurePool(options.registry, pool);
  return pool;
}

/**
 * Only the message, because the error contains the whole connection. A server that stops after its pools is not worth a
 * log line.
 */
function reportLoss(pool: pg.Pool, error: Error, log: PoolOptions['log']): void {
  if (pool.ending) return;
  log?.warn({ reason: error.message, code: codeOf(error) }, 'a database connection was lost');
}

/**
 * Sends the queries that `work` passes to a client in one piece, so that the server wakes once for all of them. The
 * driver's types do not know its stream.
 */
export function sendTogether<T>(client: pg.ClientBase, work: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  stream.cork();
  try {
    return work();
  } finally {
    stream.uncork();
  }
}

export interface TransactionOptions {
  /** How often a transaction with a deadlock or serialisation failure is repeated. The default is 5. */
  retries?: number;
  isolation?: 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';
}

const FIRST_RETRY_PAUSE_MS = 5;

/**
 * Runs `work` in a transaction and commits it. After deadlocks (40P01), serialisation failures (40001) and postings
 * that met the close of a period (LP001), `work` runs again from the start, so it must do nothing but its queries. If
 * the connection is lost during COMMIT, the outcome is unknown: the error is transient, and a repeat must run into
 * unique keys.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const isolation = options.isolation ?? 'READ COMMITTED';
  return withReruns(() => transactOnce(pool, work, isolation), options.retries);
}

/** Runs a transaction again as long as the database asks for that. */
export async function withReruns<T>(transact: () => Promise<T>, retries = 5): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await transact();
    } catch (error) {
      if (attempt >= retries || !isRerunnable(error)) throw error;
      await pause(FIRST_RETRY_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

async function transactOnce<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  isolation: string,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    const result = await work(client);
    await commit(client);
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** @throws Error if nothing was committed: the server answers COMMIT with ROLLBACK if a failed statement was ignored */
export async function commit(client: pg.ClientBase): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT')
    throw new Error('The transaction was rolled back: one of its statements had failed.');
}

/** A posting met the close of a period that began after the posting had checked. The next run sees the close. */
const PERIOD_CLOSED = 'LP001';

/** Whether the database itself asks to repeat the transaction. */
export function isRerunnable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40P01' || code === '40001' || code === PERIOD_CLOSED;
}

const transientSystemErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The Unix socket of a restarting server.
  'ENOENT',
]);

/**
 * Lost connections (08), rollbacks that the database asks to repeat (40001, 40P01), exhausted resources (53), an
 * operator's intervention such as a restart or a cancelled statement (57), system errors (58), a lock timeout (55P03),
 * and a standby that is not yet the primary (25006).
 */
const transientStates = /^(08...|40001|40P01|53...|57...|58...|55P03|25006)$/;

const transientMessages =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|server closed the connection/i;

/** Whether the same work may succeed later without any change, because the database is down, busy or restarting. */
export function isTransient(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { message, cause } = error as Partial<Error>;
  const code = codeOf(error);
  if (code !== undefined && (transientSystemErrors.has(code) || transientStates.test(code))) return true;
  return transientMessages.test(message ?? '') || isTransient(cause);
}

/** Whether a row exists already that has to be the only one, by this constraint if it is named. */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  const broken = (error as { constraint?: string } | null | undefined)?.constraint;
  return codeOf(error) === '23505' && (constraint === undefined || broken === constraint);
}

/** SQLSTATE, or the system's code of a failure. */
function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

export interface DataSourceSettings extends PoolOptions {
  entities: DataSourceOptions['entities'];
}

/**
 * Connects TypeORM for entities and simple reads and writes, with the limits of `openPool`. Only migrations change the
 * schema.
 */
export async function openDataSource(settings: DataSourceSettings): Promise<DataSource> {
  const statementTimeoutMs = settings.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS;
  const source = await new DataSource({
    type: 'postgres',
    url: settings.url,
    entities: settings.entities,
    synchronize: false,
    migrationsRun: false,
    installExtensions: false,
    logging: false,
    applicationName: settings.applicationName,
    poolSize: settings.max,
    connectTimeoutMS: settings.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    poolErrorHandler: (error: Error) => settings.log?.warn({ err: error }, 'a database connection was lost'),
    extra: { ...driverOptions(statementTimeoutMs), query_timeout: answerLimitMs(statementTimeoutMs) },
  }).initialize();
  const pool = poolUnder(source);
  pool.on('release', (_error, client) => endClosed(client));
  if (settings.registry) measurePool(settings.registry, pool);
  return source;
}

function driverOptions(statementTimeoutMs: number): pg.PoolConfig {
  return {
    ...KEEP_ALIVE,
    Client: PooledClient,
    types: bigintTypes,
    // Queries that are passed without waiting are sent at once.
    pipeline: true,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
}

/**
 * TypeORM returns a connection without its error. If the driver has just dropped it, it notices a moment later, and
 * could reach the next user before that.
 */
function endClosed(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: { stream: { writable: boolean } } };
  if (!connection.stream.writable) void client.end();
}

/** The driver's types do not say which pool it has. */
function poolUnder(source: DataSource): pg.Pool {
  return (source.driver as unknown as { master: pg.Pool }).master;
}

/** The database's time, which decides about money, in milliseconds since 1970. */
export async function databaseNowMs(database: Pick<pg.Pool | pg.ClientBase, 'query'>): Promise<number> {
  const { rows } = await database.query<{ nowMs: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"',
  );
  return rows[0]!.nowMs;
}

/** For int8 columns of entities: bigint in code, exact beyond 2^53. */
export const bigintTransformer: ValueTransformer = {
  to: (value: bigint | null | undefined) => value?.toString() ?? value,
  from: (value: string | bigint | null) => (value === null ? null : BigInt(value)),
};
