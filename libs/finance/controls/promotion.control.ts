import type { Control } from '../control.js';
import { crd, findItems } from './found-items.js';

/**
 * The effect of rewards, claw-backs and transfers on invite balances and on promotion, each with the posting that should match
 * it. `promo` and `invite` are the amounts that those ledger accounts must have; positive is a credit.
 */
const BOOK = `
SELECT 'reward:' || id AS subject, inviter_account_id AS account_id, -amount AS promo, amount AS invite, transaction_id
FROM invite_rewards
UNION ALL SELECT 'clawback:' || c.reversal, r.inviter_account_id, c.taken, c.from_main - c.taken, c.transaction_id
FROM reward_clawbacks c JOIN invite_rewards r ON r.id = c.reward_id WHERE c.taken <> 0
UNION ALL SELECT 'reward-debt:' || id, account_id, amount, from_main - amount, transaction_id FROM reward_debt_payments
UNION ALL SELECT 'invite-transfer:' || account_id || ':' || request_id, account_id, 0, -amount, transaction_id
FROM invite_transfers`;

/** $1: only what is effective before. */
const WRONG = `
WITH book AS (
  SELECT b.* FROM (${BOOK}) AS b LEFT JOIN ledger_transactions t ON t.id = b.transaction_id
  WHERE t.id IS NULL OR t.effective_at < $1::timestamptz),
posted AS (
  SELECT e.transaction_id, sum(e.amount) FILTER (WHERE a.code = 'issued:promo') AS promo,
    sum(e.amount) FILTER (WHERE e.ledger_account_id = b.invite_ledger_id) AS invite
  FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
  LEFT JOIN customer_balances b ON b.account_id = a.account_id
  WHERE e.transaction_id IN (SELECT transaction_id FROM book) GROUP BY 1),
on_promo AS (
  SELECT e.transaction_id, sum(e.amount) AS promo FROM ledger_entries e
  JOIN ledger_transactions t ON t.id = e.transaction_id AND t.effective_at < $1::timestamptz
  WHERE e.ledger_account_id = (SELECT id FROM ledger_accounts WHERE code = 'issued:promo') GROUP BY 1)
SELECT b.subject, 'differs' AS state,
  jsonb_build_object('account', b.account_id, 'given_away', ${crd('-b.promo')}, 'given_away_posted', ${crd('-coalesce(p.promo, 0)')},
    'invite', ${crd('b.invite')}, 'invite_posted', ${crd('coalesce(p.invite, 0)')}) AS details,
  NULL AS charge_id, ARRAY[b.transaction_id] AS transaction_ids
FROM book b LEFT JOIN posted p USING (transaction_id)
WHERE (b.promo, b.invite) IS DISTINCT FROM (coalesce(p.promo, 0), coalesce(p.invite, 0))
UNION ALL
SELECT 'transaction:' || o.transaction_id, 'missing_here',
  jsonb_build_object('given_away_posted', ${crd('-o.promo')}), NULL, ARRAY[o.transaction_id]
FROM on_promo o WHERE NOT EXISTS (SELECT FROM book b WHERE b.transaction_id = o.transaction_id)
UNION ALL
SELECT 'account:' || account_id, 'differs',
  jsonb_build_object('account', account_id, 'invite', ${crd('coalesce(s.invite, 0)')}, 'invite_balance', ${crd('b.invite')}),
  NULL, '{}'::bigint[]
FROM customer_balances b FULL JOIN (SELECT account_id, sum(invite) AS invite FROM (${BOOK}) AS all_of_it GROUP BY 1) AS s
  USING (account_id)
WHERE $1::timestamptz = 'infinity' AND coalesce(b.invite, 0) <> coalesce(s.invite, 0)`;

export const promotionControl: Control = {
  id: 'promotion',
  title: 'Promotion cost',
  explanation:
    'Movements of issued:promo must equal rewards minus reversals, posting by posting. Invite balances must equal rewards minus reversals and transfers.',
  states: ['differs', 'missing_here'],
  check: (client, { before, limit }) =>
    findItems(client, {
      sql: WRONG,
      values: [before ?? 'infinity'],
      limit,
      messageOf: ({ subject, state }) => {
        if (state === 'missing_here')
          return `${subject} moved issued:promo, and is no reward and no claw-back.`;
        if (subject.startsWith('account:'))
          return `The invite balance of ${subject} is not what its rewards make.`;
        return `${subject} and its posting disagree.`;
      },
    }),
};
