import type { Control } from '../control.js';
import { crd, findItems } from './found-items.js';

const WRONG = `
SELECT 'account:' || account_id AS subject,
  CASE WHEN main < 0 THEN 'not_frozen' ELSE 'frozen_without_debt' END AS state,
  jsonb_build_object('account', account_id, 'main', ${crd('main')}, 'frozen_reason', frozen_reason) AS details,
  NULL AS charge_id, ARRAY(SELECT e.transaction_id FROM ledger_entries e WHERE e.ledger_account_id = main_ledger_id
    ORDER BY e.transaction_id DESC LIMIT 1) AS transaction_ids
FROM customer_balances
WHERE (main < 0 AND NOT frozen) OR (main >= 0 AND frozen AND frozen_reason = 'debt')`;

/** A debt must freeze its account, and only while it exists. */
export const frozenAccountsControl: Control = {
  id: 'frozen-accounts',
  title: 'Accounts in debt',
  explanation: 'Accounts in debt must be frozen, and no account may be frozen for a debt that was paid.',
  states: ['not_frozen', 'frozen_without_debt'],
  check: (client, { limit }) =>
    findItems(client, {
      sql: WRONG,
      values: [],
      limit,
      messageOf: ({ subject, state }) =>
        state === 'not_frozen'
          ? `${subject} owes and is not frozen.`
          : `${subject} is frozen for a debt that is gone.`,
    }),
};
