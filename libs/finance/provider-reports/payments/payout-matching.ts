import type pg from 'pg';
import type { PageAfter } from '../../listing.js';
import { absentState } from '../overdue.js';
import type { ReportingProvider } from '../report-line.js';
import type { ReportQuery } from '../report-query.js';

/** States that a person must look at. */
export const FAULTY_PAYOUTS = [
  /** Reports that should contain its lines go past it, but none does. */
  'lines_missing',
  /** No report covers its time, and no later report will. For the end of a period: not covered yet. */
  'not_covered',
  'missing_there',
  'differs',
  'twice',
] as const;

/** Compares a payout with its lines at the provider: payments minus fees, refunds and disputes. */
export const payoutStates = [
  'matched',
  /** Reported in two ways, or without lines, and someone accepted it. */
  'accepted',
  /** No line names it, and none has to: it was made manually, or is too recent to have its lines. */
  'unlinked',
  /** Lines name it, but no report has the payout itself yet. */
  'waiting',
  ...FAULTY_PAYOUTS,
] as const;
export type PayoutState = (typeof payoutStates)[number];

export interface PayoutQuery extends ReportQuery<PayoutState> {
  provider: ReportingProvider | null;
}

export interface PayoutItem {
  provider: ReportingProvider;
  payoutId: string;
  state: PayoutState;
  at: string;
  currency: string;
  /** The amount sent to the bank. Null if no report has the payout. */
  amountMinor: bigint | null;
  /** The totals of its lines, which add up to the amount. */
  parts: Record<'payments' | 'refunds' | 'disputes' | 'adjustments' | 'fees', bigint>;
  /** It came back later. */
  returned: boolean;
  lines: number;
  /** Report lines about the payout itself, which can be accepted. */
  lineIds: string[];
  transactionIds: bigint[];
  bankLineId: string | null;
}

/** Payouts take a few days. After these the report with it should be available. */
const PAYOUT_TIME = '7 days';

/** How long after a scheduled payout the provider has reported its lines. */
const LINKED_WITHIN = '3 days';

const ABSENT = absentState({
  covers: 'r.covers',
  until: 'r.until',
  at: 'b.at',
  since: 'b.at',
  due: `b.at + interval '${PAYOUT_TIME}'`,
  end: '$2::timestamptz',
});

/** $1: the provider or null. $2: the end of the requested period, or null. */
const PAYOUTS = `WITH
  reports AS (
    SELECT provider, range_agg(covers) AS covers, max(upper(covers)) AS until FROM provider_reports
    WHERE covers IS NOT NULL AND holds IN ('all', 'payouts') AND provider <> 'bank' GROUP BY provider),
  linking AS (
    SELECT provider, max(upper(covers)) AS until FROM provider_reports
    WHERE covers IS NOT NULL AND holds IN ('all', 'activity') AND provider <> 'bank' GROUP BY provider),
  announced AS (
    SELECT l.provider, l.subject_id AS payout_id, min(l.happened_at) AS at, min(l.currency) AS currency,
      -sum(coalesce(c.amount_minor, l.amount_minor)) FILTER (WHERE l.type = 'payout') AS amount, bool_or(l.type = 'payout_failure') AS returned,
      count(*) FILTER (WHERE l.type = 'payout') AS payouts, array_remove(array_agg(p.transaction_id), NULL) AS txs,
      array_agg(l.line_id ORDER BY l.id) AS line_ids,
      coalesce(bool_or(NOT c.is_settled), false) AS changed, coalesce(bool_or(c.is_settled), false) AS accepted,
      bool_or(EXISTS (SELECT FROM provider_line_acceptances a WHERE a.line = l.id)) AS known_unlinked
    FROM provider_report_lines l LEFT JOIN provider_line_words c ON c.line = l.id
    LEFT JOIN provider_line_postings p ON p.line = l.id AND p.kind IN ('payout', 'payout-returned')
    WHERE l.type IN ('payout', 'payout_failure') AND ($1::text IS NULL OR l.provider = $1) GROUP BY 1, 2),
  parts AS (
    SELECT x.provider, x.payout_id, l.type, l.currency, coalesce(l.available_on::timestamp AT TIME ZONE 'UTC', l.happened_at) AS at,
      coalesce(c.last_amount_minor, l.amount_minor) AS amount, coalesce(c.last_fee_minor, l.fee_minor) AS fee
    FROM provider_line_payouts x JOIN provider_report_lines l ON l.id = x.line
    LEFT JOIN provider_line_words c ON c.line = l.id
    WHERE l.type NOT IN ('payout', 'payout_failure') AND ($1::text IS NULL OR x.provider = $1)),
  brought AS (
    SELECT provider, payout_id, min(currency) AS currency, count(*) AS lines, sum(amount - fee) AS net, max(at) AS at,
      coalesce(sum(amount) FILTER (WHERE type = 'payment'), 0) AS payments,
      coalesce(sum(amount) FILTER (WHERE type IN ('refund', 'refund_failure')), 0) AS refunds,
      coalesce(sum(amount) FILTER (WHERE type IN ('dispute', 'dispute_reversal')), 0) AS disputes,
      coalesce(sum(amount) FILTER (WHERE type = 'adjustment'), 0) AS adjustments,
      coalesce(sum(CASE WHEN type = 'fee' THEN amount - fee ELSE -fee END), 0) AS fees
    FROM parts GROUP BY 1, 2),
  judged AS (
    SELECT provider, payout_id, coalesce(t.at, b.at) AS at, coalesce(t.currency, b.currency) AS currency, t.amount,
      coalesce(b.lines, 0) AS lines, b.payments, b.refunds, b.disputes, b.adjustments, b.fees,
      coalesce(t.returned, false) AS returned, t.txs, t.line_ids,
      CASE WHEN t.changed THEN 'differs'
        WHEN t.payouts > 1 THEN 'twice'
        WHEN t.provider IS NULL THEN ${ABSENT}
        WHEN t.amount IS NULL THEN 'differs'
        WHEN b.lines IS NULL THEN CASE
          WHEN t.known_unlinked THEN 'accepted'
          WHEN NOT made.automatic THEN 'unlinked'
          WHEN t.at + interval '${LINKED_WITHIN}' < linking.until THEN 'lines_missing'
          WHEN t.at < $2::timestamptz AND coalesce(t.at >= linking.until, true) THEN 'not_covered'
          ELSE 'unlinked' END
        WHEN t.accepted AND b.net = t.amount AND t.currency = b.currency THEN 'accepted'
        WHEN t.amount = b.net AND t.currency = b.currency THEN 'matched'
        ELSE 'differs' END AS state
    FROM announced t FULL JOIN brought b USING (provider, payout_id) LEFT JOIN reports r USING (provider)
    LEFT JOIN linking USING (provider) LEFT JOIN provider_payouts made USING (provider, payout_id))`;

