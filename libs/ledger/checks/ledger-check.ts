import type pg from 'pg';
import { adjustmentChecks, latePostingCheck } from './adjustment-check.js';
import { deferredCheck, lotChecks } from './lot-check.js';

export interface Violation {
  /** Number of the invariant that does not hold. */
  invariant: number;
  message: string;
  /** The offending rows, at most ROWS_SHOWN of them. */
  rows: Record<string, string | null>[];
}

export interface LedgerCheckResult {
  ok: boolean;
  violations: Violation[];
}

export interface LedgerCheckOptions {
  /** Work younger than this may still be in flight between a task's end and its charge's. */
  graceMs: number;
  /** Called before the first rule and after each one. */
  onProgress?: (done: number, total: number) => void;
  /** Checks inside the caller's own transaction instead of a snapshot of its own. */
  client?: pg.ClientBase;
}

/** Offending rows that a violation shows. */
export const ROWS_SHOWN = 20;

interface Check {
  invariant: number;
  message: string;
  /** Selects the offending rows as text columns; $1 is the time before which work must have come to rest. */
  sql: string;
}

const EXPECTED_AMOUNT = `coalesce(lines_amount(lines, multiplier), ceil(unit_price * multiplier * units * 1000000000))`;
const EXPECTED_USE = `coalesce(lines_amount(delivered_lines, multiplier),
  ceil(unit_price * multiplier * delivered_units * 1000000000), 0)`;

/** What support gave back of a charge: work that was charged and failed is put right so. */
const GIVEN_BACK = `coalesce((SELECT sum(r.amount) FROM charge_refunds r WHERE r.charge_id = c.id), 0)`;

/** Stored balances that their entries do not come to. */
export const STORED_BALANCES_SQL = `SELECT b.account_id, v.purpose, v.ledger_id::text AS ledger_account_id, v.stored::text, coalesce(s.total, 0)::text AS entries
FROM customer_balances b
CROSS JOIN LATERAL (VALUES ('main', main, main_ledger_id), ('held', held, held_ledger_id),
  ('invite', invite, invite_ledger_id), ('refund-pending', refund_pending, refund_pending_ledger_id))
  AS v (purpose, stored, ledger_id)
LEFT JOIN (SELECT ledger_account_id, sum(amount) AS total FROM ledger_entries GROUP BY 1) s
  ON s.ledger_account_id = v.ledger_id
WHERE v.stored <> coalesce(s.total, 0)`;

/** Entries of customers whose balance is not the one before and their amount. */
export const RUNNING_BALANCES_SQL = `SELECT transaction_id::text, ordinal::text, ledger_account_id::text, balance_after::text, expected::text FROM (
  SELECT e.*, coalesce(lag(balance_after) OVER w, 0) + amount AS expected FROM ledger_entries e
  JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.account_id IS NOT NULL
  WINDOW w AS (PARTITION BY ledger_account_id ORDER BY transaction_id, ordinal)) run
WHERE balance_after IS DISTINCT FROM expected`;

/**
 * The invariants as queries: each selects what violates it, so an empty answer is a clean ledger. They run on one
 * snapshot of a live database.
 */
