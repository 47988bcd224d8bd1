import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { markHorizon, readHorizon } from './horizon.js';

/** One builder at a time; any number that nobody else locks by in this database. */
const BUILD_LOCK = '7012004832';

/**
 * Stores the balances at the start of the next day of UTC that has none yet and is before the horizon, so that balances as of
 * later times need only what was recorded since. Nothing recorded before such a day can appear any more, so a snapshot never
 * becomes wrong, and dropping it changes no answer.
 * @returns the day, such as 2026-01-31, or null when all are there
 */
export async function buildNextSnapshot(pool: pg.Pool): Promise<string | null> {
  if (!(await isDue(pool))) return null;
  await markHorizon(pool);
  return inTransaction(
    pool,
    async (client) => {
      await client.query(`SET LOCAL timezone = 'UTC'`);
      await client.query(`SET LOCAL statement_timeout = '10min'`);
      const { rows: locks } = await client.query<{ mine: boolean }>(
        `SELECT pg_try_advisory_xact_lock(${BUILD_LOCK}) AS mine`,
      );
      return locks[0]?.mine ? buildOne(client) : null;
    },
    { isolation: 'REPEATABLE READ' },
  );
}

/** Whether a day may have ended without a snapshot; cheap, so that it can be asked often. */
async function isDue(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>(
    `SELECT coalesce((SELECT max(day) FROM ledger_snapshot_days) < (clock_timestamp() AT TIME ZONE 'UTC')::date,
       EXISTS (SELECT FROM ledger_transactions)) AS due`,
  );
  return rows[0]?.due ?? false;
}

/** Stores every snapshot that is missing. @returns how many */
export async function buildSnapshots(pool: pg.Pool): Promise<number> {
  let count = 0;
  while ((await buildNextSnapshot(pool)) !== null) count += 1;
  return count;
}

/** Drops the snapshots from a day on, or all of them; they are built again as they are needed. */
export async function dropSnapshots(pool: pg.Pool, from = '-infinity'): Promise<void> {
  await pool.query('DELETE FROM ledger_snapshot_days WHERE day >= $1::date', [from]);
}

async function buildOne(client: pg.ClientBase): Promise<string | null> {
  const horizon = await readHorizon(client);
  const { rows } = await client.query<{ day: string | null }>(
    `SELECT day::text FROM (
       SELECT coalesce((SELECT max(day) FROM ledger_snapshot_days),
         (SELECT min(recorded_at)::date FROM ledger_transactions)) + 1 AS day) AS next
     WHERE day <= $1::timestamptz`,
    [horizon.at],
  );
  const day = rows[0]?.day ?? null;
  if (day !== null) {
    await insertDay(client, day, horizon.lastLedgerId);
    await insertBalances(client, day);
  }
  return day;
}

/** The bounds of ids: what the snapshot sees on either side of the day, and what it does not see yet. */
async function insertDay(client: pg.ClientBase, day: string, lastLedgerId: bigint): Promise<void> {
  await client.query(
    `INSERT INTO ledger_snapshot_days (day, previous, last_id, first_id)
     SELECT $1::date, (SELECT max(day) FROM ledger_snapshot_days),
       greatest((SELECT max(last_id) FROM ledger_snapshot_days),
         (SELECT max(id) FROM ledger_transactions WHERE recorded_at < $1::date AND recorded_at >= $1::date - 1), 0),
       least((SELECT min(id) FROM ledger_transactions WHERE recorded_at >= $1::date), $2::bigint)`,
    [day, lastLedgerId],
  );
}

/** The day before is the latest that has balances, so only what was recorded on it moves them. */
async function insertBalances(client: pg.ClientBase, day: string): Promise<void> {
  await client.query(
    `INSERT INTO ledger_balance_snapshots (ledger_account_id, day, balance)
     SELECT moved.ledger_account_id, $1::date, moved.amount + coalesce((
         SELECT s.balance FROM ledger_balance_snapshots s WHERE s.ledger_account_id = moved.ledger_account_id
         ORDER BY s.day DESC LIMIT 1), 0)
     FROM (SELECT e.ledger_account_id, sum(e.amount) AS amount
       FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
       WHERE t.recorded_at >= $1::date - 1 AND t.recorded_at < $1::date GROUP BY 1) AS moved`,
    [day],
  );
}
