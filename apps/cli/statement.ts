import type pg from 'pg';
import { z } from 'zod';
import { accountStatement } from '#ledger/reports/statement.js';
import { amountView, numberText, shown, timeView } from '#platform/http/fields.js';
import { right, second, tableOf } from './output.js';

const statementRow = z.object({
  transactionId: numberText,
  at: timeView,
  kind: z.string(),
  reference: z.string(),
  balance: z.string(),
  amount: amountView,
  balanceAfter: amountView,
});

export type StatementRow = z.output<typeof statementRow>;

/** The newest lines of an account. Amounts are credits, as decimals. */
export async function readWholeStatement(
  pool: pg.Pool,
  accountId: string,
  limit: number,
): Promise<StatementRow[]> {
  const lines = await accountStatement(pool, accountId, { limit });
  return lines.map((line) => shown(statementRow, line));
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