const CHECKS: Check[] = [
  {
    invariant: 1,
    message: 'entries of a transaction do not sum to zero',
    sql: `SELECT transaction_id::text, commodity, sum(amount)::text AS sum FROM ledger_entries
          GROUP BY transaction_id, commodity HAVING sum(amount) <> 0`,
  },
  {
    invariant: 1,
    message: 'all ledger accounts of a commodity do not sum to zero',
    sql: `SELECT commodity, sum(amount)::text AS sum FROM ledger_entries GROUP BY commodity HAVING sum(amount) <> 0`,
  },
  {
    invariant: 1,
    message: 'an entry has no transaction, no ledger account, or another commodity than its account',
    sql: `SELECT e.transaction_id::text, e.ordinal::text, e.ledger_account_id::text FROM ledger_entries e
          LEFT JOIN ledger_transactions t ON t.id = e.transaction_id
          LEFT JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.commodity = e.commodity
          WHERE t.id IS NULL OR a.id IS NULL`,
  },
  {
    invariant: 1,
    message: 'a transaction has no entries',
    sql: `SELECT t.id::text, t.reference FROM ledger_transactions t
          WHERE NOT EXISTS (SELECT FROM ledger_entries e WHERE e.transaction_id = t.id)`,
  },
  {
    invariant: 2,
    message: 'a stored balance is not the sum of its entries',
    sql: STORED_BALANCES_SQL,
  },
  {
    invariant: 2,
    message: "an entry's balance is not the previous one plus its amount",
    sql: RUNNING_BALANCES_SQL,
  },
  {
    invariant: 3,
    message: 'a balance is below zero',
    sql: `SELECT account_id, main::text, held::text, invite::text FROM customer_balances
          WHERE (main < 0 AND NOT frozen) OR held < 0 OR invite < 0 OR refund_pending < 0`,
  },
  {
    invariant: 5,
    message: 'held is not the sum of the open holds',
    sql: `SELECT b.account_id, b.held::text, coalesce(c.open, 0)::text AS open FROM customer_balances b
          FULL JOIN (SELECT account_id, sum(amount) AS open FROM charges WHERE state = 'held' GROUP BY 1) c USING (account_id)
          WHERE coalesce(b.held, 0) <> coalesce(c.open, 0)`,
  },
  {
    invariant: 6,
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
    message: 'a charge names a task that does not exist or has another charge',
    sql: `SELECT c.id AS charge_id, c.task_id FROM charges c LEFT JOIN tasks t ON t.id = c.task_id AND t.charge_id = c.id
          WHERE c.task_id IS NOT NULL AND t.id IS NULL`,
  },
  {
    invariant: 8,
    message: 'a failed task was charged, or a completed one not its price',
    sql: `SELECT t.id AS task_id, t.state AS task, c.amount::text, c.settled::text FROM tasks t
          JOIN charges c ON c.id = t.charge_id
          WHERE (t.state IN ('failed', 'refused') AND coalesce(c.settled, 0) <> ${GIVEN_BACK})
             OR (t.state = 'completed' AND c.state = 'settled' AND c.settled <> c.amount)`,
  },
  {
    invariant: 1,
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
    message: 'deferred revenue is below zero',
    sql: `SELECT sum(e.amount)::text AS deferred FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
          WHERE a.code = 'deferred-revenue' HAVING sum(e.amount) < 0`,
  },
  {
    invariant: 2,
    message: 'refund-pending is not the sum of the pending refunds',
    sql: `SELECT b.account_id, b.refund_pending::text, coalesce(r.pending, 0)::text AS pending FROM customer_balances b
          LEFT JOIN (SELECT account_id, sum(credits) AS pending FROM topup_refunds WHERE state = 'pending' GROUP BY 1) r
            USING (account_id)
          WHERE b.refund_pending <> coalesce(r.pending, 0)`,
  },
  {
    invariant: 2,
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
    message: 'more of a lot left it than it held',
    sql: `SELECT l.id::text AS lot_id, l.credits::text, l.paid_minor::text, c.credits::text AS changed,
            c.paid_minor::text AS changed_minor FROM credit_lots l
          JOIN (SELECT lot_id, sum(credits) AS credits, sum(paid_minor) AS paid_minor FROM credit_lot_changes
            WHERE kind <> 'debt' GROUP BY 1) c ON c.lot_id = l.id
          WHERE c.credits NOT BETWEEN -l.credits AND 0 OR c.paid_minor NOT BETWEEN -l.paid_minor AND 0`,
  },
  { invariant: 1, message: deferredCheck.message, sql: deferredCheck.sql },
  ...lotChecks.map(({ message, sql }) => ({ invariant: 2, message, sql })),
  ...adjustmentChecks.map(({ message, sql }) => ({ invariant: 9, message, sql })),
  { invariant: 15, message: latePostingCheck.message, sql: latePostingCheck.sql },
  {
    invariant: 6,
    message: 'more of a top-up was reversed than was bought',
    sql: `SELECT t.id AS topup_id, t.credits::text, t.paid_minor::text, r.credits::text AS reversed, r.paid_minor::text AS reversed_minor
          FROM topups t JOIN (SELECT topup_id, sum(credits) AS credits, sum(paid_minor) AS paid_minor FROM (
              SELECT topup_id, credits, paid_minor FROM topup_refunds WHERE state <> 'failed'
              UNION ALL SELECT topup_id, credits, paid_minor FROM disputes WHERE state <> 'won') AS reversals
            GROUP BY 1) r ON r.topup_id = t.id
          WHERE r.credits > t.credits OR r.paid_minor > t.paid_minor`,
  },
  {
    invariant: 9,
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
    invariant: 9,
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
    message: 'what a line was put right by is not what was posted',
    sql: `SELECT x.acceptance_id, x.transaction_id::text, sum(e.amount)::text AS posted FROM provider_line_corrections x
          JOIN ledger_entries e ON e.transaction_id = x.transaction_id
          JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.code LIKE 'psp:%'
          GROUP BY 1, 2, x.fee_minor, x.amount_minor HAVING sum(e.amount) <> x.fee_minor - x.amount_minor`,
  },
  {
    invariant: 11,
    message: 'a payment is credited and in suspense as well',
    sql: `SELECT t.provider, t.payment_id FROM topups t JOIN suspense_items s ON s.provider = t.provider
            AND s.reference = t.payment_id AND s.amount_minor > 0
            AND s.why IN ('no_order', 'other_amount', 'other_currency', 'paid_twice')
          WHERE s.topup_id IS DISTINCT FROM t.id`,
  },
  {
    invariant: 11,
    message: 'an order and its top-up disagree',
    sql: `SELECT o.id AS order_id, o.state, t.id AS topup_id FROM topup_orders o LEFT JOIN topups t ON t.order_id = o.id
          WHERE (t.id IS NULL) <> (o.topup_id IS NULL) OR t.id <> o.topup_id OR t.account_id <> o.account_id
             OR t.credits <> o.credits OR t.paid_minor <> o.paid_minor OR t.currency <> o.currency OR t.rate <> o.rate
             OR t.provider <> o.provider OR t.payment_id <> o.payment_id`,
  },
  {
    invariant: 11,
    message: 'a reward is not a tenth of one of the first two top-ups',
    sql: `SELECT r.id AS reward_id, r.amount::text, f.ordinal::text, f.credits::text FROM invite_rewards r
          LEFT JOIN (SELECT id, account_id, credits, row_number() OVER (PARTITION BY account_id ORDER BY transaction_id) AS ordinal
            FROM topups) f ON f.id = r.topup_id AND f.account_id = r.invitee_account_id
          WHERE f.ordinal IS DISTINCT FROM r.ordinal OR r.amount <> f.credits / 10`,
  },
  {
    invariant: 11,
    message: 'more of a reward was taken back than was given',
    sql: `SELECT r.id AS reward_id, r.amount::text, sum(c.amount)::text AS clawed_back FROM invite_rewards r
          JOIN reward_clawbacks c ON c.reward_id = r.id GROUP BY 1, 2
          HAVING sum(c.amount) NOT BETWEEN 0 AND r.amount OR sum(c.taken) < 0`,
  },
  {
    invariant: 11,
    message: 'more was paid of rewards that are owed than is owed',
    sql: `SELECT account_id, owed::text FROM reward_debts WHERE owed < 0`,
  },
  {
    invariant: 12,
    message: 'recomputing a charge gives another amount',
    sql: `SELECT id AS charge_id, amount::text, ${EXPECTED_AMOUNT}::text AS recomputed FROM charges
          WHERE state <> 'refused' AND amount <> ${EXPECTED_AMOUNT}`,
  },
  {
    invariant: 12,
    message: 'recomputing a settlement gives another amount',
    sql: `SELECT id AS charge_id, settled::text, operator_loss::text, ${EXPECTED_USE}::text AS recomputed FROM charges
          WHERE state IN ('settled', 'released')
            AND (settled <> least(amount, ${EXPECTED_USE}) OR operator_loss <> ${EXPECTED_USE} - settled)`,
  },
  {
    invariant: 12,
    message: 'a charge was made with a version that was not in force',
    sql: `SELECT c.id AS charge_id, c.unit_price::text, c.multiplier::text, c.rule FROM charges c
          LEFT JOIN price_versions p ON p.id = c.price_version_id
          LEFT JOIN group_rule_versions r ON r.id = c.group_rule_version_id
          JOIN multiplier_versions m ON m.id = c.multiplier_version_id
          WHERE c.state <> 'refused' AND (
            (c.rule = 'list' AND (p.unit_price IS DISTINCT FROM c.unit_price
              OR (c.lines IS NOT NULL) <> (p.input_price IS NOT NULL)
              OR EXISTS (SELECT FROM jsonb_array_elements(c.lines) AS line WHERE (line ->> 'unitPrice')::numeric * 1000000
                IS DISTINCT FROM token_price(line ->> 'kind', p))
              OR p.effective_from > c.created_at
              OR m.multiplier IS DISTINCT FROM c.multiplier
              OR EXISTS (SELECT FROM price_versions n WHERE n.model_id = p.model_id
                AND n.effective_from > p.effective_from AND n.effective_from <= c.created_at)))
            OR (c.rule = 'fixed_per_call' AND (r.unit_price IS DISTINCT FROM c.unit_price OR r.effective_from > c.created_at))
            OR m.effective_from > c.created_at
            OR EXISTS (SELECT FROM multiplier_versions n WHERE n.group_name = m.group_name
                AND n.effective_from > m.effective_from AND n.effective_from <= c.created_at))`,
  },
];

