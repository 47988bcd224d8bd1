import { z } from 'zod';
import { adjustmentReasons } from '#ledger/postings/adjustment.js';
import { amountView, numberText, shown, timeView } from '#platform/http/fields.js';
import type { CsvColumn } from '#platform/http/csv.js';
import type { Debtor } from '../reports/debts.js';

const person = z.string().meta({ description: 'As `user:{id}`, or an operator of the command line.' });

export const adjustmentReason = z.enum(adjustmentReasons);

export const adjustmentView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    ticketId: z.string(),
    seq: z.number().int().meta({ description: 'The first adjustment of its ticket is 1.' }),
    amount: amountView.meta({ description: 'Positive is for the customer.' }),
    reason: adjustmentReason,
    note: z.string(),
    reversesId: z.string().nullable(),
    reversedById: z.string().nullable(),
    requestedBy: person,
    approvedBy: person.nullable(),
    transactionId: numberText,
    recordedAt: timeView,
  })
  .meta({ id: 'Adjustment' });

export const writeOffView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    ticketId: z.string(),
    period: z.string().meta({ description: 'Month of UTC: an account has one write-off in each.' }),
    amount: amountView.meta({ description: 'Below 0: a reversal, by which it is owed again.' }),
    note: z.string(),
    reversesId: z.string().nullable(),
    reversedById: z.string().nullable(),
    requestedBy: person,
    approvedBy: person.nullable(),
    transactionId: numberText,
    recordedAt: timeView,
  })
  .meta({ id: 'WriteOff' });

export const debtorView = z
  .object({
    accountId: z.string(),
    name: z.string(),
    main: amountView,
    frozen: z.boolean(),
    reason: z.string().nullable(),
    since: timeView.nullable(),
    disputes: z.array(
      z.object({
        provider: z.string(),
        disputeId: z.string(),
        state: z.enum(['open', 'lost']),
        credits: amountView,
      }),
    ),
    owedRewards: amountView.meta({ description: 'Rewards that were to be taken back and were spent.' }),
    writtenOff: amountView,
    transactionId: numberText.nullable().meta({ description: 'By which the balance fell below 0.' }),
  })
  .meta({ id: 'Debtor' });

type AdjustmentView = z.output<typeof adjustmentView>;
type WriteOffView = z.output<typeof writeOffView>;
type DebtorView = z.output<typeof debtorView>;

export function viewDebtor({ isFrozen, disputes, ...debtor }: Debtor): DebtorView {
  return shown(debtorView, {
    ...debtor,
    frozen: isFrozen,
    disputes: disputes.map((dispute) => ({ ...dispute, credits: BigInt(dispute.credits) })),
  });
}

export const adjustmentColumns: readonly CsvColumn<AdjustmentView>[] = [
  { title: 'recorded_at', value: ({ recordedAt }) => recordedAt },
  { title: 'adjustment', value: ({ id }) => id },
  { title: 'account', value: ({ accountId }) => accountId },
  { title: 'ticket', value: ({ ticketId }) => ticketId },
  { title: 'seq', value: ({ seq }) => seq },
  { title: 'reason', value: ({ reason }) => reason },
  { title: 'amount', value: ({ amount }) => amount },
  { title: 'note', value: ({ note }) => note },
  { title: 'reverses', value: ({ reversesId }) => reversesId ?? null },
  { title: 'reversed_by', value: ({ reversedById }) => reversedById ?? null },
  { title: 'requested_by', value: ({ requestedBy }) => requestedBy },
  { title: 'approved_by', value: ({ approvedBy }) => approvedBy ?? null },
  { title: 'transaction', value: ({ transactionId }) => transactionId },
];

export const writeOffColumns: readonly CsvColumn<WriteOffView>[] = [
  { title: 'recorded_at', value: ({ recordedAt }) => recordedAt },
  { title: 'write_off', value: ({ id }) => id },
  { title: 'account', value: ({ accountId }) => accountId },
  { title: 'ticket', value: ({ ticketId }) => ticketId },
  { title: 'amount', value: ({ amount }) => amount },
  { title: 'note', value: ({ note }) => note },
  { title: 'reverses', value: ({ reversesId }) => reversesId ?? null },
  { title: 'reversed_by', value: ({ reversedById }) => reversedById ?? null },
  { title: 'requested_by', value: ({ requestedBy }) => requestedBy },
  { title: 'approved_by', value: ({ approvedBy }) => approvedBy ?? null },
  { title: 'transaction', value: ({ transactionId }) => transactionId },
];

export const debtorColumns: readonly CsvColumn<DebtorView>[] = [
  { title: 'account', value: ({ accountId }) => accountId },
  { title: 'name', value: ({ name }) => name },
  { title: 'main', value: ({ main }) => main },
  { title: 'frozen', value: ({ frozen }) => String(frozen) },
  { title: 'reason', value: ({ reason }) => reason },
  { title: 'since', value: ({ since }) => since },
  { title: 'disputes', value: ({ disputes }) => disputes.map(({ disputeId }) => disputeId).join(' ') },
  { title: 'owed_rewards', value: ({ owedRewards }) => owedRewards },
  { title: 'written_off', value: ({ writtenOff }) => writtenOff },
  { title: 'transaction', value: ({ transactionId }) => transactionId },
];
