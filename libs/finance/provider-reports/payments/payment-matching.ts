import type pg from 'pg';
import type { LineType, ReportingProvider } from '../report-line.js';

/**
 * Payments against the provider's own report, in both directions. Our side is what the ledger was told: top-ups, money in
 * suspense, refunds, disputes. Theirs are the lines of imported reports. Both are added up for each thing that they are
 * about, so that a refund that failed or a dispute that was won agrees too.
 */
export type MatchState =
  | 'matched'
  /** A line was told in two ways, and somebody accepted that. */
  | 'accepted'
  /** Too young to judge, or no report covers its time yet. */
  | 'waiting'
  /** No report covers its time, and none that continues the last one will. For the end of a period: nothing covers it yet. */
  | 'not_covered'
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
export const FAULTY = [
  'not_covered',
  'missing_here',
  'missing_there',
  'differs',
  'twice',
] as const satisfies MatchState[];

export interface MatchQuery {
  provider: ReportingProvider | null;
  /** Happened not before, and before: by the provider's time where it tells one. ISO 8601. */
  from: string | null;
  to: string | null;
  /** Null: whatever the state. */
  states: readonly MatchState[] | null;
  /** Judged as for a period that ends then, and only what is dated before it; left out: as of now. ISO 8601. */
  before?: string | null;
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
  /** A line of it said something else later, and nobody accepted that. */
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

const LATELY = '(SELECT at FROM lately)';

/** Each thing with what is compared together with it. */
const WITH_REFUNDS = `keys AS MATERIALIZED (
    SELECT provider, id FROM touched
    UNION SELECT l.provider, l.payment_id FROM touched k JOIN provider_report_lines l ON l.provider = k.provider
      AND l.subject_id = k.id AND l.type = 'refund' AND l.payment_id IS NOT NULL
    UNION SELECT l.provider, l.subject_id FROM touched k JOIN provider_report_lines l ON l.provider = k.provider
      AND l.payment_id = k.id AND l.type = 'refund'),`;

/**
 * What was touched on either side since $6, or lies in the time of a report that came since; and what is compared together with
 * it: money in suspense that went back, with the refund that the provider knows.
 */
const KEYS = `
  lately AS MATERIALIZED (
    SELECT least($6::timestamptz, min(lower(covers)) - interval '1 day') AS at FROM provider_reports
    WHERE finished_at >= $6::timestamptz AND holds IN ('all', 'activity') AND provider <> 'bank' AND NOT isempty(covers)),
  touched AS MATERIALIZED (
    SELECT provider, payment_id AS id FROM topups WHERE recorded_at >= ${LATELY}
    UNION SELECT provider, reference FROM suspense_items WHERE created_at >= ${LATELY} OR cleared_at >= ${LATELY}
    UNION SELECT t.provider, coalesce(r.provider_refund_id, r.id) FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
      WHERE r.ended_at >= ${LATELY}
    UNION SELECT provider, dispute_id FROM disputes WHERE opened_at >= ${LATELY} OR closed_at >= ${LATELY}
    UNION SELECT provider, subject_id FROM provider_report_lines WHERE recorded_at >= $6::timestamptz
    UNION SELECT provider, subject_id FROM provider_report_lines WHERE happened_at >= $6::timestamptz
    UNION SELECT l.provider, l.subject_id FROM provider_line_changes c JOIN provider_report_lines l ON l.id = c.line
      WHERE c.recorded_at >= $6::timestamptz
    UNION SELECT l.provider, l.subject_id FROM provider_line_acceptances a JOIN provider_report_lines l ON l.id = a.line
      WHERE a.recorded_at >= $6::timestamptz
    UNION SELECT l.provider, l.subject_id FROM suspense_items s JOIN provider_line_corrections x ON x.suspense_item_id = s.id
      JOIN provider_report_lines l ON l.id = x.line WHERE s.cleared_at >= $6::timestamptz),
  ${WITH_REFUNDS}`;

/** What a line is about: a refund that failed and a dispute that was won belong to what they undo. */
const KIND = `CASE l.type WHEN 'refund_failure' THEN 'refund' WHEN 'dispute_reversal' THEN 'dispute' ELSE l.type END`;

/** Everything, or what has one of the keys: looked up by its index, so that the rest is not read. */
interface Sources {
  keys: string;
  topups: string;
  lines: string;
  ours: string;
}

const WHOLE: Sources = { keys: '', topups: 'topups t', lines: 'provider_report_lines l', ours: '' };
const RECENT: Sources = {
  keys: KEYS,
  topups: 'keys k JOIN topups t ON t.provider = k.provider AND t.payment_id = k.id',
  lines: 'keys k JOIN provider_report_lines l ON l.provider = k.provider AND l.subject_id = k.id',
  ours: 'AND (provider, id) IN (SELECT provider, id FROM keys)',
};

/** Both sides, each added up for what it is about, side by side. */
const JUDGED = `
  named AS (
    SELECT l.id AS line, l.provider, l.line_id, coalesce(c.amount_minor, l.amount_minor) AS amount_minor, l.currency, l.happened_at,
      c.is_settled,
      CASE WHEN r.id IS NULL THEN l.kind ELSE 'return' END AS kind, coalesce(r.id, l.subject_id) AS id
    FROM lines l LEFT JOIN provider_line_words c ON c.line = l.id
    LEFT JOIN ours o ON o.provider = l.provider AND o.kind = l.kind AND o.id = l.subject_id
    LEFT JOIN ours r ON r.provider = l.provider AND r.kind = 'return' AND r.id = l.payment_id AND l.kind = 'refund'
      AND o.id IS NULL),
  theirs AS (
    SELECT n.provider, n.kind, n.id, sum(n.amount_minor) AS amount, min(n.currency) AS currency,
      count(DISTINCT n.currency) AS currencies, min(n.happened_at) AS at, array_agg(n.line_id ORDER BY n.line) AS line_ids,
      count(*) FILTER (WHERE n.amount_minor > 0) AS receipts, bool_or(NOT n.is_settled) AS changed, bool_or(n.is_settled) AS accepted
    FROM named n GROUP BY 1, 2, 3),
  pairs AS (
    SELECT provider, kind, id, coalesce(t.at, o.at) AS at, o.at AS our_at, t.at AS their_at, o.amount AS ours,
      t.amount AS theirs, o.currency AS our_currency, t.currency AS their_currency, o.txs, t.line_ids, o.things, t.receipts,
      coalesce(o.currencies, 1) = 1 AND coalesce(t.currencies, 1) = 1 AND o.currency = t.currency AS one_currency,
      coalesce(t.changed, false) AS changed, coalesce(t.accepted, false) AS accepted
    FROM ours o FULL JOIN theirs t USING (provider, kind, id)),
  judged AS (
    SELECT p.*, CASE
      WHEN p.changed THEN 'differs'
      WHEN kind = 'payment' AND things > 1 THEN 'twice'
      WHEN p.accepted AND (ours = theirs AND one_currency OR kind IN ('fee', 'payout', 'payout_failure')) THEN 'accepted'
      WHEN coalesce(ours, 0) = coalesce(theirs, 0) AND (one_currency OR ours IS NULL OR theirs IS NULL) THEN 'matched'
      WHEN ours IS NULL AND receipts > 1 AND kind = 'payment' THEN 'twice'
      WHEN ours IS NULL THEN CASE
        WHEN their_at > now() - $2::float8 * interval '1 millisecond' OR (kind = 'refund' AND EXISTS (
          SELECT FROM topup_refunds w WHERE w.provider_refund_id = p.id AND w.state = 'pending')) THEN 'waiting'
        ELSE 'missing_here' END
      WHEN theirs IS NULL THEN CASE
        WHEN r.covers @> tstzrange(our_at - interval '1 day', our_at, '[]') THEN 'missing_there'
        WHEN our_at < r.until OR our_at < $3::timestamptz THEN 'not_covered' ELSE 'waiting' END
      WHEN kind = 'payment' AND receipts > 1 THEN 'twice'
      ELSE 'differs' END AS state
    FROM pairs p LEFT JOIN reports r USING (provider)
    WHERE coalesce(ours, 0) <> 0 OR coalesce(theirs, 0) <> 0 OR p.changed OR p.accepted OR things > 1)`;

/**
 * $1 provider or null, $2 the grace in milliseconds, $3 the end of the period that is asked for, or null. Money in suspense that went back is a refund that the provider knows by
 * its payment; where we were told of that refund by its own name, the two cancel out. A report covers a posting when it covers
 * the day before it too: we may have heard of it late.
 */
const matchesOf = ({ keys, topups, lines, ours }: Sources): string => `WITH ${keys}
  reports AS (
    SELECT provider, range_agg(covers) AS covers, max(upper(covers)) AS until FROM provider_reports
    WHERE covers IS NOT NULL AND holds IN ('all', 'activity') AND provider <> 'bank' GROUP BY provider),
  refund_lines AS (
    SELECT l.provider, l.subject_id, max(l.payment_id) AS payment_id FROM ${lines}
    WHERE l.type = 'refund' AND ($1::text IS NULL OR l.provider = $1) GROUP BY 1, 2),
  corrections AS (
    SELECT x.suspense_item_id, l.subject_id, ${KIND} AS kind
    FROM provider_line_corrections x JOIN provider_report_lines l ON l.id = x.line WHERE x.suspense_item_id IS NOT NULL),
  our_parts AS (
    SELECT t.provider, 'payment' AS kind, t.payment_id AS id, t.paid_minor AS amount, t.currency, t.recorded_at AS at,
      t.transaction_id AS tx, 1 AS things
    FROM ${topups} LEFT JOIN suspense_items s ON s.topup_id = t.id WHERE s.id IS NULL
    UNION ALL
    SELECT s.provider, CASE WHEN x.kind IS NOT NULL THEN x.kind
        WHEN why IN ('unknown_refund', 'refund_failed') THEN 'refund'
        WHEN why = 'dispute_beyond_payment' THEN 'dispute' WHEN why = 'provider_adjustment' THEN 'adjustment' ELSE 'payment' END,
      coalesce(x.subject_id, reference), amount_minor, currency, created_at, transaction_id,
      CASE WHEN x.kind IS NULL THEN 1 ELSE 0 END
    FROM suspense_items s LEFT JOIN corrections x ON x.suspense_item_id = s.id
    UNION ALL
    SELECT s.provider, CASE WHEN x.kind IS NOT NULL THEN x.kind WHEN why = 'dispute_beyond_payment' THEN 'dispute' ELSE 'return' END,
      coalesce(x.subject_id, r.payment_id, s.reference), -s.amount_minor, s.currency, s.cleared_at, s.cleared_transaction_id, 0
    FROM suspense_items s LEFT JOIN corrections x ON x.suspense_item_id = s.id
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
    FROM our_parts WHERE ($1::text IS NULL OR provider = $1) AND provider <> 'manual' ${ours} GROUP BY 1, 2, 3),
  lines AS (
    SELECT l.*, ${KIND} AS kind
    FROM ${lines}
    WHERE ($1::text IS NULL OR l.provider = $1) AND (l.type <> 'adjustment' OR l.amount_minor <> 0)
      AND (l.type NOT IN ('fee', 'payout', 'payout_failure')
        OR EXISTS (SELECT FROM provider_line_changes c WHERE c.line = l.id))),
${JUDGED}`;

/** One thing alone, whose provider is $4 and whose id $5. */
const ONE: Sources = {
  ...RECENT,
  keys: `touched AS MATERIALIZED (SELECT $4::text AS provider, $5::text AS id), ${WITH_REFUNDS}`,
};

const MATCHES = matchesOf(WHOLE);
const RECENT_MATCHES = matchesOf(RECENT);

const RANGE = `($4::timestamptz IS NULL OR at >= $4::timestamptz) AND ($5::timestamptz IS NULL OR at < $5::timestamptz)
  AND ($6::text[] IS NULL OR state = ANY($6::text[])) AND ($3::timestamptz IS NULL OR least(our_at, their_at) < $3::timestamptz)`;

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
     WHERE ${RANGE} AND ($7::timestamptz IS NULL OR (at, provider, kind, id) > ($7::timestamptz, $8::text, $9::text, $10::text))
     ORDER BY at, provider, kind, id LIMIT $11`,
    [...valuesOf(query), ...(page.after ?? [null, null, null, null]), page.limit],
  );
  return rows.map(toItem);
}

const ITEM = `provider, kind, id, state, at::text, our_at::text AS "ourAt", their_at::text AS "theirAt", ours::text, theirs::text,
  our_currency AS "ourCurrency", their_currency AS "theirCurrency", txs::text[], line_ids AS "lineIds", changed,
  CASE WHEN abs(extract(epoch FROM our_at - their_at)) > 86400
    THEN floor(abs(extract(epoch FROM our_at - their_at)) / 86400)::int END AS "daysApart"`;

/**
 * What both sides make of what a line is about, by the words that hold: null where one knows nothing of it.
 * @param type of the line
 */
export async function readMatch(
  client: pg.ClientBase,
  { provider, type, subjectId }: { provider: ReportingProvider; type: LineType; subjectId: string },
): Promise<{ ours: bigint | null; theirs: bigint | null }> {
  const { rows } = await client.query<Record<'ours' | 'theirs', string | null>>(
    `${matchesOf(ONE)} SELECT ours::text, theirs::text FROM pairs
     WHERE provider = $4 AND id = $5 AND kind = (SELECT ${KIND} FROM (SELECT $6::text AS type) AS l)`,
    [provider, 0, null, provider, subjectId, type],
  );
  const { ours = null, theirs = null } = rows[0] ?? {};
  return { ours: ours === null ? null : BigInt(ours), theirs: theirs === null ? null : BigInt(theirs) };
}

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

/**
 * The items that a person must look at, of what either side dates before the time; and how many there are. With `since`, of
 * what was touched since then, or came to be covered by a report.
 */
export async function findFaultyMatches(
  client: pg.ClientBase,
  {
    graceMs,
    before,
    since,
    limit,
  }: { graceMs: number; before: string | null; since: string | null; limit: number },
): Promise<{ count: number; items: MatchedItem[] }> {
  const { rows } = await client.query<ItemRow & { count: number }>(
    `${since === null ? MATCHES : RECENT_MATCHES}
     SELECT ${ITEM}, (count(*) OVER ())::int AS count FROM judged
     WHERE state = ANY($4::text[]) AND ($3::timestamptz IS NULL OR least(our_at, their_at) < $3::timestamptz)
     ORDER BY judged.at, provider, kind, id LIMIT $5`,
    [null, graceMs, before, FAULTY, limit, ...(since === null ? [] : [since])],
  );
  return { count: rows[0]?.count ?? 0, items: rows.map(toItem) };
}

/** A provider whose last report ended too long ago, although it was paid through since. */
export interface OverdueReport {
  provider: ReportingProvider;
  /** Null: there was no report at all. Text of the database. */
  until: string | null;
  /** The first payment that no report covers. */
  firstAt: string;
}

/** The client's times must be of UTC. */
export async function findOverdueReports(client: pg.ClientBase, overdueMs: number): Promise<OverdueReport[]> {
  const { rows } = await client.query<OverdueReport>(
    `SELECT p.provider, r.until::text, first.at::text AS "firstAt" FROM (VALUES ('stripe'), ('sandbox')) AS p (provider)
     LEFT JOIN LATERAL (SELECT max(upper(covers)) AS until FROM provider_reports
       WHERE provider = p.provider AND holds IN ('all', 'activity') AND covers IS NOT NULL) AS r ON true
     CROSS JOIN LATERAL (SELECT min(recorded_at) AS at FROM topups
       WHERE provider = p.provider AND recorded_at >= coalesce(r.until, '-infinity')) AS first
     WHERE first.at IS NOT NULL AND coalesce(r.until, first.at) < now() - $1::float8 * interval '1 millisecond'
     ORDER BY 1`,
    [overdueMs],
  );
  return rows;
}

function valuesOf({ provider, graceMs, from, to, states, before = null }: MatchQuery): unknown[] {
  return [provider, graceMs, before, from, to, states];
}

function toItem(row: ItemRow): MatchedItem {
  const { provider, kind, id, state, at, daysApart, changed, ours, theirs } = row;
  return {
    provider,
    kind,
    id,
    state,
    at,
    daysApart,
    changed,
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
