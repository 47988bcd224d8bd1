import type pg from 'pg';
import type { ReportingProvider } from './report-line.js';

/**
 * Payments against the provider's own report, in both directions. Our side is what the ledger was told: top-ups, money in
 * suspense, refunds, disputes. Theirs are the lines of imported reports. Both are added up for each thing that they are
 * about, so that a refund that failed or a dispute that was won agrees too.
 */
export type MatchState =
  | 'matched'
  /** Too young to judge, or no report covers its time yet. */
  | 'waiting'
  | 'missing_here'
  | 'missing_there'
  | 'differs'
  | 'twice';

export type MatchKind =
  | 'payment'
  | 'refund'
  | 'return'
  | 'dispute'
  | 'adjustment'
  /** Posted from their lines alone: here only when one was told in two ways. */
  | 'fee'
  | 'payout'
  | 'payout_failure';

/** States that a person must look at. */
export const FAULTY = ['missing_here', 'missing_there', 'differs', 'twice'] as const satisfies MatchState[];

export interface MatchQuery {
  provider: ReportingProvider | null;
  /** Happened not before, and before: by the provider's time where it tells one. ISO 8601. */
  from: string | null;
  to: string | null;
  /** Null: whatever the state. */
  states: readonly MatchState[] | null;
  /** What is younger may be under way still. */
  graceMs: number;
}

export interface MatchedItem {
  provider: ReportingProvider;
  kind: MatchKind;
  /** The id of the payment, refund or dispute. */
  id: string;
  state: MatchState;
  /** Text of the database, to the microsecond. */
  at: string;
  ours: { amountMinor: bigint; currency: string; at: string; transactionIds: bigint[] } | null;
  theirs: { amountMinor: bigint; currency: string; at: string; lineIds: string[] } | null;
  /** Days between what they say and what we recorded; noted, not counted. Null where it is not a day. */
  daysApart: number | null;
  /** A line of it said something else later. */
  changed: boolean;
}

export interface MatchDay {
  day: string;
  provider: ReportingProvider;
  state: MatchState;
  currency: string;
  items: number;
  oursMinor: bigint;
  theirsMinor: bigint;
}

/**
 * $1 provider or null, $2 the grace in milliseconds. Money in suspense that went back is a refund that the provider knows by
 * its payment; where we were told of that refund by its own name, the two cancel out. A report covers a posting when it covers
 * the day before it too: we may have heard of it late.
 */
