import type pg from 'pg';
import { atHorizon, type Horizon } from '#ledger/postings/horizon.js';
import { recognitionProgress } from '#ledger/lots/recognition.js';
import type { Days } from './revenue.js';

export const deferredMoves = [
  'topups',
  'suspense_credited',
  'recognised',
  'chargeback_loss',
  'refunded',
  'charged_back',
  'chargebacks_won',
  'other',
] as const;
type DeferredMove = (typeof deferredMoves)[number];

interface DeferredLine {
  move: DeferredMove;
  /** For `recognised`: image, video, chat, speech, 3d or adjustment. Null otherwise. */
  family: string | null;
  /** Minor units of the payment currency. Positive raises deferred revenue. */
  amountMinor: bigint;
  /** Ledger transactions. */
  transactions: bigint;
}

export interface DeferredRevenueReport extends Days {
  /** Complete for everything recorded before this time. PostgreSQL text in UTC. */
  completeTo: string;
  /** Usage recorded before this time is recognised. Later usage is not in `recognised` yet. */
  recognisedTo: string;
  ledgerAccountId: bigint;
  openingMinor: bigint;
  lines: DeferredLine[];
  closingMinor: bigint;
  lots: LotsAtEnd;
  /** Whether opening balance and lines add up to the closing balance, and that equals what is left in the lots. */
  agrees: boolean;
}

/** What is left of the lots' payments at the end of the days, summed from their own rows. */
interface LotsAtEnd {
  /** Paid, minus refunds and chargebacks. */
  paidMinor: bigint;
  recognisedMinor: bigint;
  /** Refunds not answered by the provider. They leave deferred revenue when they end. */
  pendingMinor: bigint;
  /** paid - recognised + pending: the closing balance. */
  deferredMinor: bigint;
  /** Nanos of unused credits of all lots, including lots that nobody paid for. */
  unusedCredits: bigint;
}

/** The roll-forward of deferred revenue over UTC days, by effective time. */
export function deferredRevenueReport(pool: pg.Pool, days: Days): Promise<DeferredRevenueReport> {
  return atHorizon(pool, (client, horizon) => readDeferredRevenue(client, horizon, days));
}

/** The same on the caller's open snapshot. */
async function readDeferredRevenue(
  client: pg.ClientBase,
  horizon: Horizon,
  days: Days,
): Promise<DeferredRevenueReport> {
  const balances = await readBalances(client, days);
  const lines = await readLines(client, days);
  const lots = await readLotsAtEnd(client, days);
  const moved = lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  return {
    ...days,
    completeTo: horizon.at,
    recognisedTo: (await recognitionProgress(client)).at,
    ...balances,
    lines,
    lots,
    agrees:
      balances.openingMinor + moved === balances.closingMinor && balances.closingMinor === lots.deferredMinor,
  };
}

const START = `($1::date)::timestamp AT TIME ZONE 'UTC'`;
const END = `($2::date)::timestamp AT TIME ZONE 'UTC'`;

type Balances = Pick<DeferredRevenueReport, 'ledgerAccountId' | 'openingMinor' | 'closingMinor'>;

async function readBalances(client: pg.ClientBase, { from, to }: Days): Promise<Balances> {
  const { rows } = await client.query<Balances>(
    `SELECT a.id AS "ledgerAccountId",
       coalesce(sum(e.amount) FILTER (WHERE t.effective_at < ${START}), 0)::bigint AS "openingMinor",
       coalesce(sum(e.amount) FILTER (WHERE t.effective_at < ${END}), 0)::bigint AS "closingMinor"
     FROM ledger_accounts a LEFT JOIN ledger_entries e ON e.ledger_account_id = a.id
     LEFT JOIN ledger_transactions t ON t.id = e.transaction_id
     WHERE a.code = 'deferred-revenue' GROUP BY a.id`,
    [from, to],
  );
  return rows[0] as Balances;
}

