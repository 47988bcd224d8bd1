import type pg from 'pg';
import type { EmbeddedPostgres } from '#database/embedded-postgres.js';
import { runControls } from '#finance/control-run.js';
import { controls } from '#finance/controls.js';
import { revenueReport } from '#finance/reports/revenue.js';
import { openAdminPool } from './checkpoint.js';
import { post } from './finance-bench.posting.js';
import { type Ledger, openLedger } from './ledger.bench.js';
import type { BenchAccount } from './ledger-bench.accounts.js';

/** A ledger of one size, with its customers. */
export interface Stage {
  readonly ledger: Ledger;
  readonly customers: BenchAccount[];
  readonly admin: pg.Pool;
}

/** One measurement of a stage. */
export interface Sample {
  /** Holds and settlements, over all customers. */
  postingsPerSecond: number;
  /** Bytes of log. A page is written whole when it is first touched after a checkpoint. */
  logPerPosting: number;
  vacuumMsPerThousand: number;
  monthReportMs: number;
  recentChecksMs: number;
}

const DAY_MS = 86_400_000;
const MONTH_DAYS = 30;
const HOUR_MS = 3_600_000;
const GRACE_MS = 60_000;
const LIMIT_MS = 600_000;
/** The tables that postings write to. */
const TABLES = 'ledger_entries, ledger_transactions, charges, customer_balances, key_spend';

export async function openStage(server: EmbeddedPostgres, database: string): Promise<Stage> {
  const ledger = await openLedger(server, database, 0);
  const { rows: customers } = await ledger.billing.query<BenchAccount>(
    `SELECT account_id AS "accountId", id AS "keyId" FROM api_keys WHERE account_id LIKE 'book%' ORDER BY id`,
  );
  return { ledger, customers, admin: openAdminPool(server, database) };
}

export async function closeStage({ ledger, admin }: Stage): Promise<void> {
  await ledger.close();
  await admin.end();
}

export async function measureStage(stage: Stage, seconds: number): Promise<Sample> {
  const { ledger, customers, admin } = stage;
  const logBefore = await logPosition(admin);
  const postingsPerSecond = await post({ engine: ledger.engine, accounts: customers }, seconds * 1000);
  const logBytes = (await logPosition(admin)) - logBefore;
  const vacuumMs = await timeOf(() => admin.query(`VACUUM ${TABLES}`));
  const postings = postingsPerSecond * seconds;
  return {
    postingsPerSecond,
    logPerPosting: logBytes / postings,
    vacuumMsPerThousand: (vacuumMs * 1000) / postings,
    monthReportMs: await timeOf(() => reportOfMonth(admin)),
    recentChecksMs: await timeOf(() => checkRecent(admin)),
  };
}

/** Bytes of log since the server was created. */
async function logPosition(admin: pg.Pool): Promise<number> {
  const { rows } = await admin.query<{ bytes: number }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`,
  );
  return rows[0]!.bytes;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** The last month from the charges themselves, with no day summed up. */
async function reportOfMonth(pool: pg.Pool): Promise<void> {
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  await revenueReport(pool, { from: day(MONTH_DAYS), to: day(0), by: ['model'], limit: 100 });
}

/** What the reconciler checks between two full checks. */
async function checkRecent(pool: pg.Pool): Promise<void> {
  const windowed = controls.filter(({ window }) => window === true);
  const hourAgo = new Date(Date.now() - HOUR_MS).toISOString();
  const since = new Map(windowed.map(({ id }) => [id, hourAgo]));
  const { outcomes } = await runControls(pool, {
    controls: windowed,
    graceMs: GRACE_MS,
    limitMs: LIMIT_MS,
    since,
  });
  const failed = outcomes.find(({ error }) => error !== null);
  if (failed) throw new Error(`control ${failed.control.id}: ${failed.error}`);
}