const MATCHES = `WITH
  reports AS (
    SELECT provider, range_agg(covers) AS covers FROM provider_reports
    WHERE covers IS NOT NULL AND holds IN ('all', 'activity') AND provider <> 'bank' GROUP BY provider),
  refund_lines AS (
    SELECT provider, subject_id, max(payment_id) AS payment_id FROM provider_report_lines
    WHERE type = 'refund' AND ($1::text IS NULL OR provider = $1) GROUP BY 1, 2),
  our_parts AS (
    SELECT t.provider, 'payment' AS kind, t.payment_id AS id, t.paid_minor AS amount, t.currency, t.recorded_at AS at,
      t.transaction_id AS tx, 1 AS things
    FROM topups t LEFT JOIN suspense_items s ON s.topup_id = t.id WHERE s.id IS NULL
    UNION ALL
    SELECT provider, CASE why WHEN 'unknown_refund' THEN 'refund' WHEN 'refund_failed' THEN 'refund'
        WHEN 'dispute_beyond_payment' THEN 'dispute' WHEN 'provider_adjustment' THEN 'adjustment' ELSE 'payment' END,
      reference, amount_minor, currency, created_at, transaction_id, 1
    FROM suspense_items
    UNION ALL
    SELECT s.provider, CASE why WHEN 'dispute_beyond_payment' THEN 'dispute' ELSE 'return' END,
      coalesce(r.payment_id, s.reference), -s.amount_minor, s.currency, s.cleared_at, s.cleared_transaction_id, 0
    FROM suspense_items s
    LEFT JOIN refund_lines r ON r.provider = s.provider AND r.subject_id = s.reference AND s.why IN ('unknown_refund', 'refund_failed')
    WHERE s.state = 'returned'
    UNION ALL
    SELECT t.provider, 'refund', coalesce(r.provider_refund_id, r.id), -r.paid_minor, t.currency, r.ended_at,
      r.ended_transaction_id, 1
    FROM topup_refunds r JOIN topups t ON t.id = r.topup_id WHERE r.state = 'succeeded'
    UNION ALL
    SELECT d.provider, 'dispute', d.dispute_id, -d.paid_minor, t.currency, d.opened_at, d.transaction_id, 1
    FROM disputes d JOIN topups t ON t.id = d.topup_id WHERE d.transaction_id IS NOT NULL
    UNION ALL
    SELECT d.provider, 'dispute', d.dispute_id, d.paid_minor, t.currency, d.closed_at, d.reversal_transaction_id, 0
    FROM disputes d JOIN topups t ON t.id = d.topup_id WHERE d.reversal_transaction_id IS NOT NULL),
  ours AS (
    SELECT provider, kind, id, sum(amount) AS amount, min(currency) AS currency, count(DISTINCT currency) AS currencies,
      min(at) AS at, array_agg(tx ORDER BY tx) AS txs, sum(things) AS things
    FROM our_parts WHERE ($1::text IS NULL OR provider = $1) AND provider <> 'manual' GROUP BY 1, 2, 3),
  lines AS (
    SELECT l.*, CASE l.type WHEN 'refund_failure' THEN 'refund' WHEN 'dispute_reversal' THEN 'dispute' ELSE l.type END AS kind
    FROM provider_report_lines l
    WHERE ($1::text IS NULL OR l.provider = $1) AND (l.type <> 'adjustment' OR l.amount_minor <> 0)
      AND (l.type NOT IN ('fee', 'payout', 'payout_failure')
        OR EXISTS (SELECT FROM provider_line_changes c WHERE c.line = l.id))),
  named AS (
    SELECT l.id AS line, l.provider, l.line_id, l.amount_minor, l.currency, l.happened_at,
      CASE WHEN r.id IS NULL THEN l.kind ELSE 'return' END AS kind, coalesce(r.id, l.subject_id) AS id
    FROM lines l
    LEFT JOIN ours o ON o.provider = l.provider AND o.kind = l.kind AND o.id = l.subject_id
    LEFT JOIN ours r ON r.provider = l.provider AND r.kind = 'return' AND r.id = l.payment_id AND l.kind = 'refund'
      AND o.id IS NULL),
  theirs AS (
    SELECT n.provider, n.kind, n.id, sum(n.amount_minor) AS amount, min(n.currency) AS currency,
      count(DISTINCT n.currency) AS currencies, min(n.happened_at) AS at, array_agg(n.line_id ORDER BY n.line) AS line_ids,
      count(*) FILTER (WHERE n.amount_minor > 0) AS receipts, bool_or(c.line IS NOT NULL) AS changed
    FROM named n LEFT JOIN (SELECT DISTINCT line FROM provider_line_changes) c ON c.line = n.line
    GROUP BY 1, 2, 3),
  pairs AS (
    SELECT provider, kind, id, coalesce(t.at, o.at) AS at, o.at AS our_at, t.at AS their_at, o.amount AS ours,
      t.amount AS theirs, o.currency AS our_currency, t.currency AS their_currency, o.txs, t.line_ids, o.things, t.receipts,
      coalesce(o.currencies, 1) = 1 AND coalesce(t.currencies, 1) = 1 AND o.currency = t.currency AS one_currency,
      coalesce(t.changed, false) AS changed
    FROM ours o FULL JOIN theirs t USING (provider, kind, id)),
  judged AS (
    SELECT p.*, CASE
      WHEN p.changed THEN 'differs'
      WHEN kind = 'payment' AND things > 1 THEN 'twice'
      WHEN coalesce(ours, 0) = coalesce(theirs, 0) AND (one_currency OR ours IS NULL OR theirs IS NULL) THEN 'matched'
      WHEN ours IS NULL AND receipts > 1 AND kind = 'payment' THEN 'twice'
      WHEN ours IS NULL THEN CASE
        WHEN their_at > now() - $2::float8 * interval '1 millisecond' OR (kind = 'refund' AND EXISTS (
          SELECT FROM topup_refunds w WHERE w.provider_refund_id = p.id AND w.state = 'pending')) THEN 'waiting'
        ELSE 'missing_here' END
      WHEN theirs IS NULL THEN CASE
        WHEN r.covers @> tstzrange(our_at - interval '1 day', our_at, '[]') THEN 'missing_there' ELSE 'waiting' END
      WHEN kind = 'payment' AND receipts > 1 THEN 'twice'
      ELSE 'differs' END AS state
    FROM pairs p LEFT JOIN reports r USING (provider)
    WHERE coalesce(ours, 0) <> 0 OR coalesce(theirs, 0) <> 0 OR p.changed OR things > 1)`;

