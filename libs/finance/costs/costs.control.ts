import type { Control } from '../control.js';
import { findItems, iso } from '../controls/found-items.js';
import { costFaults } from '../found-states.js';

const upc = (column: string): string => `trim_scale(${column} * 0.000000001)::text || ' UPC'`;

/** $1: what ended before is no longer in progress; $2: only what happened before. */
const UNKNOWN = `
SELECT 'cost:' || channel_id || ':' || model_id AS subject, 'unknown_cost' AS state,
  jsonb_build_object('channel', channel_id, 'model', model_id, 'charges', count(*)::text, 'since', ${iso('min(ended_at)')}) AS details,
  min(charge_id) AS charge_id, '{}'::bigint[] AS transaction_ids
FROM unknown_costs WHERE ended_at < $1 AND ended_at < $2 GROUP BY channel_id, model_id`;

/** Costs that should have been recorded by now. */
const BEHIND = `
SELECT 'costs:progress', 'behind',
  jsonb_build_object('told_to', CASE WHEN isfinite(p.through) THEN ${iso('p.through')} END, 'charges', count(*)::text,
    'since', ${iso('min(c.resolved_at)')}), NULL, '{}'::bigint[]
FROM cost_progress p JOIN charges c ON c.resolved_at >= p.through AND c.resolved_at < $1 AND c.resolved_at < $2
WHERE c.channel_id IS NOT NULL GROUP BY p.through`;

/** Compares ended charges with recorded costs, one by one and in both directions. */
const CHARGES = `
SELECT 'charge:' || coalesce(c.id, k.charge_id), CASE WHEN c.id IS NULL THEN 'cost_without_charge'
    WHEN k.charge_id IS NULL THEN 'cost_missing' ELSE 'differs' END,
  jsonb_build_object('charge', coalesce(c.id, k.charge_id), 'charge_state', c.state, 'channel', coalesce(c.channel_id, k.channel_id),
    'model', coalesce(c.model_id, k.model_id), 'ended_at', ${iso('c.resolved_at')}, 'cost', ${upc('k.cost')}, 'outcome', k.outcome),
  coalesce(c.id, k.charge_id), array_remove(ARRAY[k.transaction_id], NULL)
FROM (SELECT * FROM charges WHERE state IN ('settled', 'released') AND resolved_at < $2
    AND (channel_id IS NOT NULL OR id IN (SELECT charge_id FROM late_deliveries WHERE recorded_at < $1)) AND resolved_at < (SELECT through FROM cost_progress)) AS c
FULL JOIN (SELECT * FROM charge_costs WHERE outcome <> 'late' AND ended_at < $2) AS k ON k.charge_id = c.id
WHERE CASE
  WHEN c.id IS NULL THEN NOT EXISTS (SELECT FROM charges x WHERE x.id = k.charge_id AND x.state = 'released')
  WHEN k.charge_id IS NULL THEN NOT EXISTS (SELECT FROM unknown_costs u WHERE u.charge_id = c.id)
    AND NOT EXISTS (SELECT FROM charge_costs l WHERE l.charge_id = c.id)
  ELSE (c.state = 'settled') <> (k.outcome = 'delivered') OR c.channel_id <> k.channel_id OR c.resolved_at <> k.ended_at END`;

