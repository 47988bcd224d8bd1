import type { RuleState } from './rule-state.js';

/** The rules of adjustments, write-offs and late postings, as queries that select violations, as text. */
export interface AdjustmentCheck {
  /** In snake_case, for findings. */
  readonly state: RuleState;
  readonly message: string;
  readonly sql: string;
}

const MADE = `
  SELECT id, account_id, amount, transaction_id, requested_by, approved_by, alone_limit, recorded_at,
    'adjustment:' || request_id AS reference, 'adjust:' || reason AS code,
    CASE WHEN reverses_id IS NULL THEN 'adjustment' ELSE 'adjustment-reversed' END AS kind FROM adjustments
  UNION ALL SELECT id, account_id, amount, transaction_id, requested_by, approved_by, alone_limit, recorded_at,
    'write-off:' || request_id, 'baddebt',
    CASE WHEN reverses_id IS NULL THEN 'write-off' ELSE 'write-off-reversed' END FROM write_offs`;

export const adjustmentChecks: readonly AdjustmentCheck[] = [
  {
    state: 'posting_differs',
    message: 'an adjustment or a write-off and its posting disagree',
    sql: `WITH posted AS (
            SELECT t.id, t.kind, t.reference, t.account_id, sum(e.amount) FILTER (WHERE a.code LIKE 'customer:%:main') AS main,
              string_agg(a.code, ',') FILTER (WHERE a.account_id IS NULL) AS code
            FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
            JOIN ledger_accounts a ON a.id = e.ledger_account_id
            WHERE t.kind IN ('adjustment', 'adjustment-reversed', 'write-off', 'write-off-reversed') GROUP BY t.id)
          SELECT coalesce(p.id, m.transaction_id)::text AS transaction_id, m.id AS adjustment_id,
            coalesce(m.account_id, p.account_id) AS account_id, p.kind, p.reference, m.amount::text, p.main::text AS posted
          FROM posted p FULL JOIN (${MADE}) m ON m.transaction_id = p.id
          WHERE (p.kind, p.account_id, p.main, p.code) IS DISTINCT FROM (m.kind, m.account_id, m.amount, m.code)`,
  },
  {
    state: 'reversal_differs',
    message: 'a reversal is not the linked opposite of its adjustment or write-off',
    sql: `WITH made AS (SELECT id, reverses_id, account_id, reason, amount, transaction_id FROM adjustments
            UNION ALL SELECT id, reverses_id, account_id, NULL, amount, transaction_id FROM write_offs)
          SELECT r.id AS adjustment_id, r.account_id, r.transaction_id::text, r.amount::text, a.amount::text AS reversed
          FROM made r JOIN made a ON a.id = r.reverses_id JOIN ledger_transactions t ON t.id = r.transaction_id
          WHERE (r.amount, r.account_id, r.reason, t.linked_id) IS DISTINCT FROM (-a.amount, a.account_id, a.reason, a.transaction_id)`,
  },
  {
    state: 'second_person_missing',
    message: 'one person adjusted an account by more in a day than one may alone, or it was not counted',
    sql: `SELECT id AS adjustment_id, account_id, transaction_id::text, sum::text AS alone, alone_limit::text FROM (
            SELECT id, account_id, transaction_id, alone_limit, sum(abs(amount)) OVER (PARTITION BY account_id
              ORDER BY recorded_at RANGE BETWEEN interval '1 day' PRECEDING AND CURRENT ROW) AS sum
            FROM (${MADE}) AS made WHERE approved_by IS NULL AND NOT EXISTS (SELECT FROM outflows o
              WHERE o.actor = made.requested_by AND o.reference = made.reference)) AS alone
          WHERE sum > alone_limit`,
  },
  {
    state: 'let_out_alone',
    message: 'one person let more go out in a day than one may alone',
    sql: `SELECT id::text AS outflow_id, actor, day::text, kind, reference, account_id, sum::text AS alone, alone_limit::text
          FROM (SELECT *, sum(amount) OVER (PARTITION BY actor, day, limit_name ORDER BY id) AS sum
            FROM outflows WHERE approved_by IS NULL) AS alone
          WHERE sum > alone_limit`,
  },
];

export const latePostingCheck: AdjustmentCheck = {
  state: 'late_posting_differs',
  message: 'a late posting did not happen in its period, or is effective inside it',
  sql: `SELECT l.transaction_id::text, l.period_id::text, l.happened_at::text, t.effective_at::text FROM late_postings l
        JOIN ledger_periods p ON p.id = l.period_id LEFT JOIN ledger_transactions t ON t.id = l.transaction_id
        WHERE t.id IS NULL OR l.happened_at < p.starts_at OR l.happened_at >= p.ends_at OR t.effective_at < p.ends_at`,
};
