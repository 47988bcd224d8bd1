import { z } from 'zod';
import { adjustmentReasons } from '#ledger/postings/adjustment.js';
import { amountView, numberText, shown, timeView } from '#platform/http/fields.js';
import { csvColumns } from '#platform/http/csv.js';
import type { Debtor } from '../reports/debts.js';

const person = z.string().describe('`user:{id}`, or the name of a command-line operator.');

export const adjustmentReason = z.enum(adjustmentReasons);

const correctionEnd = {
  note: z.string(),
  reversesId: z.string().nullable(),
  reversedById: z.string().nullable(),
  requestedBy: person,
  approvedBy: person.nullable(),
  transactionId: numberText,
  recordedAt: timeView,
};

export const adjustmentView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    ticketId: z.string(),
    seq: z.int().describe('The number of the adjustment within its ticket, starting at 1.'),
    amount: amountView.describe('Positive amounts add credits.'),
    reason: adjustmentReason,
    ...correctionEnd,
  })
  .meta({ id: 'Adjustment' });

export const writeOffView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    ticketId: z.string(),
    period: z.string().describe('The UTC month. An account can have one write-off per month.'),
    amount: amountView.describe('Negative for a reversal, which restores the debt.'),
    ...correctionEnd,
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
    owedRewards: amountView.describe('Clawed-back rewards that had already been spent.'),
    writtenOff: amountView,
    transactionId: numberText.nullable().describe('The transaction that took the balance below 0.'),
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

const CORRECTION = [
  'note',
  'reversesId',
  'reversedById',
  'requestedBy',
  'approvedBy',
  'transactionId',
] as const;

export const adjustmentColumns = csvColumns<AdjustmentView>(
  'recordedAt',
  ['adjustment', ({ id }) => id],
  'accountId',
  'ticketId',
  'seq',
  'reason',
  'amount',
  ...CORRECTION,
);

export const writeOffColumns = csvColumns<WriteOffView>(
  'recordedAt',
  ['write_off', ({ id }) => id],
  'accountId',
  'ticketId',
  'amount',
  ...CORRECTION,
);

export const debtorColumns = csvColumns<DebtorView>(
  'accountId',
  'name',
  'main',
  'frozen',
  'reason',
  'since',
  ['disputes', ({ disputes }) => disputes.map(({ disputeId }) => disputeId).join(' ')],
  'owedRewards',
  'writtenOff',
  'transactionId',
);
