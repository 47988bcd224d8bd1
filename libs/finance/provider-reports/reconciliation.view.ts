import { z } from 'zod';
import { formatMinor } from '#money/currency.js';
import { allColumns, csvColumns } from '#platform/http/csv.js';
import { numberText, openTimeView, shown, timeView } from '#platform/http/fields.js';
import { currencyView, paymentView } from '#payments/payment.fields.js';
import { bankSentence } from './bank/bank.control.js';
import { bankMatchKinds } from './bank/bank-match.js';
import { type BankItem, bankStates } from './bank/bank-matching.js';
import { type MatchDay, type MatchedItem, matchKinds, matchStates } from './payments/match.js';
import { matchSentence } from './payments/payments.control.js';
import { type PayoutItem, payoutStates } from './payments/payout-matching.js';
import { payoutSentence } from './payments/payouts.control.js';
import type { ReportImport } from './report.import.js';

/** Providers whose balance is reported line by line. */
export const reportingProvider = z.enum(['stripe', 'sandbox']);

export const number = z.string().regex(/^\d{1,18}$/, 'must be a whole number');

const transactionIds = z.array(numberText).meta({ description: 'Ledger transactions.' });

const sentence = z.string().meta({ description: 'The result as a sentence.' });

export const matchState = z.enum(matchStates);

const side = z
  .object({ amount: paymentView, currency: currencyView, at: timeView })
  .meta({ id: 'MatchSide' });

export const matchView = z
  .object({
    provider: reportingProvider,
    kind: z.enum(matchKinds),
    id: z.string().meta({ description: "The provider's ID." }),
    state: matchState,
    message: sentence,
    at: timeView,
    ours: side.extend({ transactionIds }).nullable(),
    theirs: side.extend({ lineIds: z.array(z.string()) }).nullable(),
    daysApart: z.number().nullable().meta({ description: 'For information; not a fault.' }),
    changed: z.boolean().meta({
      description: 'One of its lines was later reported differently, and nobody has accepted that.',
    }),
  })
  .meta({ id: 'Match' });

export const matchDayView = z
  .object({
    day: z.string(),
    provider: reportingProvider,
    state: matchState,
    currency: currencyView,
    items: z.number(),
    ours: paymentView,
    theirs: paymentView,
  })
  .meta({ id: 'MatchDay' });

export const payoutState = z.enum(payoutStates);

export const payoutView = z
  .object({
    at: timeView,
    provider: reportingProvider,
    payoutId: z.string(),
    state: payoutState,
    currency: currencyView,
    amount: paymentView.nullable(),
    payments: paymentView,
    refunds: paymentView,
    disputes: paymentView,
    adjustments: paymentView,
    fees: paymentView.meta({ description: "The provider's fees, as a negative amount." }),
    lines: z.number(),
    bankLineId: z.string().nullable(),
    message: sentence,
    lineIds: z.array(z.string()).meta({ description: 'The lines that report the payout itself.' }),
    returned: z.boolean(),
    transactionIds,
  })
  .meta({ id: 'Payout' });

export const bankState = z.enum(bankStates);
export const bankSubject = z.enum(bankMatchKinds);

export const bankItemView = z
  .object({
    kind: z.enum(['line', 'payout', 'topup', 'refund', 'suspense']),
    id: z.string(),
    state: bankState,
    message: sentence,
    at: timeView,
    amount: paymentView,
    currency: currencyView,
    bankAccountId: z.string().nullable(),
    reference: z.string(),
    counterpart: z.object({ kind: bankSubject, subject: z.string() }).nullable(),
    refusal: z.string().nullable().meta({ description: 'Why its posting was refused.' }),
    transactionIds,
  })
  .meta({ id: 'BankItem' });

export const reportView = z
  .object({
    id: z.string().nullable().meta({ description: 'Null for a dry run.' }),
    lines: z.number(),
    added: z.number().meta({ description: 'Lines that were new.' }),
    changed: z.number().meta({ description: 'Known lines whose content changed.' }),
    covers: z.object({ from: openTimeView, to: timeView }).nullable(),
  })
  .meta({ id: 'ProviderReport' });

type MatchView = z.output<typeof matchView>;
type BankItemView = z.output<typeof bankItemView>;

export function viewMatch(item: MatchedItem): MatchView {
  const { ours, theirs } = item;
  return shown(matchView, {
    ...item,
    message: matchSentence(item),
    ours: ours && { ...ours, amount: amountOf(ours) },
    theirs: theirs && { ...theirs, amount: amountOf(theirs) },
  });
}

function amountOf({ amountMinor, currency }: { amountMinor: bigint; currency: string }) {
  return formatMinor(amountMinor, currency);
}

export function viewMatchDay({ oursMinor, theirsMinor, ...day }: MatchDay): z.output<typeof matchDayView> {
  const { currency } = day;
  return { ...day, ours: formatMinor(oursMinor, currency), theirs: formatMinor(theirsMinor, currency) };
}

export function viewPayout(item: PayoutItem): z.output<typeof payoutView> {
  const { amountMinor, parts, currency } = item;
  const money = (minor: bigint) => formatMinor(minor, currency);
  return shown(payoutView, {
    ...item,
    message: payoutSentence(item),
    amount: amountMinor === null ? null : money(amountMinor),
    payments: money(parts.payments),
    refunds: money(parts.refunds),
    disputes: money(parts.disputes),
    adjustments: money(parts.adjustments),
    fees: money(parts.fees),
  });
}

export function viewBankItem(item: BankItem): BankItemView {
  return shown(bankItemView, { ...item, message: bankSentence(item), amount: amountOf(item) });
}

export function viewImport(done: ReportImport): z.output<typeof reportView> {
  return shown(reportView, { ...done, id: done.reportId });
}

export const matchColumns = csvColumns<MatchView>(
  'at',
  'provider',
  'kind',
  'id',
  'state',
  ['our_amount', ({ ours }) => ours && ours.amount],
  ['our_currency', ({ ours }) => ours && ours.currency],
  ['our_time', ({ ours }) => ours && ours.at],
  ['transactions', ({ ours }) => ours && ours.transactionIds.join(' ')],
  ['their_amount', ({ theirs }) => theirs && theirs.amount],
  ['their_currency', ({ theirs }) => theirs && theirs.currency],
  ['their_time', ({ theirs }) => theirs && theirs.at],
  ['lines', ({ theirs }) => theirs && theirs.lineIds.join(' ')],
  'message',
);

export const payoutColumns = allColumns(
  payoutView.omit({ lineIds: true, returned: true, transactionIds: true }),
);

export const bankColumns = csvColumns<BankItemView>(
  'at',
  'kind',
  'id',
  'state',
  'amount',
  'currency',
  'bankAccountId',
  'reference',
  ['counterpart', ({ counterpart }) => counterpart && `${counterpart.kind} ${counterpart.subject}`],
  'message',
);
