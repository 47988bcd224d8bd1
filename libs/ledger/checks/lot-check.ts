import type { RuleState } from './rule-state.js';

/**
 * The rules of lots and deferred revenue, as queries that select violations, as text. The stored states follow from append-only
 * rows and the ledger's entries, each up to its account's cursor.
 */
export interface LotCheck {
  /** In snake_case, for findings. */
  readonly state: RuleState;
  readonly message: string;
  readonly sql: string;
}

/** What each lot was bought with, and what had left it at its cursor. */
const EXPECTED_LOTS = `
  SELECT l.id, l.account_id, l.credits + coalesce(c.credits, 0) AS credits, l.paid_minor + coalesce(c.paid_minor, 0) AS paid_minor,
    coalesce(u.credits, 0) AS used, coalesce(u.minor, 0) AS recognised
  FROM credit_lots l JOIN lot_cursors k ON k.account_id = l.account_id AND l.transaction_id <= k.through_id
  LEFT JOIN (SELECT c.lot_id, sum(c.credits) AS credits, sum(c.paid_minor) AS paid_minor
    FROM credit_lot_changes c JOIN credit_lots l ON l.id = c.lot_id
    JOIN lot_cursors k ON k.account_id = l.account_id AND c.transaction_id <= k.through_id
    WHERE c.kind <> 'debt' GROUP BY 1) c ON c.lot_id = l.id
  LEFT JOIN (SELECT lot_id, sum(credits) AS credits, sum(minor) AS minor FROM lot_uses GROUP BY 1) u ON u.lot_id = l.id`;

