import { KIND_OF_LINE, type Sources } from './sources.js';

/**
 * Payments in the lines of reports, added up as `theirs` for each subject. A refund of money in suspense uses its payment; if that
 * refund was reported under its own name, the two cancel out.
 */
export const theirSide = (sources: Sources): string => `
  lines AS (
    SELECT l.*, ${KIND_OF_LINE} AS kind
    FROM ${sources.lines}
    WHERE (:provider::text IS NULL OR l.provider = :provider) AND (l.type <> 'adjustment' OR l.amount_minor <> 0)
      AND (l.type NOT IN ('fee', 'payout', 'payout_failure')
        OR EXISTS (SELECT FROM provider_line_changes c WHERE c.line = l.id))),
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
    FROM named n GROUP BY n.id, n.kind, n.provider)`;
