import { z } from 'zod';
import { type CsvColumn, csvColumns, titleOf } from '#platform/http/csv.js';
import { formatMinor } from '#money/currency.js';
import { amountView, numberText, openTimeView, shown, timeView } from '#platform/http/fields.js';
import { priceChangeKinds } from '../reports/price-changes.js';
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
import { utcDay } from './costs.view.js';

const count = numberText.meta({ description: 'A whole number.', examples: ['12'] });

const earnedFields = {
  charges: count.meta({ description: 'That were settled.' }),
  failedCharges: count.meta({ description: 'That were released, since their work failed.' }),
  units: count.meta({ description: 'Calls, seconds or tokens that were delivered.' }),
  gross: amountView.meta({ description: 'What charges settled, when they did.' }),
  refunds: amountView.meta({ description: 'Refunds of settled charges, by the time of the refund.' }),
  net: amountView.meta({ description: 'gross - refunds.' }),
  averagePrice: amountView.nullable().meta({ description: 'gross for each unit, cut to nine decimals.' }),
  cost: amountView.meta({ description: 'USD that upstreams take for delivered work.' }),
  failedCost: amountView.meta({ description: 'USD that they take for failed work all the same.' }),
  costPerCredit: amountView.nullable().meta({
    description:
      'USD: cost + failedCost for each net credit, cut to nine decimals; null where nothing was earned.',
  }),
};

const dimension = z.string().nullable().optional();

export const revenueView = z
  .object({
    from: utcDay,
    to: utcDay,
    by: z.array(z.enum(revenueDimensions)),
    completeTo: openTimeView.meta({ description: 'What happened before is in it for good.' }),
    costsTo: openTimeView.meta({ description: 'Costs of what ended before are in it.' }),
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
      .meta({ description: 'By day where asked, then by gross, the largest first.' }),
    truncated: z.boolean().meta({ description: 'There are more rows; the totals are of all.' }),
    totals: z.object(earnedFields),
    currency: z.string().meta({ description: 'Of payments.', examples: ['USD'] }),
    recognised: z.string().meta({
      description:
        'Revenue of these days in the payment currency: what was paid for the credits that were used.',
      examples: ['2.27'],
    }),
    margin: amountView.nullable().meta({
      description:
        'USD: recognised - cost - failedCost of the totals; below zero: a loss. Null where payments are not in USD, as costs are.',
    }),
    marginPercent: z
      .string()
      .nullable()
      .meta({ description: 'Of recognised, with two decimals, cut; null without it.' }),
    billDifference: amountView.meta({
      description: 'What upstreams billed above the accrued costs; no row has it.',
    }),
    unknownCosts: count.meta({ description: 'Charges whose cost nobody set: margins are too high by them.' }),
    ledger: z
      .object({ gross: amountView, refunds: amountView, cost: amountView, failedCost: amountView })
      .meta({ description: 'What the accounts of the ledger moved in these days.' }),
    agrees: z
      .boolean()
      .meta({ description: 'Whether the totals, with the bills, are what the ledger says.' }),
  })
  .meta({ id: 'Revenue' });

export const priceChangeView = z
  .object({
    kind: z.enum(priceChangeKinds),
    versionId: numberText,
    subject: z.string().meta({ description: 'The model of a price, the group of a multiplier or rule.' }),
    value: z
      .string()
      .meta({ description: 'Credits, or the factor; input/cached input/output of a million tokens.' }),
    before: z.string().nullable(),
    effectiveFrom: timeView.nullable().meta({ description: 'Null: from the beginning.' }),
    until: timeView.nullable(),
    recordedAt: timeView,
    proposal: z
      .object({
        id: z.string(),
        note: z.string(),
        proposedBy: z.string(),
        decidedBy: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'Null for a version that a catalog began with.' }),
    gross: amountView.meta({ description: 'What charges settled by it until now.' }),
    charges: count,
    units: count,
  })
  .meta({ id: 'PriceChange' });

/** The days that are meant where some are left out: this month of UTC until now. */
export function daysOf(asked: { from?: string | undefined; to?: string | undefined }, now: Date): Days {
  const today = now.toISOString().slice(0, 10);
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10);
  return { from: asked.from ?? `${today.slice(0, 8)}01`, to: asked.to ?? tomorrow };
}

/** What was earned, with what follows from it. */
function viewEarned(earned: Earned) {
  return {
    ...earned,
    net: netOf(earned),
    averagePrice: averagePrice(earned),
    costPerCredit: costPerCredit(earned),
  };
}

/** The same as a client reads it. */
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

/** The columns of a file: what was asked for, then the measures. */
export function revenueColumns(by: readonly RevenueDimension[]): CsvColumn<RevenueRow>[] {
  return [
    ...by.map((name) => ({ title: name, value: (row: RevenueRow) => row.by[name] ?? null })),
    ...MEASURES.map((name) => ({ title: titleOf(name), value: (row: RevenueRow) => earnedText(row)[name] })),
  ];
}

/** People make versions of prices by hand: there are never that many. */
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
