import type { LedgerRule } from './ledger-rule.js';

/** Refunds of a charge by support, such as for failed work that had been charged. */
const GIVEN_BACK = `coalesce((SELECT sum(r.amount) FROM charge_refunds r WHERE r.charge_id = c.id), 0)`;

/** The rules of charges, their postings and the tasks that they pay for. */
export const chargeChecks: readonly LedgerRule[] = [
  {
    invariant: 5,
    state: 'held_differs',
    message: 'held is not the sum of the open holds',
    sql: `SELECT b.account_id, b.held::text, coalesce(c.open, 0)::text AS open FROM customer_balances b
          FULL JOIN (SELECT account_id, sum(amount) AS open FROM charges WHERE state = 'held' GROUP BY 1) c USING (account_id)
          WHERE coalesce(b.held, 0) <> coalesce(c.open, 0)`,
  },
  {
    invariant: 6,
    state: 'charge_posting_differs',
    message: 'a charge and its postings disagree',
    sql: `WITH posted AS (
            SELECT t.charge_id, sum(e.amount) FILTER (WHERE t.kind = 'hold' AND a.code LIKE '%:held') AS held,
              sum(e.amount) FILTER (WHERE a.code LIKE 'usage:%') AS used,
              sum(e.amount) FILTER (WHERE t.kind IN ('settle', 'release') AND a.code LIKE '%:main') AS back,
              count(DISTINCT t.id) FILTER (WHERE t.kind = 'hold') AS holds,
              count(DISTINCT t.id) FILTER (WHERE t.kind IN ('settle', 'release')) AS resolutions
            FROM ledger_transactions t
            JOIN ledger_entries e ON e.transaction_id = t.id
            JOIN ledger_accounts a ON a.id = e.ledger_account_id
            WHERE t.charge_id IS NOT NULL GROUP BY t.charge_id)
          SELECT coalesce(c.id, p.charge_id) AS charge_id, c.state, c.amount::text, c.settled::text, c.released::text,
            p.held::text AS posted_held, p.used::text AS posted_used, p.back::text AS posted_back
          FROM charges c FULL JOIN posted p ON p.charge_id = c.id
          WHERE c.id IS NULL
             OR coalesce(p.held, 0) <> CASE c.state WHEN 'refused' THEN 0 ELSE c.amount END
             OR coalesce(p.used, 0) <> coalesce(c.settled, 0)
             OR coalesce(p.back, 0) <> coalesce(c.released, 0)
             OR p.holds > 1 OR p.resolutions > 1`,
  },
  {
    invariant: 6,
    state: 'charge_refunds_differ',
    message: 'the refunds of a charge are more than it settled, or disagree with their postings',
    sql: `WITH given AS (
            SELECT charge_id, sum(amount) AS refunded, count(*) AS count FROM charge_refunds GROUP BY charge_id),
          posted AS (
            SELECT t.charge_id, sum(e.amount) FILTER (WHERE a.code LIKE '%:main') AS back,
              -sum(e.amount) FILTER (WHERE a.code = 'usage-refund') AS undone, count(DISTINCT t.id) AS count
            FROM ledger_transactions t
            JOIN ledger_entries e ON e.transaction_id = t.id
            JOIN ledger_accounts a ON a.id = e.ledger_account_id
            WHERE t.kind = 'charge_refund' GROUP BY t.charge_id)
          SELECT charge_id, c.settled::text, g.refunded::text, p.back::text AS posted FROM given g
          FULL JOIN posted p USING (charge_id) LEFT JOIN charges c ON c.id = charge_id
          WHERE c.state IS DISTINCT FROM 'settled' OR g.refunded > c.settled
            OR (g.refunded, g.refunded, g.count) IS DISTINCT FROM (p.back, p.undone, p.count)`,
  },
  {
    invariant: 7,
    state: 'ended_task_charge_differs',
    message: 'an ended task has no ended charge, or one that contradicts it',
    sql: `SELECT t.id AS task_id, t.state AS task, t.charge_id, c.state AS charge FROM tasks t
          LEFT JOIN charges c ON c.id = t.charge_id
          WHERE t.state IN ('completed', 'failed', 'refused') AND t.ended_at < $1
            AND (c.id IS NULL OR NOT CASE t.state
              WHEN 'completed' THEN c.state = 'settled'
              WHEN 'failed' THEN c.state IN ('released', 'refused') OR c.settled = ${GIVEN_BACK}
              ELSE c.state = 'refused' END)`,
  },
  {
    invariant: 7,
    state: 'task_of_charge_missing',
    message: 'a charge names a task that does not exist or has another charge',
    sql: `SELECT c.id AS charge_id, c.task_id FROM charges c LEFT JOIN tasks t ON t.id = c.task_id AND t.charge_id = c.id
          WHERE c.task_id IS NOT NULL AND t.id IS NULL`,
  },
  {
    invariant: 8,
    state: 'task_charge_differs',
    message: 'a failed task was charged, or a completed one not its price',
    sql: `SELECT t.id AS task_id, t.state AS task, c.amount::text, c.settled::text FROM tasks t
          JOIN charges c ON c.id = t.charge_id
          WHERE (t.state IN ('failed', 'refused') AND coalesce(c.settled, 0) <> ${GIVEN_BACK})
             OR (t.state = 'completed' AND c.state = 'settled' AND c.settled <> c.amount)`,
  },
];
