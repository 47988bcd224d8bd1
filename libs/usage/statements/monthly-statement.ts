import type pg from 'pg';
import { type BillingDetails, readBillingDetails } from '#payments/receipts/billing-details.js';
import { balanceBefore } from '#ledger/postings/account-balance.js';
import { atHorizon, type Horizon } from '#ledger/postings/horizon.js';
import { CHARGED, readSums, REFUNDED, type Sum } from './statement-sums.js';

/** `disputed`: what the customer's bank took back. `dispute_won`: what it paid again. */
export const moneyMoves = ['paid', 'refunded', 'disputed', 'dispute_won'] as const;
type MoneyMove = (typeof moneyMoves)[number];

/** A UTC month of an account: movements in nanos of credits that are available, held, or being refunded. */
export interface MonthlyStatement {
  /** Such as 2026-01. */
  month: string;
  accountId: string;
  /** The account's name at the end of the month, as far as it is known. */
  name: string;
  /** As the account had entered them by the end of the month. */
  buyer: BillingDetails;
  /** The key if it covers only one; null: the whole account. */
  key: { keyId: string; name: string } | null;
  /** The end of what it covers, as text: the end of the month, or what is final by now. */
  to: string;
  /** The balances of an account, which a key does not have. */
  balances: { opening: bigint; closing: bigint } | null;
  /** By kind of posting, and charges by model, without zeros. They lead from the opening to the closing balance. */
  moves: { kind: string; model: string | null; amount: bigint }[];
  /** The charges and refunds among the moves again, by key and model. */
  work: KeyWork[];
  /** Payments of the month, minor units by currency; positive was paid by the customer. A key has none. */
  money: { what: MoneyMove; currency: string; count: number; amountMinor: bigint }[];
}

/** Usage of a model by a key, in nanos. Both sums are positive. Null for work without a key or a model. */
export interface KeyWork {
  keyId: string | null;
  /** The key's current name. */
  keyName: string | null;
  model: string | null;
  /** Charged in the month. */
  requests: number;
  charged: bigint;
  /** Refunded in the month, whenever it was charged. */
  refunded: bigint;
}

interface Asked {
  accountId: string;
  month: string;
  /** One key of the account. If omitted, the whole account. */
  keyId?: string | undefined;
}

interface Month {
  from: string;
  to: string;
}

/**
 * Everything recorded in a month, summed by the database. Null: no such account, or it has no such key.
 * @throws Error if the moves do not lead from the opening to the closing balance
 */
export function readMonthlyStatement(pool: pg.Pool, asked: Asked): Promise<MonthlyStatement | null> {
  return atHorizon(pool, (client, horizon) => read(client, horizon, asked), endOf(asked.month));
}

function endOf(month: string): Date {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number, 1));
}

async function read(
  client: pg.ClientBase,
  horizon: Horizon,
  { accountId, month, keyId }: Asked,
): Promise<MonthlyStatement | null> {
  const account = await accountOf(client, accountId, endOf(month));
  const key = keyId === undefined ? null : await keyOf(client, accountId, keyId);
  if (!account || (keyId !== undefined && key === null)) return null;
  const bounds = await boundsOf(client, horizon, month);
  const { name, ledgerIds } = account;
  const sums = await readSums(client, { ...account, ...bounds, keyId: keyId ?? null });
  const moves = movesOf(sums);
  const buyer = await readBillingDetails(client, accountId, endOf(month));
  const about = { month, accountId, name, buyer, key, to: bounds.to, moves, work: workOf(sums) };
  if (key) return { ...about, balances: null, money: [] };
  const balances = await balancesOf(client, ledgerIds, bounds);
  const reached = moves.reduce((total, { amount }) => total + amount, balances.opening);
  if (reached !== balances.closing)
    throw new Error(`the moves of ${accountId} in ${month} lead to ${reached}, not ${balances.closing}`);
  return { ...about, balances, money: await moneyOf(client, accountId, bounds) };
}

/** The same by key alone, highest first. */
export function keysOf({ work }: Pick<MonthlyStatement, 'work'>): Omit<KeyWork, 'model'>[] {
  return [...Map.groupBy(work, ({ keyId }) => keyId).values()]
    .map((of) => ({
      keyId: of[0]!.keyId,
      keyName: of[0]!.keyName,
      requests: of.reduce((sum, { requests }) => sum + requests, 0),
      charged: of.reduce((sum, { charged }) => sum + charged, 0n),
      refunded: of.reduce((sum, { refunded }) => sum + refunded, 0n),
    }))
    .sort((a, b) => (a.charged === b.charged ? b.requests - a.requests : a.charged < b.charged ? 1 : -1));
}

interface StatedAccount {
  name: string;
  mainId: bigint;
  heldId: bigint;
  ledgerIds: bigint[];
}

/**
 * The name at a time: the last one noted by then, or the first that was noted, or the current one. Ids rise in the order in
 * which changes got the account's lock. Their times are those at which they began to wait for it.
 */
