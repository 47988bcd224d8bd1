import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { atHorizon, RECORDING_APART } from '#ledger/postings/horizon.js';

/**
 * Recognised revenue by day and type. What was recorded on past days is summed once and never changes, because the ledger only
 * grows: late postings are in the sums of the day on which they were recorded. What was recorded since then is read from the
 * ledger.
 */

const REVENUE = `(SELECT array_agg(id) FROM ledger_accounts WHERE code LIKE 'revenue:%')`;

/** Entries of revenue accounts recorded from one time on and before another, by the day on which they count. */
const recorded = (from: string, to: string) => `
  WITH bounds AS MATERIALIZED (SELECT first_transaction_since(${REVENUE}, ${from} - ${RECORDING_APART}) AS first_id,
    first_transaction_since(${REVENUE}, ${to} + ${RECORDING_APART}) AS end_id)
  SELECT (t.effective_at AT TIME ZONE 'UTC')::date AS day, split_part(a.code, ':', 2) AS family, e.amount AS minor
  FROM bounds CROSS JOIN ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id
    JOIN ledger_transactions t ON t.id = e.transaction_id
  WHERE a.code LIKE 'revenue:%' AND e.transaction_id >= first_id AND e.transaction_id < end_id
    AND t.recorded_at >= ${from} AND t.recorded_at < ${to}`;

const startOf = (day: string) => `(${day})::timestamp AT TIME ZONE 'UTC'`;

const THROUGH = `(SELECT ${startOf('through')} FROM recognised_progress)`;

/** Facts `day, family, minor` of the days from $1 on and before $2. */
export const RECOGNISED_FACTS = `
  SELECT day, family, minor FROM recognised_days WHERE day >= $1::date AND day < $2::date
  UNION ALL
  SELECT day, family, minor FROM (${recorded(THROUGH, `'infinity'::timestamptz`)}) AS since
  WHERE day >= $1::date AND day < $2::date`;

/**
 * Sums the next final UTC day with recorded entries.
 * @returns whether there was one
 */
export async function sumUpRecognised(pool: pg.Pool): Promise<boolean> {
  if (!(await isBehind(pool, null))) return false;
  const horizon = await atHorizon(pool, (_, { at }) => Promise.resolve(at));
  return inTransaction(pool, async (client) => {
    // Its row is the lock for summing.
    await client.query('SELECT FROM recognised_progress FOR UPDATE');
    if (!(await isBehind(client, horizon))) return false;
    await client.query(
      `INSERT INTO recognised_days (recorded_on, day, family, minor)
       SELECT p.through, f.day, f.family, sum(f.minor) FROM recognised_progress p,
         LATERAL (${recorded(startOf('p.through'), startOf('p.through + 1'))}) AS f GROUP BY 1, 2, 3`,
    );
    await client.query('UPDATE recognised_progress SET through = through + 1');
    return true;
  });
}

async function isBehind(database: pg.Pool | pg.ClientBase, horizon: string | null): Promise<boolean> {
  const { rows } = await database.query<{ behind: boolean }>(
    `SELECT through < (least($1::timestamptz, clock_timestamp()) AT TIME ZONE 'UTC')::date AS behind FROM recognised_progress`,
    [horizon],
  );
  return rows[0]!.behind;
}
