import type { Control } from '../control.js';
import { crd, findItems } from '../controls/found-items.js';

/** $1: only what happened before. */
const DAYS = `
WITH charged AS (
  SELECT (resolved_at AT TIME ZONE 'UTC')::date AS day, sum(settled) AS gross FROM charges WHERE resolved_at < $1 GROUP BY 1),
refunded AS (
  SELECT (t.effective_at AT TIME ZONE 'UTC')::date AS day, sum(r.amount) AS refunds
  FROM charge_refunds r JOIN ledger_transactions t ON t.id = r.transaction_id WHERE t.effective_at < $1 GROUP BY 1),
posted AS (
  SELECT (t.effective_at AT TIME ZONE 'UTC')::date AS day, sum(e.amount) FILTER (WHERE a.code <> 'usage-refund') AS gross,
    -sum(e.amount) FILTER (WHERE a.code = 'usage-refund') AS refunds
  FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id JOIN ledger_transactions t ON t.id = e.transaction_id
  WHERE (a.code LIKE 'usage:%' OR a.code = 'usage-refund') AND t.effective_at < $1 GROUP BY 1),
costs AS (SELECT day, sum(cost) AS cost FROM charge_costs GROUP BY 1),
books AS (
  SELECT day, coalesce(c.gross, 0) AS gross, coalesce(r.refunds, 0) AS refunds, coalesce(p.gross, 0) AS gross_posted,
    coalesce(p.refunds, 0) AS refunds_posted, coalesce(k.cost, 0) AS cost
  FROM charged c FULL JOIN refunded r USING (day) FULL JOIN posted p USING (day) FULL JOIN costs k USING (day)),
summed AS (
  SELECT s.day, coalesce(sum(gross), 0) AS gross, coalesce(sum(refunds), 0) AS refunds, coalesce(sum(cost + failed_cost), 0) AS cost
  FROM revenue_summary_days s LEFT JOIN revenue_days d ON d.day = s.day
  WHERE (s.day + 1)::timestamp AT TIME ZONE 'UTC' <= $1 GROUP BY 1)
SELECT 'day:' || day AS subject, 'differs' AS state,
  jsonb_build_object('day', day::text, 'gross', ${crd('gross')}, 'gross_posted', ${crd('gross_posted')},
    'refunds', ${crd('refunds')}, 'refunds_posted', ${crd('refunds_posted')}) AS details,
  NULL AS charge_id, '{}'::bigint[] AS transaction_ids
FROM books WHERE (gross, refunds) IS DISTINCT FROM (gross_posted, refunds_posted)
UNION ALL
SELECT 'summary:' || s.day, 'summary_differs',
  jsonb_build_object('day', s.day::text, 'gross', ${crd('coalesce(b.gross, 0)')}, 'gross_stored', ${crd('s.gross')},
    'refunds', ${crd('coalesce(b.refunds, 0)')}, 'refunds_stored', ${crd('s.refunds')}, 'cost', ${crd('coalesce(b.cost, 0)')},
    'cost_stored', ${crd('s.cost')}), NULL, '{}'::bigint[]
FROM summed s LEFT JOIN books b USING (day)
WHERE (s.gross, s.refunds, s.cost) IS DISTINCT FROM (coalesce(b.gross, 0), coalesce(b.refunds, 0), coalesce(b.cost, 0))`;

/** Compares revenue by charges with the revenue accounts, day by day. */
export const revenueControl: Control = {
  id: 'revenue',
  title: 'Revenue',
  explanation:
    'For each UTC day, charges minus refunds must equal the movements of the revenue accounts, and stored summaries must equal both.',
  states: ['differs', 'summary_differs'],
  every: 'day',
  check: (client, { before, limit }) =>
    findItems(client, {
      sql: DAYS.replaceAll('$1', '$1::timestamptz'),
      values: [before ?? 'infinity'],
      limit,
      messageOf: ({ state, details }) =>
        state === 'summary_differs'
          ? `What is stored of ${details['day']} is not the sum of its charges.`
          : `The charges of ${details['day']} do not add up to what the revenue accounts moved.`,
    }),
};
