import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { newId } from '#platform/ids.js';
import { type Person, sessionOf } from '../support/console.js';
import { until } from '../support/eventually.js';
import type { Children } from './children.js';
import { writeBooks } from './finance-bench.books.js';
import { UNTHROTTLED } from '../support/unthrottled.js';

/** A relay with a long usage log, and the person whose account has all of it. */
export interface ConsoleRelay {
  consoleUrl: string;
  owner: Pick<Person, 'headers'>;
}

const START_LIMIT_MS = 180_000;
/** How long the pages may wait for the daily sums to be written. */
const SUMS_LIMIT_MS = 600_000;
const DAYS = 28;
/** Entries per charge in the generator's books. */
const ENTRIES_PER_CHARGE = 4.06;
/** The only customer in the books, the one at place 0. */
const ACCOUNT_ID = `book${'0'.repeat(22)}`;
/** The service's loops would be busy with weeks that appear all at once, which no real relay has. */
const NO_LOOPS = Object.fromEntries(
  [
    'LEDGER_SNAPSHOT_SECONDS',
    'CHAIN_SEAL_SECONDS',
    'COST_ACCRUAL_SECONDS',
    'RECOGNITION_SECONDS',
    'RECONCILE_SECONDS',
  ].map((name) => [name, '86400']),
);

/** Starts a relay in a separate process, writes the log, and waits until the overview's sums include all of it. */
export async function startConsoleRelay(rows: number, children: Children): Promise<ConsoleRelay> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  children.whenGone(() => rm(dataDir, { recursive: true, force: true }));
  // Never use a database or broker that belongs to something else.
  const { DATABASE_URL: _database, KAFKA_BROKERS: _brokers, ...inherited } = process.env;
  const env = { ...inherited, ...NO_LOOPS, ...UNTHROTTLED, DATA_DIR: dataDir, PORT: '0', CONSOLE_PORT: '0' };
  const args = ['dist/apps/standalone/main.js', '--json'];
  const { ready } = await children.startUntilReady<{ consoleUrl: string }>(args, {
    env,
    limitMs: START_LIMIT_MS,
  });
  const url = readEmbeddedConnection(join(dataDir, 'database'))?.ownerUrl;
  if (!url) throw new Error('the relay runs, but its database was not found');
  const database = openPool({ url, max: 2, applicationName: 'bench', statementTimeoutMs: 0 });
  try {
    await writeBooks(database, { entries: rows * ENTRIES_PER_CHARGE, accounts: 1, days: DAYS });
    const userId = newId();
    await database.query(
      'INSERT INTO users (id, account_id, email, password_hash, roles) VALUES ($1, $2, $3, $4, $5)',
      [userId, ACCOUNT_ID, `${userId}@example.com`, 'none', ['user']],
    );
    const owner = { headers: await sessionOf(database, userId) };
    await sumsOf(database);
    return { consoleUrl: ready.consoleUrl, owner };
  } finally {
    await database.end();
  }
}

/** Starts the daily sums from the beginning, and resolves once they have reached the present. */
async function sumsOf(database: pg.Pool): Promise<void> {
  process.stderr.write('waiting for the sums of the overview\n');
  const { rows } = await database.query<{ now: string }>(
    `UPDATE usage_progress SET through = '-infinity' RETURNING now()::text AS now`,
  );
  await until(
    'the sums of the overview',
    async () => {
      const progress = 'SELECT FROM usage_progress WHERE through >= $1::timestamptz';
      return (await database.query(progress, [rows[0]!.now])).rowCount;
    },
    { limitMs: SUMS_LIMIT_MS },
  );
}
