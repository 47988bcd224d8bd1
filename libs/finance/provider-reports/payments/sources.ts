/** The subject of a line: failed refunds and won disputes belong to what they undo. */
export const KIND_OF_LINE = `CASE l.type WHEN 'refund_failure' THEN 'refund' WHEN 'dispute_reversal' THEN 'dispute' ELSE l.type END`;

const LATELY = '(SELECT at FROM lately)';

/** Each thing with what is compared together with it: the payment of a refund, and all refunds of that payment. */
const WITH_REFUNDS = `with_payments AS MATERIALIZED (
    SELECT provider, id FROM touched
    UNION SELECT l.provider, l.payment_id FROM touched k JOIN provider_report_lines l ON l.provider = k.provider
      AND l.subject_id = k.id AND l.type = 'refund' AND l.payment_id IS NOT NULL),
  keys AS MATERIALIZED (
    SELECT provider, id FROM with_payments
    UNION SELECT l.provider, l.subject_id FROM with_payments k JOIN provider_report_lines l ON l.provider = k.provider
      AND l.payment_id = k.id AND l.type = 'refund'),`;

/**
 * What changed on either side since :since, or is covered by a report that arrived since; and what is compared with it, such as
 * returned money in suspense and the refund that the provider knows.
 */
const KEYS = `
  lately AS MATERIALIZED (
    SELECT least(:since::timestamptz, min(lower(covers)) - interval '1 day') AS at FROM provider_reports
    WHERE finished_at >= :since::timestamptz AND holds IN ('all', 'activity') AND provider <> 'bank' AND NOT isempty(covers)),
  touched AS MATERIALIZED (
    SELECT provider, payment_id AS id FROM topups WHERE recorded_at >= ${LATELY}
    UNION SELECT provider, reference FROM suspense_items WHERE created_at >= ${LATELY} OR cleared_at >= ${LATELY}
    UNION SELECT t.provider, t.payment_id FROM suspense_items s JOIN disputes d ON d.provider = s.provider AND d.dispute_id = s.reference
      JOIN topups t ON t.id = d.topup_id WHERE s.why IN ('dispute_after_deletion', 'dispute_won') AND s.cleared_at >= ${LATELY}
    UNION SELECT provider, payment_id FROM suspense_items WHERE payment_id IS NOT NULL AND cleared_at >= ${LATELY}
    UNION SELECT t.provider, coalesce(r.provider_refund_id, r.id) FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
      WHERE r.ended_at >= ${LATELY}
    UNION SELECT provider, dispute_id FROM disputes WHERE opened_at >= ${LATELY} OR closed_at >= ${LATELY}
    UNION SELECT provider, subject_id FROM provider_report_lines WHERE recorded_at >= :since::timestamptz
    UNION SELECT provider, subject_id FROM provider_report_lines WHERE happened_at >= :since::timestamptz
    UNION SELECT l.provider, l.subject_id FROM provider_line_changes c JOIN provider_report_lines l ON l.id = c.line
      WHERE c.recorded_at >= :since::timestamptz
    UNION SELECT l.provider, l.subject_id FROM provider_line_acceptances a JOIN provider_report_lines l ON l.id = a.line
      WHERE a.recorded_at >= :since::timestamptz
    UNION SELECT l.provider, l.subject_id FROM suspense_items s JOIN provider_line_corrections x ON x.suspense_item_id = s.id
      JOIN provider_report_lines l ON l.id = x.line WHERE s.cleared_at >= :since::timestamptz),
  ${WITH_REFUNDS}`;

/** Everything, or only what has one of the keys, found by index so that the rest is not read. */
export interface Sources {
  keys: string;
  topups: string;
  lines: string;
  ours: string;
}

export const WHOLE: Sources = { keys: '', topups: 'topups t', lines: 'provider_report_lines l', ours: '' };
/** What was touched since `:since`. */
export const RECENT: Sources = {
  keys: KEYS,
  topups: 'keys k JOIN topups t ON t.provider = k.provider AND t.payment_id = k.id',
  lines: 'keys k JOIN provider_report_lines l ON l.provider = k.provider AND l.subject_id = k.id',
  ours: 'AND (provider, id) IN (SELECT provider, id FROM keys)',
};

/** A single thing, with what is compared together with it. */
export const ONE: Sources = {
  ...RECENT,
  keys: `touched AS MATERIALIZED (SELECT :provider::text AS provider, :id::text AS id), ${WITH_REFUNDS}`,
};