const NAME = `CASE WHEN $2::timestamptz > now() THEN a.name ELSE coalesce(
  (SELECT n.name FROM account_names n WHERE n.account_id = a.id AND n.recorded_at < $2 ORDER BY n.id DESC LIMIT 1),
  (SELECT n.name FROM account_names n WHERE n.account_id = a.id ORDER BY n.recorded_at, n.id LIMIT 1), a.name) END`;

async function accountOf(client: pg.ClientBase, accountId: string, end: Date): Promise<StatedAccount | null> {
  const { rows } = await client.query<StatedAccount>(
    `SELECT ${NAME} AS name, b.main_ledger_id AS "mainId", b.held_ledger_id AS "heldId",
       ARRAY[b.main_ledger_id, b.held_ledger_id, b.refund_pending_ledger_id] AS "ledgerIds"
     FROM accounts a JOIN customer_balances b ON b.account_id = a.id WHERE a.id = $1`,
    [accountId, end],
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

async function keyOf(
  client: pg.ClientBase,
  accountId: string,
  keyId: string,
): Promise<MonthlyStatement['key']> {
  const { rows } = await client.query<{ keyId: string; name: string }>(
    'SELECT id AS "keyId", name FROM api_keys WHERE id = $1 AND account_id = $2',
    [keyId, accountId],
  );
  return rows[0] ?? null;
}

async function balancesOf(
  client: pg.ClientBase,
  ledgerIds: readonly bigint[],
  { from, to }: Month,
): Promise<{ opening: bigint; closing: bigint }> {
  const sumBefore = async (at: string) => {
    let sum = 0n;
    for (const id of ledgerIds) sum += await balanceBefore(client, id, at);
    return sum;
  };
  return { opening: await sumBefore(from), closing: await sumBefore(to) };
}

function movesOf(sums: readonly Sum[]): MonthlyStatement['moves'] {
  return [...Map.groupBy(sums, ({ kind, model }) => JSON.stringify([kind, model])).values()]
    .map((of) => ({
      kind: of[0]!.kind,
      model: of[0]!.model,
      amount: of.reduce((total, { amount }) => total + amount, 0n),
    }))
    .filter(({ amount }) => amount !== 0n);
}

function workOf(sums: readonly Sum[]): KeyWork[] {
  const work = sums.filter(({ kind }) => kind === CHARGED || kind === REFUNDED);
  return [...Map.groupBy(work, ({ keyId, model }) => JSON.stringify([keyId, model])).values()].map((of) => {
    const { keyId, keyName, model } = of[0]!;
    const charges = of.find(({ kind }) => kind === CHARGED);
    const refunds = of.find(({ kind }) => kind === REFUNDED);
    const sumUp = { requests: charges?.fromHeld ?? 0, charged: -(charges?.amount ?? 0n) };
    return { keyId, keyName, model, ...sumUp, refunded: refunds?.amount ?? 0n };
  });
}

/** What each posting moved, in the order in which a statement shows it. */
const MONEY = `SELECT what, currency, count(*)::int AS count, sum(amount)::bigint AS "amountMinor"
  FROM (
    SELECT 1 AS place, 'paid' AS what, currency, paid_minor AS amount, transaction_id FROM topups WHERE account_id = $1
    UNION ALL
    SELECT 2, 'refunded', p.currency, -r.paid_minor, r.ended_transaction_id
    FROM topup_refunds r JOIN topups p ON p.id = r.topup_id WHERE p.account_id = $1 AND r.state = 'succeeded'
    UNION ALL
    SELECT 3, 'disputed', p.currency, -d.paid_minor + coalesce((SELECT sum(x.paid_minor) FROM dispute_refunds x
      WHERE x.provider = d.provider AND x.dispute_id = d.dispute_id), 0), d.transaction_id
    FROM disputes d JOIN topups p ON p.id = d.topup_id WHERE d.account_id = $1
    UNION ALL
    SELECT 3, 'disputed', p.currency, -x.paid_minor, r.ended_transaction_id FROM dispute_refunds x
    JOIN topup_refunds r ON r.id = x.refund_id JOIN topups p ON p.id = r.topup_id WHERE r.account_id = $1
    UNION ALL
    SELECT 4, 'dispute_won', p.currency, d.paid_minor, d.reversal_transaction_id
    FROM disputes d JOIN topups p ON p.id = d.topup_id WHERE d.account_id = $1) AS m
  JOIN ledger_transactions t ON t.id = m.transaction_id
  WHERE t.recorded_at >= $2::timestamptz AND t.recorded_at < $3::timestamptz
  GROUP BY place, what, currency ORDER BY place, currency`;

/** By when the ledger recorded them, like the moves: a payment has a time of its own, at which its transaction began. */
async function moneyOf(
  client: pg.ClientBase,
  accountId: string,
  { from, to }: Month,
): Promise<MonthlyStatement['money']> {
  const { rows } = await client.query<MonthlyStatement['money'][number]>(MONEY, [accountId, from, to]);
  return rows;
}
