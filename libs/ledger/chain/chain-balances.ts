import type pg from 'pg';
import { RUNNING_BALANCES_SQL, STORED_BALANCES_SQL } from '../checks/balance-checks.js';
import { type ChainFinding, finding } from './chain-difference.js';

type StoredRow = Record<'account_id' | 'purpose' | 'ledger_account_id' | 'stored' | 'entries', string>;
type RunningRow = Record<'transaction_id' | 'ordinal' | 'ledger_account_id' | 'expected', string> & {
  balance_after: string | null;
};

/**
 * Names each balance that differs from the sum of its entries: entries are in the chain, but stored balances are not. Amounts
 * are nanos of credit.
 */
export async function balanceFindings(client: pg.ClientBase): Promise<ChainFinding[]> {
  const stored = await client.query<StoredRow>(STORED_BALANCES_SQL);
  const running = await client.query<RunningRow>(RUNNING_BALANCES_SQL);
  return [...stored.rows.map(storedFinding), ...running.rows.map(runningFinding)];
}

function storedFinding(row: StoredRow): ChainFinding {
  const message = `The stored ${row.purpose} balance of account ${row.account_id} is ${row.stored} nanos; its entries sum to ${row.entries}.`;
  return finding('balance_differs', message, { ledgerAccountId: BigInt(row.ledger_account_id) });
}

function runningFinding(row: RunningRow): ChainFinding {
  const { ordinal, transaction_id: id, ledger_account_id: ledgerId, balance_after: stored, expected } = row;
  const message = `Entry ${ordinal} of transaction ${id} leaves ${stored ?? 'no'} nanos on ledger account ${ledgerId}; the entry before and its amount come to ${expected}.`;
  return finding('entry_balance_differs', message, {
    transactionId: BigInt(id),
    ledgerAccountId: BigInt(ledgerId),
  });
}
