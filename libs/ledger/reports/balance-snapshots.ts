import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { tryLock } from '#database/locks.js';
import { limitStatements } from '#database/pooled-client.js';
import { type Horizon, markHorizon, readHorizon } from '../postings/horizon.js';

/**
 * Stores the bounds of past hours, and the balances at the start of the next UTC day that has none yet and is before the horizon,
 * so that later balances need only what was recorded since. Nothing recorded before such a day can appear any more, so a snapshot
 * never becomes wrong, and dropping it changes no answer.
 * @returns the day, such as 2026-01-31, or null when all are there
 */
export async function buildNextSnapshot(pool: pg.Pool): Promise<string | null> {
  if (!(await isDue(pool))) return null;
  await markHorizon(pool);
  return inTransaction(
    pool,
    async (client) => {
      await client.query(`SET LOCAL timezone = 'UTC'`);
      await limitStatements(client, 10 * 60_000);
      // One builder at a time.
      return (await tryLock(client, 'balanceSnapshots')) ? buildOne(client) : null;
    },
    { isolation: 'REPEATABLE READ' },
  );
}

/** Whether a day may have ended without a snapshot; cheap, so that it can be asked often. */
async function isDue(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>(
    `SELECT coalesce((SELECT max(day) FROM ledger_snapshot_days) < (clock_timestamp() AT TIME ZONE 'UTC')::date
         OR (SELECT max(at) FROM ledger_hours) < date_trunc('hour', clock_timestamp()),
       EXISTS (SELECT FROM ledger_transactions)) AS due`,
  );
  return rows[0]?.due ?? false;
}

async function buildOne(client: pg.ClientBase): Promise<string | null> {
  const horizon = await readHorizon(client);
  await buildHours(client, horizon);
  const { rows } = await client.query<{ day: string | null }>(
    `SELECT day::text FROM (
       SELECT coalesce((SELECT max(day) FROM ledger_snapshot_days),
         (SELECT min(recorded_at)::date FROM ledger_transactions)) + 1 AS day) AS next
     WHERE day <= $1::timestamptz`,
    [horizon.at],
  );
  const day = rows[0]?.day ?? null;
  if (day !== null) {
    await insertDay(client, day);
    await insertBalances(client, day);
  }
  return day;
}

const ADD_HOURS = `WITH moved AS (
    SELECT date_trunc('hour', recorded_at) + interval '1 hour' AS at, min(id) AS first, max(id) AS last
    FROM ledger_transactions WHERE recorded_at >= $1::timestamptz AND recorded_at < $2::timestamptz GROUP BY 1),
  later AS (
    SELECT least(min(id + 0), $3::bigint) AS first FROM ledger_transactions WHERE recorded_at >= $2::timestamptz)
  INSERT INTO ledger_hours (at, last_id, first_id)
  SELECT hour.at,
    greatest((SELECT max(last_id) FROM ledger_hours), max(moved.last) OVER (ORDER BY hour.at), 0),
    least((SELECT first FROM later), min(moved.first) OVER (ORDER BY hour.at DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
  FROM generate_series($1::timestamptz + interval '1 hour', $2::timestamptz, interval '1 hour') AS hour (at)
  LEFT JOIN moved USING (at)`;

/** Stores every full hour before the horizon, in one pass over what was recorded since the last one. */
async function buildHours(client: pg.ClientBase, horizon: Horizon): Promise<void> {
  const { rows } = await client.query<{ from: string; to: string }>(
    `SELECT "from"::text, "to"::text FROM (
       SELECT coalesce((SELECT max(at) FROM ledger_hours), (SELECT date_trunc('hour', min(recorded_at)) FROM ledger_transactions))
           AS "from", date_trunc('hour', $1::timestamptz) AS "to") AS hours
     WHERE "from" < "to"`,
    [horizon.at],
  );
  const range = rows[0];
  if (!range) return;
  // What is recorded later is seen by now, or has no smaller id than the horizon's.
  await client.query(ADD_HOURS, [range.from, range.to, horizon.lastLedgerId]);
  await client.query(
    `INSERT INTO ledger_hour_movements (ledger_account_id, at, amount)
     SELECT e.ledger_account_id, date_trunc('hour', t.recorded_at) + interval '1 hour', sum(e.amount)
     FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id JOIN ledger_transactions t ON t.id = e.transaction_id
     WHERE a.account_id IS NULL AND t.recorded_at >= $1::timestamptz AND t.recorded_at < $2::timestamptz GROUP BY 1, 2`,
    [range.from, range.to],
  );
}

/** The bounds of ids are those of its first hour. */
async function insertDay(client: pg.ClientBase, day: string): Promise<void> {
  await client.query(
    `INSERT INTO ledger_snapshot_days (day, previous, last_id, first_id)
     SELECT $1::date, (SELECT max(day) FROM ledger_snapshot_days), last_id, first_id FROM ledger_hours
     WHERE at = $1::date::timestamptz`,
    [day],
  );
}

/**
 * The day before is the latest that has balances, so only what was recorded on it moves them. The balance before is found by
 * rows of account and day, without reading tables: what the planner knows of this table is often old, and reading all
 * accounts for each account, by the index of days or without one, would never end.
 */
async function insertBalances(client: pg.ClientBase, day: string): Promise<void> {
  await client.query('SET LOCAL enable_seqscan = off');
  await client.query(
    `INSERT INTO ledger_balance_snapshots (ledger_account_id, day, balance)
     SELECT moved.ledger_account_id, $1::date, moved.amount + coalesce((
         SELECT s.balance FROM ledger_balance_snapshots s
         WHERE (s.ledger_account_id, s.day) < (moved.ledger_account_id, $1::date)
           AND (s.ledger_account_id, s.day) >= (moved.ledger_account_id, '-infinity')
         ORDER BY s.ledger_account_id DESC, s.day DESC LIMIT 1), 0)
     FROM (SELECT e.ledger_account_id, sum(e.amount) AS amount
       FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
       WHERE t.recorded_at >= $1::date - 1 AND t.recorded_at < $1::date GROUP BY 1) AS moved`,
    [day],
  );
}