const ITEM = `j.provider, payout_id AS "payoutId", state, at::text, currency, amount::bigint AS "amountMinor", lines::int, returned,
  coalesce(payments, 0)::bigint AS payments, coalesce(refunds, 0)::bigint AS refunds, coalesce(disputes, 0)::bigint AS disputes,
  coalesce(adjustments, 0)::bigint AS adjustments, coalesce(fees, 0)::bigint AS fees,
  coalesce(txs, '{}') AS "transactionIds", coalesce(line_ids, '{}') AS "lineIds",
  (SELECT m.bank_line_id::text FROM bank_matches m WHERE m.kind = 'payout' AND m.subject = j.provider || ':' || payout_id
    AND m.undone_at IS NULL) AS "bankLineId"`;

type PayoutRow = Omit<PayoutItem, 'parts'> & PayoutItem['parts'];

/** Oldest first. The client's time zone must be UTC. */
export async function listPayouts(
  client: pg.ClientBase,
  { provider, from, to, states, before = null }: PayoutQuery,
  { limit, after }: PageAfter<'at' | 'provider' | 'payoutId'>,
): Promise<PayoutItem[]> {
  const { rows } = await client.query<PayoutRow>(
    `${PAYOUTS} SELECT ${ITEM} FROM judged j
     WHERE ($3::timestamptz IS NULL OR at >= $3::timestamptz) AND ($4::timestamptz IS NULL OR at < $4::timestamptz)
       AND ($5::text[] IS NULL OR state = ANY($5::text[])) AND ($2::timestamptz IS NULL OR at < $2::timestamptz)
       AND ($6::timestamptz IS NULL OR (at, j.provider, payout_id) > ($6::timestamptz, $7::text, $8::text))
     ORDER BY j.at, j.provider, payout_id LIMIT $9`,
    [provider, before, from, to, states, after?.at, after?.provider, after?.payoutId, limit],
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

/** A provider whose payouts have been missing from reports for too long, although lines name some. */
export interface OverduePayouts {
  provider: ReportingProvider;
  /** The time of the oldest one. PostgreSQL text. */
  firstAt: string;
  payouts: number;
}

/** The client's time zone must be UTC. */
export async function findOverduePayouts(
  client: pg.ClientBase,
  overdueMs: number,
): Promise<OverduePayouts[]> {
  const { rows } = await client.query<OverduePayouts>(
    `${PAYOUTS} SELECT provider, min(at)::text AS "firstAt", count(*)::int AS payouts FROM judged
     WHERE state = 'waiting' AND at + interval '${PAYOUT_TIME}' < now() - $3::float8 * interval '1 millisecond'
     GROUP BY 1 ORDER BY 1`,
    [null, null, overdueMs],
  );
  return rows;
}

function toItem({ payments, refunds, disputes, adjustments, fees, ...item }: PayoutRow): PayoutItem {
  return { ...item, parts: { payments, refunds, disputes, adjustments, fees } };
}

export function sumOfParts({ parts }: Pick<PayoutItem, 'parts'>): bigint {
  return Object.values(parts).reduce((sum, part) => sum + part, 0n);
}
