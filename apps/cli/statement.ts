import type pg from 'pg';
import { accountStatement } from '#ledger/reports/statement.js';
import { formatAmount } from '#money/amount.js';
import { table, right } from './output.js';

export interface StatementRow {
  transactionId: string;
  at: string;
  kind: string;
  reference: string;
  balance: string;
  amount: string;
  balanceAfter: string;
}

/** The newest lines of an account. Amounts are credits, as decimals. */
export async function readWholeStatement(
  pool: pg.Pool,
  accountId: string,
  limit: number,
): Promise<StatementRow[]> {
  const lines = await accountStatement(pool, accountId, { limit });
  return lines.map((line) => ({
    transactionId: line.transactionId.toString(),
    at: line.at.toISOString(),
    kind: line.kind,
    reference: line.reference,
    balance: line.balance,
    amount: formatAmount(line.amount),
    balanceAfter: formatAmount(line.balanceAfter),
  }));
}

/** A statement for a terminal of 100 columns. */
export function statementTable(lines: StatementRow[]): string {
  const rows = lines.map(({ at, kind, reference, balance, amount, balanceAfter }) => [
    at.replace('T', ' ').slice(0, 19),
    kind,
    reference,
    balance,
    amount.startsWith('-') ? amount : `+${amount}`,
    balanceAfter,
  ]);
  return table(['Time (UTC)', 'What', 'Reference', 'Balance', right('Amount'), right('After')], rows);
}