const RANGE = `($3::timestamptz IS NULL OR at >= $3::timestamptz) AND ($4::timestamptz IS NULL OR at < $4::timestamptz)
  AND ($5::text[] IS NULL OR state = ANY($5::text[]))`;

interface ItemRow {
  provider: ReportingProvider;
  kind: MatchKind;
  id: string;
  state: MatchState;
  at: string;
  ourAt: string | null;
  theirAt: string | null;
  ours: string | null;
  theirs: string | null;
  ourCurrency: string;
  theirCurrency: string;
  txs: string[] | null;
  lineIds: string[] | null;
  daysApart: number | null;
  changed: boolean;
}

/** The key of an item in the list: its time, provider, kind and id. */
export type MatchKey = readonly [at: string, provider: string, kind: string, id: string];

/** Items, oldest first, after the key. The client's times must be of UTC. */
export async function listMatches(
  client: pg.ClientBase,
  query: MatchQuery,
  page: { limit: number; after: MatchKey | null },
): Promise<MatchedItem[]> {
  const { rows } = await client.query<ItemRow>(
    `${MATCHES}
     SELECT ${ITEM} FROM judged
     WHERE ${RANGE} AND ($6::timestamptz IS NULL OR (at, provider, kind, id) > ($6::timestamptz, $7::text, $8::text, $9::text))
     ORDER BY at, provider, kind, id LIMIT $10`,
    [...valuesOf(query), ...(page.after ?? [null, null, null, null]), page.limit],
  );
  return rows.map(toItem);
}

const ITEM = `provider, kind, id, state, at::text, our_at::text AS "ourAt", their_at::text AS "theirAt", ours::text, theirs::text,
  our_currency AS "ourCurrency", their_currency AS "theirCurrency", txs::text[], line_ids AS "lineIds", changed,
  CASE WHEN abs(extract(epoch FROM our_at - their_at)) > 86400
    THEN floor(abs(extract(epoch FROM our_at - their_at)) / 86400)::int END AS "daysApart"`;

/** The same by day of UTC, provider, state and currency. */
export async function summariseMatches(client: pg.ClientBase, query: MatchQuery): Promise<MatchDay[]> {
  const { rows } = await client.query<
    Omit<MatchDay, 'oursMinor' | 'theirsMinor'> & Record<'ours' | 'theirs', string>
  >(
    `${MATCHES}
     SELECT (at AT TIME ZONE 'UTC')::date::text AS day, provider, state, coalesce(their_currency, our_currency) AS currency,
       count(*)::int AS items, coalesce(sum(ours), 0)::text AS ours, coalesce(sum(theirs), 0)::text AS theirs
     FROM judged WHERE ${RANGE} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    valuesOf(query),
  );
  return rows.map(({ ours, theirs, ...row }) => ({
    ...row,
    oursMinor: BigInt(ours),
    theirsMinor: BigInt(theirs),
  }));
}

/** The items that a person must look at, of what either side dates before the time; and how many there are. */
export async function findFaultyMatches(
  client: pg.ClientBase,
  { graceMs, before, limit }: { graceMs: number; before: string | null; limit: number },
): Promise<{ count: number; items: MatchedItem[] }> {
  const { rows } = await client.query<ItemRow & { count: number }>(
    `${MATCHES}
     SELECT ${ITEM}, (count(*) OVER ())::int AS count FROM judged
     WHERE state = ANY($3::text[]) AND ($4::timestamptz IS NULL OR least(our_at, their_at) < $4::timestamptz)
     ORDER BY judged.at, provider, kind, id LIMIT $5`,
    [null, graceMs, FAULTY, before, limit],
  );
  return { count: rows[0]?.count ?? 0, items: rows.map(toItem) };
}

function valuesOf({ provider, graceMs, from, to, states }: MatchQuery): unknown[] {
  return [provider, graceMs, from, to, states];
}

function toItem(row: ItemRow): MatchedItem {
  const { provider, kind, id, state, at, daysApart, changed, ours, theirs } = row;
  return {
    ...{ provider, kind, id, state, at, daysApart, changed },
    ours:
      ours === null
        ? null
        : {
            amountMinor: BigInt(ours),
            currency: row.ourCurrency,
            at: row.ourAt as string,
            transactionIds: (row.txs ?? []).map(BigInt),
          },
    theirs:
      theirs === null
        ? null
        : {
            amountMinor: BigInt(theirs),
            currency: row.theirCurrency,
            at: row.theirAt as string,
            lineIds: row.lineIds ?? [],
          },
  };
}