export const lotChecks: readonly LotCheck[] = [
  {
    state: 'lot_differs',
    message: 'a lot is not what was bought, less what left it, or not used as its uses say',
    sql: `SELECT coalesce(e.id, s.lot_id)::text AS lot_id, coalesce(e.account_id, s.account_id) AS account_id,
            s.credits::text, e.credits::text AS expected_credits, s.paid_minor::text, e.paid_minor::text AS expected_paid_minor,
            s.used::text, e.used::text AS expected_used, s.recognised_minor::text, e.recognised::text AS expected_recognised
          FROM (${EXPECTED_LOTS}) e FULL JOIN lot_states s ON s.lot_id = e.id
          WHERE (s.account_id, s.credits, s.paid_minor, s.used, s.recognised_minor)
            IS DISTINCT FROM (e.account_id, e.credits, e.paid_minor, e.used, e.recognised)`,
  },
  {
    state: 'recognised_differs',
    message: 'what is recognised of a lot is not its payment in proportion to its use, rounded down',
    sql: `SELECT lot_id::text, account_id, credits::text, paid_minor::text, used::text, recognised_minor::text FROM lot_states
          WHERE recognised_minor <> CASE credits WHEN 0 THEN paid_minor
            ELSE div(paid_minor::numeric * used, credits) END`,
  },
  {
    state: 'unused_differs',
    message:
      'the unused credits of an account, less what was used beyond them, are not its main and held balances',
    sql: `SELECT k.account_id, k.through_id::text, coalesce(s.unused, 0)::text AS unused, coalesce(n.unmet, 0)::text AS unmet,
            coalesce(e.balance, 0)::text AS main_and_held
          FROM lot_cursors k
          LEFT JOIN (SELECT account_id, sum(credits - used) AS unused FROM lot_states GROUP BY 1) s USING (account_id)
          LEFT JOIN (SELECT account_id, sum(credits) AS unmet FROM lot_unmet GROUP BY 1) n USING (account_id)
          JOIN customer_balances b USING (account_id)
          CROSS JOIN LATERAL (SELECT sum(last.balance_after) AS balance FROM (VALUES (b.main_ledger_id), (b.held_ledger_id)) AS of (id)
            CROSS JOIN LATERAL (SELECT e.balance_after FROM ledger_entries e
              WHERE e.ledger_account_id = of.id AND e.transaction_id <= k.through_id
              ORDER BY e.transaction_id DESC, e.ordinal DESC LIMIT 1) AS last) AS e
          WHERE coalesce(s.unused, 0) - coalesce(n.unmet, 0) <> coalesce(e.balance, 0)`,
  },
  {
    state: 'credits_idle',
    message: 'an account has unused credits beside uses that no credit covered',
    sql: `SELECT DISTINCT n.account_id, s.lot_id::text, n.use_id::text FROM lot_unmet n
          JOIN lot_states s ON s.account_id = n.account_id AND s.used < s.credits`,
  },
  {
    state: 'stuck',
    message: 'the lots of an account cannot be brought further: what follows contradicts what was before',
    sql: `SELECT account_id, through_id::text, stuck AS reason FROM lot_cursors WHERE stuck IS NOT NULL`,
  },
  {
    state: 'never_played',
    message: 'recognition went past a lot without playing it',
    sql: `SELECT l.account_id, l.id::text AS lot_id, l.transaction_id::text FROM credit_lots l CROSS JOIN lot_progress p
          LEFT JOIN lot_cursors k ON k.account_id = l.account_id
          WHERE l.transaction_id <= p.through_id AND k.stuck IS NULL AND coalesce(k.through_id, 0) < l.transaction_id`,
  },
  {
    state: 'posting_differs',
    message: 'a recognition is not the sum of the uses that it recognises',
    sql: `WITH posted AS (
            SELECT t.id, a.code, e.amount FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
            JOIN ledger_accounts a ON a.id = e.ledger_account_id
            WHERE t.kind = 'recognition' AND a.code <> 'deferred-revenue'),
          used AS (
            SELECT recognition_id AS id, CASE purpose WHEN 'debt' THEN 'expense:chargeback-loss' ELSE 'revenue:' || purpose END AS code,
              sum(minor) AS amount FROM lot_uses WHERE minor <> 0 GROUP BY 1, 2)
          SELECT id::text AS transaction_id, code, p.amount::text, u.amount::text AS expected FROM posted p
          FULL JOIN used u USING (id, code) WHERE coalesce(p.amount, 0) <> coalesce(u.amount, 0)`,
  },
  {
    state: 'day_sums_differ',
    message: 'what is summed up for a day is not what its uses come to',
    sql: `WITH plain AS (
            SELECT day, sum(credits) AS credits, sum(minor) AS minor FROM (
              SELECT (effective_at AT TIME ZONE 'UTC')::date AS day, sum(credits) AS credits, 0 AS minor FROM lot_uses GROUP BY 1
              UNION ALL SELECT (t.effective_at AT TIME ZONE 'UTC')::date, 0, u.minor
                FROM (SELECT recognition_id AS id, sum(minor) AS minor FROM lot_uses GROUP BY 1) u
                JOIN ledger_transactions t ON t.id = u.id) AS sums GROUP BY day),
          summed AS (SELECT day, sum(credits) AS credits, sum(minor) AS minor FROM lot_day_sums GROUP BY 1)
          SELECT day::text, s.credits::text, p.credits::text AS expected_credits, s.minor::text, p.minor::text AS expected_minor
          FROM plain p FULL JOIN summed s USING (day)
          WHERE (coalesce(p.credits, 0), coalesce(p.minor, 0)) <> (coalesce(s.credits, 0), coalesce(s.minor, 0))`,
  },
];

/** Deferred revenue is what was paid for lots, minus what left them and what was recognised. It includes pending refunds. */
export const deferredCheck: LotCheck = {
  state: 'deferred_differs',
  message: 'deferred revenue is not what the lots have left of their payments',
  sql: `SELECT posted::text AS deferred, (bought + changed - recognised + pending)::text AS expected, bought::text, changed::text,
          recognised::text, pending::text FROM (
          SELECT (SELECT coalesce(sum(e.amount), 0) FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id
              WHERE a.code = 'deferred-revenue') AS posted,
            (SELECT coalesce(sum(paid_minor), 0) FROM credit_lots) AS bought,
            (SELECT coalesce(sum(paid_minor), 0) FROM credit_lot_changes WHERE kind <> 'debt') AS changed,
            (SELECT coalesce(sum(minor), 0) FROM lot_day_sums) AS recognised,
            (SELECT coalesce(sum(paid_minor), 0) FROM topup_refunds WHERE state = 'pending') AS pending) AS sums
        WHERE posted <> bought + changed - recognised + pending`,
};
