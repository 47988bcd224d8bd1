import type { LedgerRule } from './ledger-rule.js';

/** The rules of top-ups, their refunds and disputes, money in suspense, and rewards. */
export const moneyInChecks: readonly LedgerRule[] = [
  {
    invariant: 1,
    state: 'topup_differs',
    message: 'a top-up and its posting or its lot disagree',
    sql: `SELECT t.id AS topup_id, t.credits::text, t.paid_minor::text, p.main::text, p.deferred::text FROM topups t
          LEFT JOIN credit_lots l ON l.topup_id = t.id
          LEFT JOIN LATERAL (SELECT sum(e.amount) FILTER (WHERE a.code LIKE 'customer:%:main') AS main,
              sum(e.amount) FILTER (WHERE a.code = 'deferred-revenue') AS deferred
            FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
            WHERE e.transaction_id = t.transaction_id) p ON true
          WHERE p.main IS DISTINCT FROM t.credits OR p.deferred IS DISTINCT FROM t.paid_minor
             OR l.credits IS DISTINCT FROM t.credits OR l.paid_minor IS DISTINCT FROM t.paid_minor`,
  },
  {
    invariant: 1,
    state: 'below_zero',
    message: 'deferred revenue is below zero',
    sql: `SELECT sum(e.amount)::text AS deferred FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
          WHERE a.code = 'deferred-revenue' HAVING sum(e.amount) < 0`,
  },
  {
    invariant: 2,
    state: 'refund_pending_differs',
    message: 'refund-pending is not the sum of the pending refunds',
    sql: `SELECT b.account_id, b.refund_pending::text, coalesce(r.pending, 0)::text AS pending FROM customer_balances b
          LEFT JOIN (SELECT account_id, sum(credits) AS pending FROM topup_refunds WHERE state = 'pending' GROUP BY 1) r
            USING (account_id)
          WHERE b.refund_pending <> coalesce(r.pending, 0)`,
  },
  {
    invariant: 2,
    state: 'suspense_differs',
    message: 'suspense is not the sum of the open items',
    sql: `SELECT coalesce(s.code, i.code) AS code, s.total::text, i.total::text AS items
          FROM (SELECT a.code, sum(e.amount) AS total FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id
            WHERE a.code LIKE 'suspense:pay%' GROUP BY 1) s
          FULL JOIN (SELECT coalesce(own.code, 'suspense:pay') AS code, sum(n.amount_minor) AS total FROM suspense_items n
            LEFT JOIN ledger_accounts own ON own.code = 'suspense:pay:' || n.currency WHERE n.state = 'open' GROUP BY 1) i
            USING (code)
          WHERE coalesce(s.total, 0) <> coalesce(i.total, 0)`,
  },
  {
    invariant: 3,
    state: 'lot_overdrawn',
    message: 'more of a lot left it than it held',
    sql: `SELECT l.id::text AS lot_id, l.credits::text, l.paid_minor::text, c.credits::text AS changed,
            c.paid_minor::text AS changed_minor FROM credit_lots l
          JOIN (SELECT lot_id, sum(credits) AS credits, sum(paid_minor) AS paid_minor FROM credit_lot_changes
            WHERE kind <> 'debt' GROUP BY 1) c ON c.lot_id = l.id
          WHERE c.credits NOT BETWEEN -l.credits AND 0 OR c.paid_minor NOT BETWEEN -l.paid_minor AND 0`,
  },
  {
    invariant: 6,
    state: 'topup_over_reversed',
    message: 'more of a top-up was reversed than was bought',
    sql: `WITH parts AS (SELECT id, credits AS bought, paid_minor AS paid, 0 AS credits, 0 AS paid_minor FROM topups
            UNION ALL SELECT topup_id, 0, 0, credits, paid_minor FROM topup_refunds WHERE state <> 'failed'
            UNION ALL SELECT topup_id, 0, 0, credits, paid_minor FROM disputes WHERE state <> 'won')
          SELECT coalesce(t.continues, t.id) AS topup_id, sum(p.bought)::text AS credits, sum(p.paid)::text AS paid_minor,
            sum(p.credits)::text AS reversed, sum(p.paid_minor)::text AS reversed_minor
          FROM parts p JOIN topups t ON t.id = p.id GROUP BY 1, t.account_id
          HAVING sum(p.credits) > sum(p.bought) OR sum(p.paid_minor) > sum(p.paid)`,
  },
  {
    invariant: 9,
    state: 'money_in_row_missing',
    message: 'a posting of money in has no row behind it, or a row no posting',
    sql: `WITH posted AS (SELECT id, kind, reference FROM ledger_transactions WHERE kind IN ('topup', 'invite-reward',
            'invite-transfer', 'topup-refund', 'topup-refunded', 'topup-refund-returned', 'chargeback', 'chargeback-won',
            'reward-clawback', 'reward-returned', 'suspense', 'suspense-returned', 'suspense-expensed')),
          behind AS (SELECT transaction_id AS id FROM topups
            UNION ALL SELECT transaction_id FROM invite_rewards UNION ALL SELECT transaction_id FROM invite_transfers
            UNION ALL SELECT transaction_id FROM topup_refunds UNION ALL SELECT ended_transaction_id FROM topup_refunds
            UNION ALL SELECT transaction_id FROM disputes UNION ALL SELECT reversal_transaction_id FROM disputes
            UNION ALL SELECT transaction_id FROM reward_clawbacks UNION ALL SELECT transaction_id FROM reward_debt_payments UNION ALL SELECT transaction_id FROM suspense_items
            UNION ALL SELECT cleared_transaction_id FROM suspense_items WHERE state IN ('returned', 'expensed'))
          SELECT coalesce(p.id, b.id)::text AS transaction_id, p.kind, p.reference, count(b.id)::text AS rows FROM posted p
          FULL JOIN behind b ON b.id = p.id WHERE coalesce(p.id, b.id) IS NOT NULL
          GROUP BY 1, 2, 3 HAVING count(b.id) <> 1 OR count(p.id) <> 1`,
  },
  {
    invariant: 11,
    state: 'credited_and_in_suspense',
    message: 'a payment is credited and in suspense as well',
    sql: `SELECT t.provider, t.payment_id FROM topups t JOIN suspense_items s ON s.provider = t.provider
            AND s.reference = t.payment_id AND s.amount_minor > 0
            AND s.why IN ('no_order', 'other_amount', 'other_currency', 'paid_twice')
          WHERE s.topup_id IS DISTINCT FROM t.id`,
  },
  {
    invariant: 11,
    state: 'order_differs',
    message: 'an order and its top-up disagree',
    sql: `SELECT o.id AS order_id, o.state, t.id AS topup_id FROM topup_orders o LEFT JOIN topups t ON t.order_id = o.id
          WHERE (t.id IS NULL) <> (o.topup_id IS NULL) OR t.id <> o.topup_id OR t.account_id <> o.account_id
             OR t.credits <> o.credits OR t.paid_minor <> o.paid_minor OR t.currency <> o.currency OR t.rate <> o.rate
             OR t.provider <> o.provider OR t.payment_id <> o.payment_id`,
  },
  {
    invariant: 11,
    state: 'reward_differs',
    message: 'a reward is not a tenth of one of the first two top-ups',
    sql: `SELECT r.id AS reward_id, r.amount::text, f.ordinal::text, f.credits::text FROM invite_rewards r
          LEFT JOIN (SELECT id, account_id, credits, row_number() OVER (PARTITION BY account_id ORDER BY transaction_id) AS ordinal
            FROM topups WHERE continues IS NULL) f ON f.id = r.topup_id AND f.account_id = r.invitee_account_id
          WHERE f.ordinal IS DISTINCT FROM r.ordinal OR r.amount <> f.credits / 10`,
  },
  {
    invariant: 11,
    state: 'reward_over_clawed',
    message: 'more of a reward was taken back than was given',
    sql: `SELECT r.id AS reward_id, r.amount::text, sum(c.amount)::text AS clawed_back FROM invite_rewards r
          JOIN reward_clawbacks c ON c.reward_id = r.id GROUP BY 1, 2
          HAVING sum(c.amount) NOT BETWEEN 0 AND r.amount OR sum(c.taken) < 0`,
  },
  {
    invariant: 11,
    state: 'reward_debt_overpaid',
    message: 'more was paid of rewards that are owed than is owed',
    sql: `SELECT account_id, owed::text FROM reward_debts WHERE owed < 0`,
  },
];
