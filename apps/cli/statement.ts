import type pg from 'pg';
import { accountStatement } from '#ledger/reports/statement.js';
import { formatAmount } from '#money/amount.js';
import { right, second, tableOf } from './output.js';

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
  return tableOf(lines, {
    'Time (UTC)': ({ at }) => second(at),
    What: 'kind',
    Reference: 'reference',
    Balance: 'balance',
    Amount: right(({ amount }) => (amount.startsWith('-') ? amount : `+${amount}`)),
    After: right('balanceAfter'),
  });
}
