import { z } from 'zod';
import { minorDigits } from '#money/currency.js';
import { allColumns, csvColumns } from '#platform/http/csv.js';
import { amountView, numberText, openTimeView, shown, timeView, utcDay } from '#platform/http/fields.js';
import type { DeferredLot } from '../reports/deferred-lots.js';
import { type DeferredRevenueReport, deferredMoves } from '../reports/deferred-revenue.js';
import { money } from './ledger.view.js';

const paidText = z
  .string()
  .meta({ description: 'In the currency, as a decimal string.', examples: ['1300', '-0.07'] });

export const deferredRevenueView = z
  .object({
    from: utcDay,
    to: utcDay,
    currency: z.string().meta({
      description:
        'The currency of deferred revenue. Payments in other currencies are in suspense until they are credited or returned.',
      examples: ['USD'],
    }),
    completeTo: openTimeView.describe('Complete for everything recorded before this time.'),
    recognisedTo: openTimeView.describe(
      'Usage recorded before this time is recognised. Later usage is still deferred.',
    ),
    ledgerAccountId: numberText.describe('The ledger account with the entries.'),
    opening: paidText,
    lines: z.array(
      z.object({
        move: z
          .enum(deferredMoves)
          .describe(
            '`topups`: payments for credits; `suspense_credited`: payments made earlier and credited now; `recognised`: revenue of used credits; `chargeback_loss`: credits that covered the debt of a chargeback; `refunded`: refunded top-ups; `charged_back`: the unused part of disputed top-ups; `chargebacks_won`: won disputes; `other`: anything else.',
          ),
        family: z.string().nullable().describe('For `recognised`: the type of work, or the adjustment.'),
        amount: paidText,
        transactions: numberText,
      }),
    ),
    closing: paidText,
    lots: z
      .object({
        paid: paidText.describe('Paid for all lots, minus refunds and chargebacks.'),
        recognised: paidText,
        pendingRefunds: paidText.describe('Pending refunds, deferred until the provider answers.'),
        deferred: paidText.describe('`paid` − `recognised` + `pendingRefunds`.'),
        unusedCredits: amountView.describe(
          'Unused credits of all lots, including lots that nobody paid for.',
        ),
      })
      .describe('The closing balance by credit lot.'),
    agrees: z.boolean().describe('Whether all of these agree.'),
  })
  .meta({ id: 'DeferredRevenue' });

const credits = (description: string) => amountView.describe(`Credits: ${description}`);

export const lotView = z
  .object({
    lotId: numberText,
    accountId: z.string(),
    topupId: z.string().nullable().describe('Null if nobody paid for it.'),
    transactionId: numberText.describe('The ledger transaction that created it.'),
    boughtAt: timeView,
    bought: credits('all of it.'),
    paid: paidText.describe('The amount paid for the whole lot: its basis.'),
    consumed: credits('used, debts that it covered included.'),
    restored: credits('of that, refunded after settlement.'),
    refunded: credits('on its way back to the customer, or there.'),
    chargedBack: credits('gone with a chargeback.'),
    reversed: credits('gone with an adjustment or a write-off that was reversed.'),
    left: credits('bought - consumed + restored - refunded - chargedBack - reversed.'),
    recognised: paidText,
    pendingRefunds: paidText,
    deferred: paidText.describe('The total of all lots equals the closing balance of deferred revenue.'),
  })
  .meta({ id: 'DeferredLot' });

/** @param currency of payments, ISO 4217 */
export function viewDeferredRevenue(report: DeferredRevenueReport, currency: string) {
  const { lines, lots } = report;
  const paid = inCurrency(currency);
  return shown(deferredRevenueView, {
    ...report,
    currency,
    opening: paid(report.openingMinor),
    lines: lines.map(({ move, family, amountMinor, transactions }) => ({
      move,
      family,
      amount: paid(amountMinor),
      transactions,
    })),
    closing: paid(report.closingMinor),
    lots: {
      paid: paid(lots.paidMinor),
      recognised: paid(lots.recognisedMinor),
      pendingRefunds: paid(lots.pendingMinor),
      deferred: paid(lots.deferredMinor),
      unusedCredits: lots.unusedCredits,
    },
  });
}

function inCurrency(currency: string): (minor: bigint) => string {
  const unit = { symbol: currency, decimals: minorDigits(currency) };
  return (minor) => money(minor, unit);
}

type DeferredView = z.output<typeof deferredRevenueView>;

export interface DeferredFileRow {
  item: string;
  family: string | null;
  amount: string;
  transactions: string | null;
}

/** The rows of a file: from the opening to the closing balance, and the balance by lots. */
export function deferredFileRows({ opening, lines, closing, lots }: DeferredView): DeferredFileRow[] {
  const row = (item: string, amount: string) => ({ item, family: null, amount, transactions: null });
  return [
    row('opening', opening),
    ...lines.map(({ move: item, family, amount, transactions }) => ({ item, family, amount, transactions })),
    row('closing', closing),
    row('lots_paid', lots.paid),
    row('lots_recognised', negative(lots.recognised)),
    row('lots_pending_refunds', lots.pendingRefunds),
    row('lots_deferred', lots.deferred),
  ];
}

function negative(amount: string): string {
  if (amount === '0') return amount;
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
}

export const deferredColumns = csvColumns<DeferredFileRow>('item', 'family', 'amount', 'transactions');

/** @param currency of payments, ISO 4217 */
export function viewLot(lot: DeferredLot, currency: string) {
  const paid = inCurrency(currency);
  return shown(lotView, {
    ...lot,
    paid: paid(lot.paidMinor),
    recognised: paid(lot.recognisedMinor),
    pendingRefunds: paid(lot.pendingMinor),
    deferred: paid(lot.deferredMinor),
  });
}

export const lotColumns = allColumns(lotView);
