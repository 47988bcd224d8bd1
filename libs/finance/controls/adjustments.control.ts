import { adjustmentChecks } from '#ledger/checks/adjustment-check.js';
import type { Control } from '../control.js';
import { crd, findItems } from './found-items.js';

const BROKEN = adjustmentChecks
  .map(
    ({
      state,
      sql,
    }) => `SELECT coalesce('adjustment:' || (f.row ->> 'adjustment_id'), 'transaction:' || (f.row ->> 'transaction_id'),
        'outflow:' || (f.row ->> 'outflow_id')) AS subject, '${state}' AS state, f.row AS details, (f.row ->> 'transaction_id')::bigint AS transaction_id
    FROM (SELECT to_jsonb(broken) AS row FROM (${sql}) AS broken) AS f`,
  )
  .join(' UNION ALL ');

/** The command line needs no session. In the console the second signature comes from an approval. */
const UNSIGNED = `
SELECT 'adjustment:' || m.id, 'approval_missing', jsonb_build_object('account_id', m.account_id, 'amount', ${crd('m.amount')},
  'requested_by', m.requested_by, 'approved_by', m.approved_by), m.transaction_id
FROM (SELECT id, account_id, amount, requested_by, approved_by, request_id, transaction_id FROM adjustments
  UNION ALL SELECT id, account_id, amount, requested_by, approved_by, request_id, transaction_id FROM write_offs) AS m
WHERE m.approved_by IS NOT NULL AND NOT EXISTS (SELECT FROM approvals a WHERE a.account_id = m.account_id
  AND a.state = 'approved' AND a.request_id = m.request_id AND 'user:' || a.requested_by = m.requested_by
  AND 'user:' || a.decided_by = m.approved_by)`;

const MESSAGES = new Map([
  ...adjustmentChecks.map(({ state, message }): [string, string] => [state, `${message}.`]),
  ['approval_missing', 'a second person is named who did not approve it.'],
]);

/** Each adjustment and write-off must have its posting, its ticket and the required people, and each posting its row. */
export const adjustmentsControl: Control = {
  id: 'adjustments',
  title: 'Adjustments and write-offs',
  explanation:
    'Each adjustment and write-off must match its posting, can only be reversed by its exact opposite, and must have been approved by a second person where required.',
  states: [...adjustmentChecks.map(({ state }) => state), 'approval_missing'],
  check: (client, { before, limit }) =>
    findItems(client, {
      sql: `SELECT f.subject, f.state, f.details, NULL AS charge_id, ARRAY[f.transaction_id] AS transaction_ids
        FROM (${BROKEN} UNION ALL ${UNSIGNED}) AS f LEFT JOIN ledger_transactions t ON t.id = f.transaction_id
        WHERE t.id IS NULL OR t.effective_at < $1::timestamptz`,
      values: [before ?? 'infinity'],
      limit,
      messageOf: ({ subject, state }) => `${subject}: ${MESSAGES.get(state) ?? state}`,
    }),
};
