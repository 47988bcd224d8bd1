import type { LedgerRule } from './ledger-rule.js';

/** The rules of postings that follow from costs, payment provider reports and the bank. */
export const providerChecks: readonly LedgerRule[] = [
  {
    invariant: 9,
    state: 'upstream_row_missing',
    message: 'a posting of upstream costs has no row behind it, or a row no posting',
    sql: `SELECT coalesce(p.id, b.id)::text AS transaction_id, p.kind, p.reference FROM (
            SELECT id, kind, reference FROM ledger_transactions WHERE kind IN ('upstream_cost', 'upstream_bill')) AS p
          FULL JOIN (SELECT transaction_id AS id, 'upstream_cost' AS kind FROM charge_costs WHERE transaction_id IS NOT NULL
            GROUP BY 1 UNION ALL SELECT transaction_id, 'upstream_bill' FROM upstream_bills WHERE transaction_id IS NOT NULL) AS b
            ON b.id = p.id AND b.kind = p.kind
          WHERE p.id IS NULL OR b.id IS NULL`,
  },
  {
    invariant: 9,
    state: 'report_row_missing',
    message: 'a posting of a report or of the bank has no row behind it, or a row no posting',
    sql: `WITH posted AS (SELECT id FROM ledger_transactions
            WHERE kind IN ('psp-fee', 'payout', 'payout-returned', 'bank-transfer', 'bank-transfer-undone',
              'report-line-change')),
          noted AS (
            SELECT transaction_id AS id FROM provider_line_postings WHERE kind <> 'suspense'
            UNION ALL SELECT transaction_id FROM provider_line_corrections WHERE transaction_id IS NOT NULL
            UNION ALL SELECT transaction_id FROM bank_matches WHERE transaction_id IS NOT NULL
            UNION ALL SELECT undone_transaction_id FROM bank_matches WHERE undone_transaction_id IS NOT NULL)
          SELECT coalesce(p.id, n.id)::text AS transaction_id FROM posted p FULL JOIN noted n USING (id)
          WHERE p.id IS NULL OR n.id IS NULL`,
  },
  {
    invariant: 9,
    state: 'line_posting_differs',
    message: 'fees and payouts of a line are not what was posted',
    sql: `SELECT l.provider, l.line_id, x.kind, sum(e.amount)::text AS posted FROM provider_line_postings x
          JOIN provider_report_lines l ON l.id = x.line
          JOIN ledger_entries e ON e.transaction_id = x.transaction_id
          JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.code LIKE 'psp:%'
          GROUP BY l.id, x.kind
          HAVING sum(e.amount) <> CASE WHEN x.kind <> 'psp-fee' THEN -l.amount_minor
            WHEN l.type = 'fee' THEN l.fee_minor - l.amount_minor ELSE l.fee_minor END`,
  },
  {
    invariant: 9,
    state: 'line_correction_differs',
    message: 'what a line was put right by is not what was posted',
    sql: `SELECT x.acceptance_id, x.transaction_id::text, sum(e.amount)::text AS posted FROM provider_line_corrections x
          JOIN ledger_entries e ON e.transaction_id = x.transaction_id
          JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.code LIKE 'psp:%'
          GROUP BY 1, 2, x.fee_minor, x.amount_minor HAVING sum(e.amount) <> x.fee_minor - x.amount_minor`,
  },
];
