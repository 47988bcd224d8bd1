import type pg from 'pg';

/** As SQL: beyond every id. */
const LARGEST = (2n ** 62n).toString();

const BALANCE_BEFORE = `WITH base AS MATERIALIZED (
    SELECT coalesce(max(day)::timestamptz, '-infinity') AS at, coalesce(max(first_id), 0) AS first_id,
      coalesce(max(last_id), ${LARGEST}) AS last_id FROM ledger_snapshot_days WHERE day <= $2::timestamptz),
  hour AS MATERIALIZED (
    SELECT h.at, h.first_id, h.last_id FROM ledger_hours h
    WHERE h.at >= (SELECT at FROM base) AND h.at <= $2::timestamptz ORDER BY h.at DESC LIMIT 1),
  start AS MATERIALIZED (
    SELECT * FROM hour WHERE (SELECT account_id IS NULL FROM ledger_accounts WHERE id = $1)
    UNION ALL SELECT * FROM base LIMIT 1),
  ids AS MATERIALIZED (
    SELECT start.at, start.first_id AS first, start.last_id AS in_between,
      greatest(start.last_id + 1, coalesce((SELECT first_id FROM hour), start.first_id)) AS last,
      coalesce((SELECT last_id FROM ledger_hours WHERE at >= $2::timestamptz ORDER BY at LIMIT 1), ${LARGEST}) AS bound
    FROM start),
  stored AS (
    SELECT balance FROM ledger_balance_snapshots WHERE ledger_account_id = $1 AND day <= (SELECT at FROM base)
    ORDER BY day DESC LIMIT 1),
  hours AS (
    SELECT sum(amount) AS amount FROM ledger_hour_movements
    WHERE ledger_account_id = $1 AND at > (SELECT at FROM base) AND at <= (SELECT at FROM ids)),
  within AS (
    SELECT sum(amount) AS amount FROM ledger_entries
    WHERE ledger_account_id = $1 AND transaction_id > (SELECT in_between FROM ids) AND transaction_id < (SELECT last FROM ids)),
  ends AS (
    SELECT sum(e.amount) AS amount FROM (
        SELECT transaction_id, amount FROM ledger_entries WHERE ledger_account_id = $1
          AND transaction_id >= (SELECT first FROM ids) AND transaction_id <= (SELECT least(in_between, bound) FROM ids)
        UNION ALL SELECT transaction_id, amount FROM ledger_entries WHERE ledger_account_id = $1
          AND transaction_id >= (SELECT last FROM ids) AND transaction_id <= (SELECT bound FROM ids)) AS e
    JOIN ledger_transactions t ON t.id = e.transaction_id
    WHERE t.recorded_at >= (SELECT at FROM ids) AND t.recorded_at < $2::timestamptz)
  SELECT (coalesce((SELECT balance FROM stored), 0) + coalesce((SELECT amount FROM hours), 0)
    + coalesce((SELECT amount FROM within), 0) + coalesce((SELECT amount FROM ends), 0))::text AS balance`;

/**
 * The balance of one ledger account from everything recorded before a time: from the newest stored day before it, the
 * hours since (for an account of the house), and its entries since. Ids and times can only be out of order at the ends
 * of that range, so only there are the times of entries read.
 */
export async function balanceBefore(
  client: pg.ClientBase,
  ledgerAccountId: bigint,
  before: string,
): Promise<bigint> {
  const { rows } = await client.query<{ balance: string }>(BALANCE_BEFORE, [ledgerAccountId, before]);
  return BigInt(rows[0]?.balance ?? 0);
}

/** Postings effective before the one time, as known before the other. Times are text, as PostgreSQL reads them. */
export interface EffectiveCut {
  effectiveBefore: string;
  recordedBefore: string;
}

/**
 * The balance of one ledger account by effective time: what was recorded before the earlier of both times, which is
 * stored for days and hours, plus what came late, and without what was recorded too early. Both are few, and are found
 * by the ranges of both times.
 */
export async function effectiveBalanceBefore(
  client: pg.ClientBase,
  ledgerAccountId: bigint,
  { effectiveBefore, recordedBefore }: EffectiveCut,
): Promise<bigint> {
  const { rows: times } = await client.query<{ at: string }>(
    'SELECT least($1::timestamptz, $2::timestamptz)::text AS at',
    [effectiveBefore, recordedBefore],
  );
  const { at } = times[0] as { at: string };
  const { rows } = await client.query<{ amount: string }>(
    `WITH moved AS MATERIALIZED (
       SELECT id, 1 AS sign FROM ledger_transactions
       WHERE recorded_at >= $2::timestamptz AND recorded_at < $4::timestamptz AND effective_at < $3::timestamptz
       UNION ALL SELECT id, -1 FROM ledger_transactions
       WHERE recorded_at < $2::timestamptz AND effective_at >= $3::timestamptz)
     SELECT coalesce(sum(m.sign * own.amount), 0)::text AS amount FROM moved m CROSS JOIN LATERAL (
       SELECT sum(e.amount) AS amount FROM ledger_entries e
       WHERE e.transaction_id = m.id AND e.ledger_account_id = $1 OFFSET 0) AS own`,
    [ledgerAccountId, at, effectiveBefore, recordedBefore],
  );
  return (await balanceBefore(client, ledgerAccountId, at)) + BigInt(rows[0]?.amount ?? 0);
}
