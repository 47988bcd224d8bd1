import type pg from 'pg';
import type { Nanos } from '#money/amount.js';

export interface StatementLine {
  transactionId: bigint;
  at: Date;
  kind: string;
  reference: string;
  chargeId: string | null;
  balance: 'main' | 'held' | 'invite' | 'refund-pending';
  /** Positive amounts add to the balance. */
  amount: Nanos;
  balanceAfter: Nanos;
}

export interface StatementQuery {
  limit: number;
  /** Only lines of earlier transactions. */
  beforeId?: bigint;
}

const NEWEST_LINES = `SELECT e.transaction_id AS "transactionId", t.effective_at AS at, t.kind, t.reference, t.charge_id AS "chargeId",
    split_part(a.code, ':', 3) AS balance, e.amount, e.balance_after AS "balanceAfter"
  FROM ledger_accounts a
  JOIN ledger_entries e ON e.ledger_account_id = a.id
  JOIN ledger_transactions t ON t.id = e.transaction_id
  WHERE a.account_id = $1 AND e.transaction_id < $2
  ORDER BY e.transaction_id DESC, e.ordinal DESC LIMIT $3`;

/** The entries on an account's balances, newest first. */
export async function accountStatement(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
  query: StatementQuery,
): Promise<StatementLine[]> {
  const { rows } = await database.query<StatementLine>(NEWEST_LINES, [
    accountId,
    (query.beforeId ?? 2n ** 63n - 1n).toString(),
    query.limit,
  ]);
  return rows;
}
