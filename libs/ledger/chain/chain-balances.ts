import type pg from 'pg';
import { type ChainFinding, finding } from './chain-difference.js';

/** Balances as they are stored, which the chain does not seal, against the entries, which it does. */
const STORED_SQL = `
SELECT b.account_id AS account, v.purpose, v.ledger_id::text AS "ledgerId", v.stored::text, coalesce(s.total, 0)::text AS entries
FROM customer_balances b
CROSS JOIN LATERAL (VALUES ('main', main, main_ledger_id), ('held', held, held_ledger_id),
  ('invite', invite, invite_ledger_id), ('refund-pending', refund_pending, refund_pending_ledger_id))
  AS v (purpose, stored, ledger_id)
LEFT JOIN (SELECT ledger_account_id, sum(amount) AS total FROM ledger_entries GROUP BY 1) s ON s.ledger_account_id = v.ledger_id
WHERE v.stored <> coalesce(s.total, 0) ORDER BY v.ledger_id`;

/** The balance after each entry of a customer's account: that after the entry before, and its amount. */
const RUNNING_SQL = `
SELECT transaction_id::text AS "transactionId", ordinal::text, ledger_account_id::text AS "ledgerId",
  coalesce(balance_after::text, 'none') AS stored, expected::text FROM (
  SELECT e.*, coalesce(lag(balance_after) OVER w, 0) + amount AS expected FROM ledger_entries e
  JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.account_id IS NOT NULL
  WINDOW w AS (PARTITION BY ledger_account_id ORDER BY transaction_id, ordinal)) run
WHERE balance_after IS DISTINCT FROM expected ORDER BY ledger_account_id, transaction_id, ordinal`;

/** Names each balance that is not what the entries come to. Amounts are nanos of credit. */
export async function balanceFindings(client: pg.ClientBase): Promise<ChainFinding[]> {
  const stored =
    await client.query<Record<'account' | 'purpose' | 'ledgerId' | 'stored' | 'entries', string>>(STORED_SQL);
  const running =
    await client.query<Record<'transactionId' | 'ordinal' | 'ledgerId' | 'stored' | 'expected', string>>(
      RUNNING_SQL,
    );
  return [
    ...stored.rows.map(({ account, purpose, ledgerId, ...row }) => {
      const message = `The stored ${purpose} balance of account ${account} is ${row.stored} nanos; its entries sum to ${row.entries}.`;
      return finding('balance_differs', message, { ledgerAccountId: BigInt(ledgerId) });
    }),
    ...running.rows.map(({ transactionId, ordinal, ledgerId, ...row }) => {
      const message = `Entry ${ordinal} of transaction ${transactionId} leaves ${row.stored} nanos on ledger account ${ledgerId}; the entry before and its amount come to ${row.expected}.`;
      const about = { transactionId: BigInt(transactionId), ledgerAccountId: BigInt(ledgerId) };
      return finding('entry_balance_differs', message, about);
    }),
  ];
}
