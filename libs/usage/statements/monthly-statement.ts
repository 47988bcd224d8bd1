import type pg from 'pg';
import { balanceBefore } from '#ledger/postings/account-balance.js';
import { atHorizon, type Horizon, RECORDING_APART } from '#ledger/postings/horizon.js';

/** A UTC month of one account: credits in nanos, as they moved on what it can spend, has on hold, or is being refunded. */
export interface MonthlyStatement {
  /** Such as 2026-01. */
  month: string;
  accountId: string;
  /** Of the account, as it is now. */
  name: string;
  /** Up to here, text of a time: the end of the month, or what is certain by now. */
  to: string;
  opening: bigint;
  closing: bigint;
  /** By kind of posting, and charges by model; none that came to nothing. They lead from the opening to the closing. */
  moves: { kind: string; model: string | null; amount: bigint }[];
  /** Money of the month, minor units by currency; positive was paid by the customer. */
  money: { what: 'paid' | 'refunded'; currency: string; count: number; amountMinor: bigint }[];
}

interface Month {
  from: string;
  to: string;
}

/**
 * What was recorded in a month, summed by the database. Null: there is no such account.
 * @throws Error where the moves do not lead from the opening to the closing balance
 */
export function readMonthlyStatement(
  pool: pg.Pool,
  { accountId, month }: { accountId: string; month: string },
): Promise<MonthlyStatement | null> {
  const [year, number] = month.split('-').map(Number) as [number, number];
  const end = new Date(Date.UTC(year, number, 1));
  return atHorizon(pool, (client, horizon) => read(client, horizon, { accountId, month }), end);
}

async function read(
  client: pg.ClientBase,
  horizon: Horizon,
  { accountId, month }: { accountId: string; month: string },
): Promise<MonthlyStatement | null> {
  const account = await ledgersOf(client, accountId);
  if (!account) return null;
  const { from, to } = await boundsOf(client, horizon, month);
  const { name, ledgerIds } = account;
  const [opening, closing] = [
    await sumBefore(client, ledgerIds, from),
    await sumBefore(client, ledgerIds, to),
  ];
  const moves = await movesOf(client, ledgerIds, { from, to });
  const sum = moves.reduce((total, { amount }) => total + amount, opening);
  if (sum !== closing)
    throw new Error(`the moves of ${accountId} in ${month} lead to ${sum}, not ${closing}`);
  const money = await moneyOf(client, accountId, { from, to });
  return { month, accountId, name, to, opening, closing, moves, money };
}

async function ledgersOf(
  client: pg.ClientBase,
  accountId: string,
): Promise<{ name: string; ledgerIds: string[] } | null> {
  const { rows } = await client.query<{ name: string; ledgerIds: string[] }>(
    `SELECT a.name, ARRAY[b.main_ledger_id, b.held_ledger_id, b.refund_pending_ledger_id]::text[] AS "ledgerIds"
     FROM accounts a JOIN customer_balances b ON b.account_id = a.id WHERE a.id = $1`,
    [accountId],
  );
  return rows[0] ?? null;
}

async function boundsOf(client: pg.ClientBase, { at }: Horizon, month: string): Promise<Month> {
  const { rows } = await client.query<Month>(
    `SELECT least(start, $2::timestamptz)::text AS "from",
       least((start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC', $2::timestamptz)::text AS "to"
     FROM (SELECT ($1 || '-01')::timestamp AT TIME ZONE 'UTC' AS start) AS month`,
    [month, at],
  );
  return rows[0]!;
}

async function sumBefore(client: pg.ClientBase, ledgerIds: readonly string[], at: string): Promise<bigint> {
  let sum = 0n;
  for (const id of ledgerIds) sum += await balanceBefore(client, BigInt(id), at);
  return sum;
}

async function movesOf(
  client: pg.ClientBase,
  ledgerIds: readonly string[],
  { from, to }: Month,
): Promise<MonthlyStatement['moves']> {
  const { rows } = await client.query<{ kind: string; model: string | null; amount: string }>(
    `WITH bounds AS MATERIALIZED (SELECT first_transaction_since($1::bigint[], $2::timestamptz - ${RECORDING_APART}) AS first_id,
       first_transaction_since($1::bigint[], $3::timestamptz + ${RECORDING_APART}) AS end_id)
     SELECT t.kind, c.model_id AS model, sum(e.amount)::text AS amount
     FROM bounds CROSS JOIN ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
       LEFT JOIN charges c ON c.id = t.charge_id AND t.kind IN ('settle', 'charge_refund')
     WHERE e.ledger_account_id = ANY ($1::bigint[]) AND e.transaction_id >= first_id AND e.transaction_id < end_id
       AND t.recorded_at >= $2::timestamptz AND t.recorded_at < $3::timestamptz
     GROUP BY t.kind, c.model_id HAVING sum(e.amount) <> 0 ORDER BY t.kind, c.model_id`,
    [ledgerIds, from, to],
  );
  return rows.map(({ amount, ...move }) => ({ ...move, amount: BigInt(amount) }));
}

async function moneyOf(
  client: pg.ClientBase,
  accountId: string,
  { from, to }: Month,
): Promise<MonthlyStatement['money']> {
  const { rows } = await client.query<
    Omit<MonthlyStatement['money'][number], 'amountMinor'> & { amount: string }
  >(
    `SELECT 'paid' AS what, currency, count(*)::int AS count, sum(paid_minor)::text AS amount FROM topups
     WHERE account_id = $1 AND recorded_at >= $2::timestamptz AND recorded_at < $3::timestamptz GROUP BY currency
     UNION ALL
     SELECT 'refunded', p.currency, count(*)::int, (-sum(r.paid_minor))::text
     FROM topup_refunds r JOIN topups p ON p.id = r.topup_id
     WHERE p.account_id = $1 AND r.state = 'succeeded' AND r.ended_at >= $2::timestamptz AND r.ended_at < $3::timestamptz
     GROUP BY p.currency ORDER BY 1, 2`,
    [accountId, from, to],
  );
  return rows.map(({ amount, ...money }) => ({ ...money, amountMinor: BigInt(amount) }));
}
