import { afterAll, beforeAll, expect, it } from 'vitest';
import pg from 'pg';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { buildNextSnapshot } from './balance-snapshots.js';

const ACCOUNTS = 50;

let ledger: LedgerFixture;
let pool: pg.Pool;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  pool = new pg.Pool({ connectionString: ledger.urlFor('billing'), max: 1 });
});
afterAll(async () => {
  await pool?.end();
  await ledger?.close();
});

it('are found by their index, even if their table was seen empty', async () => {
  await ledger.owner.query(
    `WITH opened AS (
       INSERT INTO ledger_accounts (code, commodity, kind) SELECT 'suspense:crd:' || n, 'CRD', 'clearing'
       FROM generate_series(1, $1::int) AS n RETURNING id),
     moved AS (
       INSERT INTO ledger_transactions (id, kind, reference, effective_at, recorded_at)
       SELECT id, 'adjustment', 'test:' || id, now() - interval '2 days', now() - interval '2 days' FROM opened RETURNING id)
     INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount)
     SELECT m.id, side.ordinal, 'CRD', m.id - side.ordinal, side.amount FROM moved m,
       (VALUES (0, 1), (1, -1)) AS side (ordinal, amount)`,
    [ACCOUNTS],
  );
  // An empty table that was looked at has no pages, so that reading all of it seems to cost nothing.
  await ledger.owner.query('VACUUM ANALYZE ledger_balance_snapshots');
  // The horizon waits for the transactions of other specs.
  await until('a day to be stored', () => buildNextSnapshot(pool));
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await ledger.owner.query<{ stored: number; scans: number }>(
    `SELECT (SELECT count(*)::int FROM ledger_balance_snapshots) AS stored, seq_scan::int AS scans
     FROM pg_stat_user_tables WHERE relname = 'ledger_balance_snapshots'`,
  );
  expect(rows[0]!.stored).toBeGreaterThanOrEqual(ACCOUNTS);
  expect(rows[0]!.scans).toBeLessThan(ACCOUNTS);
});
