/**
 * What is made of one thing that our books, a provider's reports, or both know of: one expression over these columns, and
 * over nothing else.
 *
 * - `kind`, `ours`, `theirs`, `one_currency`: what it is, and what each side adds up to; null where a side knows nothing
 * - `things`, `receipts`: how often we hold it, and how often the provider says that it came
 * - `changed`, `accepted`: a line of it was reported in two ways, and whether someone accepted that
 * - `is_young`, `is_under_way`: the provider reported it just now, or we are at work on it
 * - `is_covered`, `is_due`: a report covers our time of it, or should by now
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
