import { unitOf } from '#ledger/export/journal.js';
import type { LedgerTransaction } from '../transaction.js';
import { money } from './ledger.view.js';

export function transactionView({ entries, ...transaction }: LedgerTransaction, currency: string) {
  return {
    ...transaction,
    entries: entries.map((entry) => {
      const unit = unitOf(entry, currency);
      return { ...entry, unit: unit.symbol, amount: money(entry.amount, unit) };
    }),
  };
}
