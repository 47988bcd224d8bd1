/**
 * The verdict on one item that our books, a provider's reports or both know: one expression over only these columns.
 *
 * - `kind`, `ours`, `theirs`, `one_currency`: its type and the total of each side, null if a side does not know it
 * - `things`, `receipts`: how often our books have it, and how often the provider reports it
 * - `changed`, `accepted`: whether a line of it was reported in two ways, and whether someone accepted that
 * - `is_young`, `is_under_way`: whether the provider has just reported it, or we are still processing it
 * - `is_covered`, `is_due`: whether a report covers our time of it, or should by now
 */
export const VERDICT = `CASE
  WHEN changed THEN 'differs'
  WHEN kind = 'payment' AND things > 1 THEN 'twice'
  WHEN accepted AND (ours = theirs AND one_currency OR kind IN ('fee', 'payout', 'payout_failure')) THEN 'accepted'
  WHEN coalesce(ours, 0) = coalesce(theirs, 0) AND (one_currency OR ours IS NULL OR theirs IS NULL) THEN 'matched'
  WHEN ours IS NULL AND receipts > 1 AND kind = 'payment' THEN 'twice'
  WHEN ours IS NULL THEN CASE WHEN is_young OR is_under_way THEN 'waiting' ELSE 'missing_here' END
  WHEN theirs IS NULL THEN CASE
    WHEN is_covered THEN 'missing_there' WHEN is_due THEN 'not_covered' ELSE 'waiting' END
  WHEN kind = 'payment' AND receipts > 1 THEN 'twice'
  ELSE 'differs' END`;