/**
 * Verifies the invariants 1, 2, 3, 5, 6, 7, 8, 9, 11, 12 and some of 15 on one snapshot of a live database and names the offending rows.
 * Reads only; its time grows with the ledger.
 */
export async function checkLedger(pool: pg.Pool, options: LedgerCheckOptions): Promise<LedgerCheckResult> {
  if (options.client) return checkLedgerOn(options.client, options);
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return await checkLedgerOn(client, options);
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
    client.release();
  }
}

/** The same on the snapshot that the caller's transaction has. */
export async function checkLedgerOn(
  client: pg.ClientBase,
  { graceMs, onProgress }: Omit<LedgerCheckOptions, 'client'>,
): Promise<LedgerCheckResult> {
  const { rows } = await client.query<{ before: string }>(
    `SELECT (clock_timestamp() - $1::float8 * interval '1 millisecond')::text AS before`,
    [graceMs],
  );
  const before = rows[0]?.before ?? null;
  const violations: Violation[] = [];
  onProgress?.(0, CHECKS.length);
  for (const [index, { invariant, message, sql }] of CHECKS.entries()) {
    const found = await client.query<Violation['rows'][number]>(
      `${sql} LIMIT ${ROWS_SHOWN}`,
      sql.includes('$1') ? [before] : [],
    );
    if (found.rows.length > 0) violations.push({ invariant, message, rows: found.rows });
    onProgress?.(index + 1, CHECKS.length);
  }
  return { ok: violations.length === 0, violations };
}