/** A recognition is identified by where the revenue went, everything else by what moved deferred revenue. */
const LINES = `
WITH moved AS (
  SELECT t.id, t.kind, e.amount FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id
  JOIN ledger_transactions t ON t.id = e.transaction_id
  WHERE a.code = 'deferred-revenue' AND t.effective_at >= ${START} AND t.effective_at < ${END}),
lines AS (
  SELECT m.id, m.amount, NULL AS family, CASE
      WHEN m.kind = 'topup' AND EXISTS (SELECT FROM ledger_entries s JOIN ledger_accounts a ON a.id = s.ledger_account_id
        WHERE s.transaction_id = m.id AND a.code = 'suspense:pay') THEN 'suspense_credited'
      WHEN m.kind = 'topup' THEN 'topups'
      WHEN m.kind = 'topup-refunded' THEN 'refunded'
      WHEN m.kind IN ('chargeback', 'topup-refund-returned') THEN 'charged_back'
      WHEN m.kind = 'chargeback-won' THEN 'chargebacks_won'
      WHEN m.kind LIKE 'debt-covered%' THEN 'chargeback_loss'
      ELSE 'other' END AS move
  FROM moved m WHERE m.kind <> 'recognition'
  UNION ALL
  SELECT e.transaction_id, -e.amount, CASE WHEN a.code LIKE 'revenue:%' THEN split_part(a.code, ':', 2) END,
    CASE WHEN a.code LIKE 'revenue:%' THEN 'recognised' WHEN a.code = 'expense:chargeback-loss' THEN 'chargeback_loss'
      ELSE 'other' END
  FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
  JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.code <> 'deferred-revenue'
  WHERE t.kind = 'recognition' AND t.effective_at >= ${START} AND t.effective_at < ${END})
SELECT move, family, sum(amount)::bigint AS "amountMinor", count(DISTINCT id) AS transactions FROM lines
GROUP BY move, family ORDER BY array_position($3::text[], move), family`;

async function readLines(client: pg.ClientBase, { from, to }: Days): Promise<DeferredLine[]> {
  const { rows } = await client.query<DeferredLine>(LINES, [from, to, [...deferredMoves]]);
  return rows;
}

/**
 * $1: the end. Uses count when their recognition is effective, as the ledger has it; of credits, when they were. They are
 * summed by day as they are written; a control compares the sums with the uses.
 */
const LOTS_AT_END = `
WITH before AS (SELECT ${START} AS at)
SELECT
  ((SELECT coalesce(sum(l.paid_minor), 0) FROM credit_lots l JOIN ledger_transactions t ON t.id = l.transaction_id, before
      WHERE t.effective_at < before.at)
    + (SELECT coalesce(sum(c.paid_minor), 0) FROM credit_lot_changes c JOIN ledger_transactions t ON t.id = c.transaction_id, before
      WHERE c.kind <> 'debt' AND t.effective_at < before.at))::bigint AS "paidMinor",
  (SELECT coalesce(sum(d.minor), 0) FROM lot_day_sums d WHERE d.day < $1::date)::bigint AS "recognisedMinor",
  (SELECT coalesce(sum(r.paid_minor), 0) FROM topup_refunds r JOIN ledger_transactions t ON t.id = r.transaction_id
    LEFT JOIN ledger_transactions d ON d.id = r.ended_transaction_id, before
    WHERE t.effective_at < before.at AND (d.id IS NULL OR d.effective_at >= before.at))::bigint AS "pendingMinor",
  ((SELECT coalesce(sum(l.credits), 0) FROM credit_lots l JOIN ledger_transactions t ON t.id = l.transaction_id, before
      WHERE t.effective_at < before.at)
    + (SELECT coalesce(sum(c.credits), 0) FROM credit_lot_changes c JOIN ledger_transactions t ON t.id = c.transaction_id, before
      WHERE c.kind <> 'debt' AND t.effective_at < before.at)
    - (SELECT coalesce(sum(d.credits), 0) FROM lot_day_sums d WHERE d.day < $1::date))::text AS "unusedCredits"`;

async function readLotsAtEnd(client: pg.ClientBase, { to }: Days): Promise<LotsAtEnd> {
  // The sum of unused nanos may exceed int8.
  const { rows } = await client.query<
    Omit<LotsAtEnd, 'deferredMinor' | 'unusedCredits'> & { unusedCredits: string }
  >(LOTS_AT_END, [to]);
  const lots = rows[0] as (typeof rows)[number];
  const deferredMinor = lots.paidMinor - lots.recognisedMinor + lots.pendingMinor;
  return { ...lots, deferredMinor, unusedCredits: BigInt(lots.unusedCredits) };
}
