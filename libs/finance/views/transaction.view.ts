import { unitOf } from '#ledger/export/journal.js';
import { formatAmount } from '#money/amount.js';
import type { LedgerTransaction, TransactionHead } from '../transaction.js';
import { money, timeOf } from './ledger.view.js';

export function transactionView(
  { entries, linked, charge, late, block, ...head }: LedgerTransaction,
  currency: string,
) {
  return {
    ...headView(head),
    entries: entries.map(({ ledgerAccountId, amount, ...entry }) => {
      const unit = unitOf(entry, currency);
      return {
        ...entry,
        ledgerAccountId: ledgerAccountId.toString(),
        unit: unit.symbol,
        amount: money(amount, unit),
      };
    }),
    linked: linked.map(({ relation, ...each }) => ({ ...headView(each), relation })),
    charge: charge && {
      id: charge.id,
      state: charge.state,
      taskId: charge.taskId,
      amount: formatAmount(charge.amount),
      settled: charge.settled === null ? null : formatAmount(charge.settled),
      released: charge.released === null ? null : formatAmount(charge.released),
    },
    late: late && { periodId: late.periodId.toString(), happenedAt: timeOf(late.happenedAt) as string },
    block: block && { ...block, number: block.number.toString(), sealedAt: timeOf(block.sealedAt) as string },
  };
}

function headView({ id, effectiveAt, recordedAt, ...head }: TransactionHead) {
  return {
    ...head,
    id: id.toString(),
    effectiveAt: timeOf(effectiveAt) as string,
    recordedAt: timeOf(recordedAt) as string,
  };
}
