import type pg from 'pg';

/** An account that is in debt or frozen. Amounts are nanos. */
export interface Debtor {
  accountId: string;
  name: string;
  main: bigint;
  isFrozen: boolean;
  reason: string | null;
  /** When the balance fell below 0, or when someone froze it manually. Null if not recorded. */
  since: Date | null;
  disputes: { provider: string; disputeId: string; state: 'open' | 'lost'; credits: string }[];
  /** Clawed-back rewards that had already been spent. */
  owedRewards: bigint;
  writtenOff: bigint;
  /** The posting that took the balance below 0. */
  transactionId: bigint | null;
}

export interface DebtTotals {
  accounts: number;
  frozen: number;
  /** The total of negative balances, as a positive number. */
  debt: bigint;
  owedRewards: bigint;
}

const CONCERNED = `SELECT b.* FROM customer_balances b WHERE b.frozen OR b.main < 0`;
const OWED = 'SELECT account_id, owed FROM reward_debts';

const DEBTORS = `SELECT b.account_id AS "accountId", a.name, b.main, b.frozen AS "isFrozen", b.frozen_reason AS reason,
    coalesce(fell.at, CASE WHEN b.main >= 0 THEN frozen.at END) AS since, fell.id AS "transactionId",
    coalesce((SELECT jsonb_agg(jsonb_build_object('provider', d.provider, 'disputeId', d.dispute_id, 'state', d.state,
        'credits', d.credits::text) ORDER BY d.opened_at)
      FROM disputes d WHERE d.account_id = b.account_id AND d.state <> 'won'), '[]') AS disputes,
    coalesce(o.owed, 0) AS "owedRewards",
    coalesce((SELECT sum(w.amount)::bigint FROM write_offs w WHERE w.account_id = b.account_id), 0) AS "writtenOff"
  FROM (${CONCERNED}) AS b JOIN accounts a ON a.id = b.account_id
  LEFT JOIN (${OWED}) AS o ON o.account_id = b.account_id
  LEFT JOIN LATERAL (SELECT t.id, t.effective_at AS at FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
    WHERE b.main < 0 AND e.ledger_account_id = b.main_ledger_id AND e.transaction_id > coalesce(
      (SELECT p.transaction_id FROM ledger_entries p WHERE p.ledger_account_id = b.main_ledger_id AND p.balance_after >= 0
       ORDER BY p.transaction_id DESC, p.ordinal DESC LIMIT 1), 0)
    ORDER BY e.transaction_id, e.ordinal LIMIT 1) AS fell ON true
  LEFT JOIN LATERAL (SELECT l.recorded_at AS at FROM audit_log l WHERE l.subject = 'account:' || b.account_id
    AND l.action = 'account.frozen' ORDER BY l.id DESC LIMIT 1) AS frozen ON true
  WHERE $2::text IS NULL OR b.account_id > $2 ORDER BY b.account_id LIMIT $1`;

export async function readDebtors(
  client: pg.ClientBase,
  { limit, afterId }: { limit: number; afterId: string | null },
): Promise<Debtor[]> {
  const { rows } = await client.query<Debtor>(DEBTORS, [limit, afterId]);
  return rows;
}

export async function readDebtTotals(client: pg.ClientBase): Promise<DebtTotals> {
  const { rows } = await client.query<DebtTotals>(
    `SELECT count(*)::int AS accounts, count(*) FILTER (WHERE frozen)::int AS frozen,
       coalesce(-sum(main) FILTER (WHERE main < 0), 0)::bigint AS debt,
       (SELECT coalesce(sum(owed), 0)::bigint FROM (${OWED}) AS o) AS "owedRewards"
     FROM (${CONCERNED}) AS b`,
  );
  return rows[0] as DebtTotals;
}
