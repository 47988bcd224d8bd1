import type pg from 'pg';
import type { ReportingProvider } from './report-line.js';

/** A payout against the lines that the provider says it brought: payments less fees, refunds and disputes. */
export type PayoutState =
  | 'matched'
  /** No line names it: the provider does not say what it is made of, as for payouts by hand. Not counted. */
  | 'unlinked'
  /** Lines name it, and no report tells of the payout itself yet. */
  | 'waiting'
  | 'missing_there'
  | 'differs'
  | 'twice';

/** States that a person must look at. */
export const FAULTY_PAYOUTS = ['missing_there', 'differs', 'twice'] as const satisfies PayoutState[];

export interface PayoutQuery {
  provider: ReportingProvider | null;
  from: string | null;
  to: string | null;
  /** Null: whatever the state. */
  states: readonly PayoutState[] | null;
}

export interface PayoutItem {
  provider: ReportingProvider;
  payoutId: string;
  state: PayoutState;
  at: string;
  currency: string;
  /** What went to the bank; null where no report tells of the payout. */
  amountMinor: bigint | null;
  /** Of the lines that it brought; their sum is the amount. */
  parts: Record<'payments' | 'refunds' | 'disputes' | 'adjustments' | 'fees', bigint>;
  /** It came back later. */
  returned: boolean;
  lines: number;
  /** Of our books. */
  transactionIds: bigint[];
  /** The line at the bank that it was found in. */
  bankLineId: string | null;
}

/** A payout is on its way for some days; after these the report that tells of it should be there. */
const UNDER_WAY = '7 days';

const PAYOUTS = `WITH
  reports AS (
    SELECT provider, range_agg(covers) AS covers FROM provider_reports
    WHERE covers IS NOT NULL AND holds IN ('all', 'payouts') AND provider <> 'bank' GROUP BY provider),
  told AS (
    SELECT l.provider, l.subject_id AS payout_id, min(l.happened_at) AS at, min(l.currency) AS currency,
      -sum(l.amount_minor) FILTER (WHERE l.type = 'payout') AS amount, bool_or(l.type = 'payout_failure') AS returned,
      count(*) FILTER (WHERE l.type = 'payout') AS payouts, array_remove(array_agg(p.transaction_id), NULL) AS txs,
      bool_or(EXISTS (SELECT FROM provider_line_changes c WHERE c.line = l.id)) AS changed
    FROM provider_report_lines l
    LEFT JOIN provider_line_postings p ON p.line = l.id AND p.kind IN ('payout', 'payout-returned')
    WHERE l.type IN ('payout', 'payout_failure') AND ($1::text IS NULL OR l.provider = $1) GROUP BY 1, 2),
  brought AS (
    SELECT x.provider, x.payout_id, min(l.currency) AS currency, count(*) AS lines, sum(l.net_minor) AS net,
      max(coalesce(l.available_on::timestamp AT TIME ZONE 'UTC', l.happened_at)) AS at,
      coalesce(sum(l.amount_minor) FILTER (WHERE l.type = 'payment'), 0) AS payments,
      coalesce(sum(l.amount_minor) FILTER (WHERE l.type IN ('refund', 'refund_failure')), 0) AS refunds,
      coalesce(sum(l.amount_minor) FILTER (WHERE l.type IN ('dispute', 'dispute_reversal')), 0) AS disputes,
      coalesce(sum(l.amount_minor) FILTER (WHERE l.type = 'adjustment'), 0) AS adjustments,
      coalesce(sum(CASE WHEN l.type = 'fee' THEN l.net_minor ELSE -l.fee_minor END), 0) AS fees
    FROM provider_line_payouts x JOIN provider_report_lines l ON l.id = x.line
    WHERE l.type NOT IN ('payout', 'payout_failure') AND ($1::text IS NULL OR x.provider = $1) GROUP BY 1, 2),
  judged AS (
    SELECT provider, payout_id, coalesce(t.at, b.at) AS at, coalesce(t.currency, b.currency) AS currency, t.amount,
      coalesce(b.lines, 0) AS lines, b.payments, b.refunds, b.disputes, b.adjustments, b.fees,
      coalesce(t.returned, false) AS returned, t.txs,
      CASE WHEN t.changed THEN 'differs'
        WHEN t.payouts > 1 THEN 'twice'
        WHEN t.provider IS NULL THEN CASE
          WHEN r.covers @> tstzrange(b.at, b.at + interval '${UNDER_WAY}', '[]') THEN 'missing_there' ELSE 'waiting' END
        WHEN t.amount IS NULL THEN 'differs'
        WHEN b.lines IS NULL THEN 'unlinked'
        WHEN t.amount = b.net AND t.currency = b.currency THEN 'matched'
        ELSE 'differs' END AS state
    FROM told t FULL JOIN brought b USING (provider, payout_id) LEFT JOIN reports r USING (provider))`;

