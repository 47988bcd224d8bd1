import { VERDICT } from './match-verdict.js';
import { ourSide } from './our-side.js';
import type { Sources } from './sources.js';
import { theirSide } from './their-side.js';

/**
 * Both sides next to each other as `pairs`, and what is made of each as `judged`: the head of a query. It names `provider` (or
 * null), `graceMs`, `before` (the end of the requested period, or null) and what its sources name. A report covers a posting if it
 * also covers the day before, because we may have learned of it late.
 */
export const judgedPairs = (sources: Sources): string => `WITH ${sources.keys}
  reports AS (
    SELECT provider, range_agg(covers) AS covers, max(upper(covers)) AS until FROM provider_reports
    WHERE covers IS NOT NULL AND holds IN ('all', 'activity') AND provider <> 'bank' GROUP BY provider),
${ourSide(sources)},
${theirSide(sources)},
  pairs AS (
    SELECT provider, kind, id, coalesce(t.at, o.at) AS at, o.at AS our_at, t.at AS their_at, o.amount AS ours,
      t.amount AS theirs, o.currency AS our_currency, t.currency AS their_currency, o.txs, t.line_ids, o.things, t.receipts,
      coalesce(o.currencies, 1) = 1 AND coalesce(t.currencies, 1) = 1 AND o.currency = t.currency AS one_currency,
      coalesce(t.changed, false) AS changed, coalesce(t.accepted, false) AS accepted
    FROM ours o FULL JOIN theirs t USING (id, kind, provider)),
  facts AS (
    SELECT p.*, their_at > now() - :graceMs::float8 * interval '1 millisecond' AS is_young,
      kind = 'refund' AND EXISTS (
        SELECT FROM topup_refunds w WHERE w.provider_refund_id = p.id AND w.state = 'pending') AS is_under_way,
      r.covers @> tstzrange(our_at - interval '1 day', our_at, '[]') AS is_covered,
      our_at < r.until OR our_at < :before::timestamptz AS is_due
    FROM pairs p LEFT JOIN reports r USING (provider)
    WHERE coalesce(ours, 0) <> 0 OR coalesce(theirs, 0) <> 0 OR changed OR accepted OR things > 1),
  judged AS (SELECT facts.*, ${VERDICT} AS state FROM facts)`;
