import type pg from 'pg';
import { z } from 'zod';
import { RECORDING_APART } from '#ledger/postings/horizon.js';
import { customerPostings } from '#ledger/postings/posting-kinds.js';
import { amountView, numberText, type RowOf, timeView, wordView } from '#platform/http/fields.js';
import type { Slice } from './newest-first.js';
import { usageStates } from './usage.store.js';

export const balances = ['main', 'held', 'invite', 'refund-pending'] as const;
type Balance = (typeof balances)[number];

/**
 * `entries`: every movement. `requests`: the main balance with one line per request, at the time of its hold and with
 * its final cost. Releases and settlements have no line of their own. The sums are the same.
 */
export const statementViews = ['entries', 'requests'] as const;

/** The filter. Times are when lines were recorded, without `to`. */
export interface StatementFilter {
  view?: (typeof statementViews)[number] | undefined;
  balance?: Balance | undefined;
  kind?: string | undefined;
  keyId?: string | undefined;
  model?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export const statementEntry = z
  .object({
    transactionId: numberText,
    at: timeView,
    effectiveAt: timeView,
    kind: wordView(customerPostings),
    reference: z.string(),
    balance: z.enum(balances),
    amount: amountView.describe('Positive amounts add to the balance.'),
    balanceAfter: amountView
      .nullable()
      .describe('Null for a line that summarizes the movements of a request.'),
    chargeId: z.string().nullable(),
    topupId: z.string().nullable().describe('The top-up of a payment, for its receipt.'),
    state: z.enum(usageStates).nullable().describe('The current state of the request.'),
    model: z.string().nullable(),
    keyId: z.string().nullable(),
  })
  .meta({ id: 'StatementEntry' });

/** A movement on one balance of an account, in nanos; positive adds credits. */
export type StatementEntry = RowOf<typeof statementEntry, Date> & { ordinal: number };

/** The most lines that a filtered page examines, newest first. Later pages continue from there. */
const SCAN_LIMIT = 2_000;
const LAST = (2n ** 63n - 1n).toString();

const LEDGERS = `SELECT v.balance, v.id FROM customer_balances b CROSS JOIN LATERAL (VALUES
    ('main', b.main_ledger_id), ('held', b.held_ledger_id), ('invite', b.invite_ledger_id),
    ('refund-pending', b.refund_pending_ledger_id)) AS v (balance, id)
  WHERE b.account_id = $1 AND ($2::text IS NULL OR v.balance = $2)`;

/**
 * The newest lines of each balance, then of all together, up to the limit. Read by ledger account and transaction,
 * because otherwise the database would read all transactions backwards for a balance that hardly moves.
 */
const scanOf = (limit: number) => `WITH ledgers AS MATERIALIZED (${LEDGERS}),
  bounds AS MATERIALIZED (SELECT
    CASE WHEN $5::timestamptz IS NULL THEN 0
      ELSE first_transaction_since((SELECT array_agg(id) FROM ledgers), $5 - ${RECORDING_APART}) END AS first_id,
    CASE WHEN $6::timestamptz IS NULL THEN ${LAST}
      ELSE first_transaction_since((SELECT array_agg(id) FROM ledgers), $6 + ${RECORDING_APART}) END AS end_id),
  scanned AS (
    SELECT e.transaction_id, e.ordinal, e.amount, e.balance_after, l.balance FROM ledgers l CROSS JOIN bounds
    CROSS JOIN LATERAL (SELECT * FROM ledger_entries e
      WHERE (e.ledger_account_id, e.transaction_id) <= (l.id, least($3::bigint, bounds.end_id - 1))
        AND (e.ledger_account_id, e.transaction_id) >= (l.id, bounds.first_id)
        AND (e.transaction_id, e.ordinal) < ($3::bigint, $4::integer)
      ORDER BY e.ledger_account_id DESC, e.transaction_id DESC, e.ordinal DESC LIMIT ${limit}) AS e
    ORDER BY e.transaction_id DESC, e.ordinal DESC LIMIT ${limit})`;

/** The amount of a line, and the balance after it. $10: one line per request. */
const AMOUNTS = `CASE WHEN NOT ($10 AND t.kind = 'hold') THEN s.amount WHEN c.state = 'held' THEN s.amount
    ELSE -coalesce(c.settled, 0) END AS amount,
  CASE WHEN NOT ($10 AND t.kind = 'hold') THEN s.balance_after END AS "balanceAfter"`;

/** The lines of the scanned entries that the filter lets through. */
const ENTRIES = `SELECT s.transaction_id AS "transactionId", s.ordinal, t.recorded_at AS at,
    t.effective_at AS "effectiveAt", t.kind, t.reference, s.balance, ${AMOUNTS},
    t.charge_id AS "chargeId", p.id AS "topupId", c.state, c.model_id AS model, c.key_id AS "keyId"
  FROM scanned s JOIN ledger_transactions t ON t.id = s.transaction_id LEFT JOIN charges c ON c.id = t.charge_id
    LEFT JOIN topups p ON t.kind = 'topup' AND p.account_id = $1 AND p.transaction_id = t.id
  WHERE ($7::text IS NULL OR t.kind = $7) AND ($8::text IS NULL OR c.key_id = $8)
    AND ($9::text IS NULL OR c.model_id = $9) AND ($5::timestamptz IS NULL OR t.recorded_at >= $5)
    AND ($6::timestamptz IS NULL OR t.recorded_at < $6) AND NOT ($10 AND t.kind IN ('settle', 'release'))
  ORDER BY s.transaction_id DESC, s.ordinal DESC`;

const SCANNED = `SELECT transaction_id AS "transactionId", ordinal FROM scanned
  ORDER BY transaction_id DESC, ordinal DESC`;

/** The lines of an account's statement, newest first. `after` is the end of the previous page. */
export async function listStatement(
  pool: pg.Pool,
  { accountId, filter }: { accountId: string; filter: StatementFilter },
  page: { limit: number; after: string | null },
): Promise<Slice<StatementEntry>> {
  const byRequest = filter.view === 'requests';
  const [afterId = LAST, afterOrdinal = '0'] = page.after?.split(' ') ?? [];
  const { kind, keyId, model, from, to, balance = null } = filter;
  const bounds = [accountId, byRequest ? 'main' : balance, afterId, afterOrdinal, from ?? null, to ?? null];
  const isFiltered = byRequest || [kind, keyId, model, from, to].some((value) => value !== undefined);
  const scanned = isFiltered ? Math.max(SCAN_LIMIT, page.limit + 1) : page.limit + 1;
  const text = `${scanOf(scanned)} ${ENTRIES} LIMIT ${page.limit + 1}`;
  const conditions = [kind ?? null, keyId ?? null, model ?? null, byRequest];
  const { rows } = await pool.query<StatementEntry>(text, [...bounds, ...conditions]);
  const items = rows.slice(0, page.limit);
  if (rows.length > page.limit) return { items, next: positionOf(items.at(-1)!) };
  if (!isFiltered) return { items, next: null };
  return { items, next: await endOfScan(pool, scanned, bounds) };
}

/** Null if there was less to scan. */
async function endOfScan(pool: pg.Pool, scanned: number, bounds: readonly unknown[]): Promise<string | null> {
  const { rows } = await pool.query<StatementEntry>(
    `${scanOf(scanned)} ${SCANNED} OFFSET ${scanned - 1} LIMIT 1`,
    [...bounds],
  );
  return rows[0] ? positionOf(rows[0]) : null;
}

/** The position of a line, as text. The next page continues after it. */
function positionOf({ transactionId, ordinal }: Pick<StatementEntry, 'transactionId' | 'ordinal'>): string {
  return `${transactionId} ${ordinal}`;
}