const ITEM = `j.provider, payout_id AS "payoutId", state, at::text, currency, amount::text, lines::int, returned,
  payments::text, refunds::text, disputes::text, adjustments::text, fees::text, txs::text[],
  (SELECT m.bank_line_id::text FROM bank_matches m WHERE m.kind = 'payout' AND m.subject = j.provider || ':' || payout_id
    AND m.undone_at IS NULL) AS "bankLineId"`;

type Parts = PayoutItem['parts'];

interface PayoutRow extends Record<keyof Parts, string | null> {
  provider: ReportingProvider;
  payoutId: string;
  state: PayoutState;
  at: string;
  currency: string;
  amount: string | null;
  lines: number;
  returned: boolean;
  txs: string[] | null;
  bankLineId: string | null;
}

export type PayoutKey = readonly [at: string, provider: string, payoutId: string];

/** Payouts, oldest first, after the key. The client's times must be of UTC. */
export async function listPayouts(
  client: pg.ClientBase,
  { provider, from, to, states }: PayoutQuery,
  page: { limit: number; after: PayoutKey | null },
): Promise<PayoutItem[]> {
  const { rows } = await client.query<PayoutRow>(
    `${PAYOUTS} SELECT ${ITEM} FROM judged j
     WHERE ($2::timestamptz IS NULL OR at >= $2::timestamptz) AND ($3::timestamptz IS NULL OR at < $3::timestamptz)
       AND ($4::text[] IS NULL OR state = ANY($4::text[]))
       AND ($5::timestamptz IS NULL OR (at, j.provider, payout_id) > ($5::timestamptz, $6::text, $7::text))
     ORDER BY j.at, j.provider, payout_id LIMIT $8`,
    [provider, from, to, states, ...(page.after ?? [null, null, null]), page.limit],
  );
  return rows.map(toItem);
}

export async function findFaultyPayouts(
  client: pg.ClientBase,
  { before, limit }: { before: string | null; limit: number },
): Promise<{ count: number; items: PayoutItem[] }> {
  const { rows } = await client.query<PayoutRow & { count: number }>(
    `${PAYOUTS} SELECT ${ITEM}, (count(*) OVER ())::int AS count FROM judged j
     WHERE state = ANY($4::text[]) AND ($2::timestamptz IS NULL OR at < $2::timestamptz)
     ORDER BY j.at, j.provider, payout_id LIMIT $3`,
    [null, before, limit, FAULTY_PAYOUTS],
  );
  return { count: rows[0]?.count ?? 0, items: rows.map(toItem) };
}

function toItem(row: PayoutRow): PayoutItem {
  const { provider, payoutId, state, at, currency, lines, returned, bankLineId } = row;
  const part = (name: keyof Parts) => BigInt(row[name] ?? 0);
  return {
    ...{ provider, payoutId, state, at, currency, lines, returned, bankLineId },
    amountMinor: row.amount === null ? null : BigInt(row.amount),
    parts: {
      payments: part('payments'),
      refunds: part('refunds'),
      disputes: part('disputes'),
      adjustments: part('adjustments'),
      fees: part('fees'),
    },
    transactionIds: (row.txs ?? []).map(BigInt),
  };
}

/** What the lines of a payout come to. */
export function sumOfParts({ parts }: Pick<PayoutItem, 'parts'>): bigint {
  return Object.values(parts).reduce((sum, part) => sum + part, 0n);
}
