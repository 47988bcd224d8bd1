import { z } from 'zod';
import { type CsvColumn, csvColumns, titleOf } from '#platform/http/csv.js';
import { formatMinor } from '#money/currency.js';
import { amountView, openTimeView, shown, wholeText, utcDay } from '#platform/http/fields.js';
import type { priceChangeView } from '../reports/price-changes.js';
import {
  averagePrice,
  costPerCredit,
  type Days,
  type Earned,
  marginOf,
  netOf,
  type RevenueDimension,
  type RevenueReport,
  type RevenueRow,
  revenueDimensions,
} from '../reports/revenue.js';

const earnedFields = {
  charges: wholeText.describe('Charges that were settled.'),
  failedCharges: wholeText.describe('Charges that were refunded because their work failed.'),
  units: wholeText.describe('Delivered calls, seconds or tokens.'),
  gross: amountView.describe('Settled amounts, by the time of settlement.'),
  refunds: amountView.describe('Refunds of settled charges, by the time of the refund.'),
  net: amountView.describe('`gross` − `refunds`.'),
  averagePrice: amountView.nullable().describe('`gross` per unit, truncated to nine decimals.'),
  cost: amountView.describe('Upstream costs of delivered work, in USD.'),
  failedCost: amountView.describe('Upstream costs of failed work, in USD.'),
  costPerCredit: amountView
    .nullable()
    .describe(
      '(`cost` + `failedCost`) per net credit in USD, truncated to nine decimals. Null if there was no revenue.',
    ),
};

const dimension = z.string().nullable().optional();

export const revenueView = z
  .object({
    from: utcDay,
    to: utcDay,
    by: z.array(z.enum(revenueDimensions)),
    completeTo: openTimeView.describe('Complete for everything that happened before this time.'),
    costsTo: openTimeView.describe('Includes the costs of work that ended before this time.'),
    rows: z
      .array(
        z.object({
          day: dimension,
          family: dimension,
          model: dimension,
          group: dimension,
          channel: dimension,
          account: dimension,
          ...earnedFields,
        }),
      )
      .describe('Ordered by day if requested, then by `gross`, largest first.'),
    truncated: z.boolean().describe('Whether there are more rows. Totals cover all rows.'),
    totals: z.object(earnedFields),
    currency: z.string().meta({ description: 'The payment currency.', examples: ['USD'] }),
    recognised: z.string().meta({
      description: 'Revenue of these days in the payment currency: the amount paid for the used credits.',
      examples: ['2.27'],
    }),
    margin: amountView
      .nullable()
      .describe(
        '`recognised` − `cost` − `failedCost` of the totals, in USD. Negative for a loss. Null if payments are not in USD.',
      ),
    marginPercent: z
      .string()
      .nullable()
      .describe('Percentage of `recognised`, truncated to two decimals. Null without `recognised`.'),
    billDifference: amountView.describe('Billed above accrued costs. Not included in the rows.'),
    unknownCosts: wholeText.describe('Charges without a known cost, which make the margin too high.'),
    ledger: z
      .object({ gross: amountView, refunds: amountView, cost: amountView, failedCost: amountView })
      .describe('The movements of the ledger accounts in these days.'),
    agrees: z.boolean().describe('Whether the totals, with the bills, match the ledger.'),
  })
  .meta({ id: 'Revenue' });

/** The default days: this UTC month up to now. */
export function daysOf(asked: { from?: string | undefined; to?: string | undefined }, now: Date): Days {
  const today = now.toISOString().slice(0, 10);
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10);
  return { from: asked.from ?? `${today.slice(0, 8)}01`, to: asked.to ?? tomorrow };
}

/** Revenue, with derived figures. */
function viewEarned(earned: Earned) {
  return {
    ...earned,
    net: netOf(earned),
    averagePrice: averagePrice(earned),
    costPerCredit: costPerCredit(earned),
  };
}

/** The same as returned to clients. */
export function earnedText(earned: Earned) {
  return shown(z.object(earnedFields), viewEarned(earned));
}

function hundredths(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** @param currency of payments, ISO 4217 */
export function viewRevenue(
  { rows, totals, ...report }: RevenueReport,
  by: readonly RevenueDimension[],
  currency: string,
) {
  const margin = marginOf({ totals, ledger: report.ledger }, currency);
  const points = margin?.basisPoints ?? null;
  return shown(revenueView, {
    ...report,
    currency,
    recognised: formatMinor(report.ledger.recognisedMinor, currency),
    margin: margin?.margin ?? null,
    marginPercent: points === null ? null : hundredths(points),
    by: [...by],
    rows: rows.map((row) => ({ ...row.by, ...viewEarned(row) })),
    totals: viewEarned(totals),
  });
}

const MEASURES = [
  'charges',
  'failedCharges',
  'units',
  'gross',
  'refunds',
  'net',
  'averagePrice',
  'cost',
  'failedCost',
  'costPerCredit',
] as const;

/** The columns of a file: the requested dimensions, then the measures. */
export function revenueColumns(by: readonly RevenueDimension[]): CsvColumn<RevenueRow>[] {
  return [
    ...by.map((name) => ({ title: name, value: (row: RevenueRow) => row.by[name] ?? null })),
    ...MEASURES.map((name) => ({ title: titleOf(name), value: (row: RevenueRow) => earnedText(row)[name] })),
  ];
}

/** There are never that many versions of prices, because people create them manually. */
export const ALL_VERSIONS = 1_000_000;

type PriceChange = z.output<typeof priceChangeView>;

export const priceChangeColumns = csvColumns<PriceChange>(
  'effectiveFrom',
  'until',
  'kind',
  'versionId',
  'subject',
  'before',
  'value',
  'recordedAt',
  ['proposal', ({ proposal }) => proposal?.id ?? null],
  ['proposed_by', ({ proposal }) => proposal?.proposedBy ?? null],
  ['decided_by', ({ proposal }) => proposal?.decidedBy ?? null],
  ['note', ({ proposal }) => proposal?.note ?? null],
  'charges',
  'units',
  'gross',
);
