import type { LedgerRule } from './ledger-rule.js';

/** Stored balances that differ from the sum of their entries. */
export const STORED_BALANCES_SQL = `SELECT b.account_id, v.purpose, v.ledger_id::text AS ledger_account_id, v.stored::text, coalesce(s.total, 0)::text AS entries
FROM customer_balances b
CROSS JOIN LATERAL (VALUES ('main', main, main_ledger_id), ('held', held, held_ledger_id),
  ('invite', invite, invite_ledger_id), ('refund-pending', refund_pending, refund_pending_ledger_id))
  AS v (purpose, stored, ledger_id)
LEFT JOIN (SELECT ledger_account_id, sum(amount) AS total FROM ledger_entries GROUP BY 1) s
  ON s.ledger_account_id = v.ledger_id
WHERE v.stored <> coalesce(s.total, 0)`;

/** Entries of customers whose balance is not the previous one plus their amount. */
export const RUNNING_BALANCES_SQL = `SELECT transaction_id::text, ordinal::text, ledger_account_id::text, balance_after::text, expected::text FROM (
  SELECT e.*, coalesce(lag(balance_after) OVER w, 0) + amount AS expected FROM ledger_entries e
  JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.account_id IS NOT NULL
  WINDOW w AS (PARTITION BY ledger_account_id ORDER BY transaction_id, ordinal)) run
WHERE balance_after IS DISTINCT FROM expected`;

export const balanceChecks: readonly LedgerRule[] = [
  {
    invariant: 1,
    state: 'entries_unbalanced',
    message: 'entries of a transaction do not sum to zero',
    sql: `SELECT transaction_id::text, commodity, sum(amount)::text AS sum FROM ledger_entries
          GROUP BY transaction_id, commodity HAVING sum(amount) <> 0`,
  },
  {
    invariant: 1,
    state: 'commodity_unbalanced',
    message: 'all ledger accounts of a commodity do not sum to zero',
    sql: `SELECT commodity, sum(amount)::text AS sum FROM ledger_entries GROUP BY commodity HAVING sum(amount) <> 0`,
  },
  {
    invariant: 1,
    state: 'entry_broken',
    message: 'an entry has no transaction, no ledger account, or another commodity than its account',
    sql: `SELECT e.transaction_id::text, e.ordinal::text, e.ledger_account_id::text FROM ledger_entries e
          LEFT JOIN ledger_transactions t ON t.id = e.transaction_id
          LEFT JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.commodity = e.commodity
          WHERE t.id IS NULL OR a.id IS NULL`,
  },
  {
    invariant: 1,
    state: 'entries_missing',
    message: 'a transaction has no entries',
    sql: `SELECT t.id::text, t.reference FROM ledger_transactions t
          WHERE NOT EXISTS (SELECT FROM ledger_entries e WHERE e.transaction_id = t.id)`,
  },
  {
    invariant: 2,
    state: 'stored_balance_differs',
    message: 'a stored balance is not the sum of its entries',
    sql: STORED_BALANCES_SQL,
  },
  {
    invariant: 2,
    state: 'running_balance_differs',
    message: "an entry's balance is not the previous one plus its amount",
    sql: RUNNING_BALANCES_SQL,
  },
  {
    invariant: 3,
    state: 'balance_below_zero',
    message: 'a balance is below zero',
    sql: `SELECT account_id, main::text, held::text, invite::text FROM customer_balances
          WHERE (main < 0 AND NOT frozen) OR held < 0 OR invite < 0 OR refund_pending < 0`,
  },
];