/** Compares costs and bills with the upstream accounts, posting by posting. Each channel of a posting is one line. */
const POSTINGS = `
SELECT 'transaction:' || transaction_id, CASE WHEN posted.id IS NULL THEN 'posting_missing'
    WHEN recorded.kind IS NULL THEN 'row_missing' ELSE 'differs' END,
  jsonb_build_object('transaction', transaction_id::text, 'kind', coalesce(recorded.kind, posted.kind), 'channel', channel,
    'expense', ${upc('recorded.expense')}, 'expense_posted', ${upc('posted.expense')}, 'failed', ${upc('recorded.failed')},
    'failed_posted', ${upc('posted.failed')}, 'accrued', ${upc('recorded.accrued')}, 'accrued_posted', ${upc('posted.accrued')},
    'payable', ${upc('recorded.payable')}, 'payable_posted', ${upc('posted.payable')}, 'day', recorded.day::text,
    'effective_at', ${iso('posted.effective_at')}), NULL, ARRAY[transaction_id]
FROM (SELECT transaction_id, channel_id AS channel, 'upstream_cost' AS kind, sum(cost) FILTER (WHERE outcome = 'delivered') AS expense,
    sum(cost) FILTER (WHERE outcome <> 'delivered') AS failed, sum(cost) AS accrued, NULL::numeric AS payable,
    min(day) AS day, max(day) AS last_day
  FROM charge_costs WHERE transaction_id IS NOT NULL GROUP BY 1, 2
  UNION ALL SELECT transaction_id, channel_id, 'upstream_bill', amount - accrued, 0, -accrued, amount, NULL, NULL
  FROM upstream_bills WHERE transaction_id IS NOT NULL) AS recorded
FULL JOIN (SELECT t.id, t.id AS transaction_id, t.kind, t.effective_at, split_part(a.code, ':', CASE a.kind WHEN 'expense' THEN 3 ELSE 2 END) AS channel,
    -sum(e.amount) FILTER (WHERE a.code LIKE 'expense:upstream:%') AS expense,
    -sum(e.amount) FILTER (WHERE a.code LIKE 'expense:upstream-failed:%') AS failed,
    sum(e.amount) FILTER (WHERE a.code LIKE 'accrued-upstream:%') AS accrued,
    sum(e.amount) FILTER (WHERE a.code LIKE 'payable:%') AS payable
  FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id JOIN ledger_transactions t ON t.id = e.transaction_id
  WHERE a.commodity = 'UPC' AND (a.code LIKE 'expense:upstream%' OR a.code LIKE 'accrued-upstream:%' OR a.code LIKE 'payable:%')
  GROUP BY 1, 2, 3, 4, 5) AS posted USING (transaction_id, channel)
WHERE coalesce(posted.effective_at, '-infinity') < $2
  AND ((coalesce(recorded.expense, 0), coalesce(recorded.failed, 0), coalesce(recorded.accrued, 0), coalesce(recorded.payable, 0))
      IS DISTINCT FROM (coalesce(posted.expense, 0), coalesce(posted.failed, 0), coalesce(posted.accrued, 0), coalesce(posted.payable, 0))
    OR recorded.kind IS DISTINCT FROM posted.kind
    OR (recorded.day <> (posted.effective_at AT TIME ZONE 'UTC')::date OR recorded.last_day <> recorded.day))`;

const MESSAGES: Record<string, string> = {
  unknown_cost:
    'The cost of this model on this channel is not known; set it, and the waiting charges get their cost.',
  behind: 'Charges ended whose costs are not recorded yet: cost accrual is behind, or not running.',
  cost_without_charge: 'A cost was recorded for a charge that does not exist or has not ended.',
  cost_missing: 'The charge ended before the time that costs are recorded through, and has none.',
  posting_missing: 'Costs or a bill name a posting that does not exist.',
  row_missing: 'A posting moved the accounts of an upstream, and no cost or bill is behind it.',
};

/** Every charge that reached an upstream must have its cost, and every cost its posting. */
export const costsControl: Control = {
  id: 'costs',
  title: 'Upstream costs',
  explanation:
    'Every charge that ended on a channel needs a cost, and costs and bills must equal the balances of the upstream accounts. Set missing costs.',
  states: [...costFaults, 'differs'],
  every: 'day',
  check: (client, { before, graceMs, limit }) =>
    findItems(client, {
      sql: [UNKNOWN, BEHIND, CHARGES, POSTINGS]
        .join(' UNION ALL ')
        .replaceAll('$1', `(SELECT clock_timestamp() - $1::float8 * interval '1 ms')`)
        .replaceAll('$2', '$2::timestamptz'),
      values: [graceMs, before ?? 'infinity'],
      limit,
      messageOf: ({ subject, state }) => MESSAGES[state] ?? `${subject} and its posting disagree.`,
    }),
};
