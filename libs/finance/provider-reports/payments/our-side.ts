import { KIND_OF_LINE, type Sources } from './sources.js';

/** A bank gave back what it took. What people end together with its payment makes the refund of that smaller. */
const IS_WON = `(s.why = 'dispute_beyond_payment' OR s.why = 'payment_disputed' AND s.cleared_by = 'system')`;

/** Money in suspense, refunds and disputes. */
const OTHERS = `UNION ALL
  SELECT s.provider, CASE WHEN x.kind IS NOT NULL THEN x.kind
      WHEN why IN ('unknown_refund', 'refund_failed') THEN 'refund'
      WHEN why IN ('payment_disputed', 'dispute_beyond_payment', 'dispute_after_deletion', 'dispute_won') THEN 'dispute'
      WHEN why = 'provider_adjustment' THEN 'adjustment' ELSE 'payment' END,
    coalesce(x.subject_id, reference), amount_minor, currency, created_at, transaction_id,
    CASE WHEN x.kind IS NULL AND why NOT IN ('dispute_after_deletion', 'dispute_won') THEN 1 ELSE 0 END
  FROM suspense_items s LEFT JOIN corrections x ON x.suspense_item_id = s.id
  UNION ALL
  SELECT s.provider, CASE WHEN x.kind IS NOT NULL THEN x.kind WHEN ${IS_WON} THEN 'dispute' ELSE 'return' END,
    coalesce(x.subject_id, CASE WHEN NOT ${IS_WON} THEN coalesce(r.payment_id, p.payment_id, s.payment_id) END, s.reference), -s.amount_minor, s.currency, s.cleared_at, s.cleared_transaction_id, 0
  FROM suspense_items s LEFT JOIN corrections x ON x.suspense_item_id = s.id
  LEFT JOIN refund_lines r ON r.provider = s.provider AND r.subject_id = s.reference AND s.why IN ('unknown_refund', 'refund_failed')
  LEFT JOIN disputes d ON d.provider = s.provider AND d.dispute_id = s.reference AND s.why IN ('dispute_after_deletion', 'dispute_won')
  LEFT JOIN topups p ON p.id = d.topup_id
  WHERE s.state = 'returned'
  UNION ALL
  SELECT t.provider, 'refund', coalesce(r.provider_refund_id, r.id), -r.paid_minor, t.currency, r.ended_at,
    r.ended_transaction_id, 1
  FROM topup_refunds r JOIN topups t ON t.id = r.topup_id WHERE r.state = 'succeeded'
  UNION ALL
  SELECT d.provider, 'dispute', d.dispute_id, -d.paid_minor, t.currency, d.opened_at, d.transaction_id, 1
  FROM disputes d JOIN topups t ON t.id = d.topup_id WHERE d.credits > 0 OR d.paid_minor > 0
  UNION ALL
  SELECT d.provider, 'dispute', d.dispute_id, d.paid_minor, t.currency, d.closed_at, d.reversal_transaction_id, 0
  FROM disputes d JOIN topups t ON t.id = d.topup_id WHERE d.reversal_transaction_id IS NOT NULL`;

/**
 * Payments in our books: top-ups, money in suspense, refunds and disputes, added up as `ours` for each subject. Money in suspense
 * that went back is a refund that the provider knows by its payment.
 */
export const ourSide = (sources: Sources): string => `
  refund_lines AS (
    SELECT l.provider, l.subject_id, max(l.payment_id) AS payment_id FROM ${sources.lines}
    WHERE l.type = 'refund' AND (:provider::text IS NULL OR l.provider = :provider) GROUP BY 1, 2),
  corrections AS (
    SELECT x.suspense_item_id, l.subject_id, ${KIND_OF_LINE} AS kind
    FROM provider_line_corrections x JOIN provider_report_lines l ON l.id = x.line WHERE x.suspense_item_id IS NOT NULL),
  our_parts AS (
    SELECT t.provider, 'payment' AS kind, t.payment_id AS id, t.paid_minor AS amount, t.currency, t.recorded_at AS at,
      t.transaction_id AS tx, 1 AS things
    FROM ${sources.topups} LEFT JOIN suspense_items s ON s.topup_id = t.id WHERE s.id IS NULL
    ${OTHERS}),
  ours AS (
    SELECT provider, kind, id, sum(amount) AS amount, min(currency) AS currency, count(DISTINCT currency) AS currencies,
      min(at) AS at, array_remove(array_agg(tx ORDER BY tx), NULL) AS txs, sum(things) AS things
    FROM our_parts WHERE (:provider::text IS NULL OR provider = :provider) AND provider <> 'manual' ${sources.ours} GROUP BY id, kind, provider)`;
