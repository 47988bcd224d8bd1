import type { z } from 'zod';
import type { PriceVersionEarned } from '#finance/reports/price-changes.js';
import {
  averagePrice,
  type Days,
  type Earned,
  marginBasisPoints,
  marginOf,
  netOf,
  type RevenueDimension,
  type RevenueReport,
  type RevenueRow,
} from '#finance/reports/revenue.js';
import type { CsvColumn } from '../http/csv.js';
import { viewAmount } from '../http/fields.js';
import { timeOf } from './ledger.view.js';
import type { priceChangeView, revenueView } from './revenue.routes.js';

/** The days that are meant where some are left out: this month of UTC until now. */
export function daysOf(asked: { from?: string | undefined; to?: string | undefined }, now: Date): Days {
  const today = now.toISOString().slice(0, 10);
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10);
  return { from: asked.from ?? `${today.slice(0, 8)}01`, to: asked.to ?? tomorrow };
}

export function viewEarned(earned: Earned) {
  const average = averagePrice(earned);
  const points = marginBasisPoints(earned);
  return {
    charges: earned.charges.toString(),
    failedCharges: earned.failedCharges.toString(),
    units: earned.units.toString(),
    gross: viewAmount(earned.gross),
    refunds: viewAmount(earned.refunds),
    net: viewAmount(netOf(earned)),
    averagePrice: average === null ? null : viewAmount(average),
    cost: viewAmount(earned.cost),
    failedCost: viewAmount(earned.failedCost),
    margin: viewAmount(marginOf(earned)),
    marginPercent: points === null ? null : hundredths(points),
  };
}

function hundredths(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export function viewRevenue(
  report: RevenueReport,
  by: readonly RevenueDimension[],
): z.input<typeof revenueView> {
  const { from, to, rows, truncated, totals, agrees, ledger } = report;
  return {
    ...{ from, to, by: [...by], completeTo: timeOf(report.completeTo), costsTo: timeOf(report.costsTo) },
    rows: rows.map((row) => ({ ...row.by, ...viewEarned(row) })),
    ...{ truncated, totals: viewEarned(totals) },
    ...{ billDifference: viewAmount(report.billDifference), unknownCosts: report.unknownCosts.toString() },
    ledger: {
      ...{ gross: viewAmount(ledger.gross), refunds: viewAmount(ledger.refunds) },
      ...{ cost: viewAmount(ledger.cost), failedCost: viewAmount(ledger.failedCost) },
    },
    agrees,
  };
}

const MEASURES = [
  ...(['charges', 'failedCharges', 'units', 'gross', 'refunds', 'net', 'averagePrice'] as const),
  ...(['cost', 'failedCost', 'margin', 'marginPercent'] as const),
];

/** The columns of a file: what was asked for, then the measures. */
export function revenueColumns(by: readonly RevenueDimension[]): CsvColumn<RevenueRow>[] {
  return [
    ...by.map((name) => ({ title: name, value: (row: RevenueRow) => row.by[name] ?? null })),
    ...MEASURES.map((name) => ({ title: snake(name), value: (row: RevenueRow) => viewEarned(row)[name] })),
  ];
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function viewPriceChange(version: PriceVersionEarned): z.input<typeof priceChangeView> {
  const { versionId, effectiveFrom, until, recordedAt, gross, charges, units, ...rest } = version;
  return {
    ...rest,
    versionId: versionId.toString(),
    effectiveFrom: effectiveFrom?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    recordedAt: recordedAt.toISOString(),
    ...{ gross: viewAmount(gross), charges: charges.toString(), units: units.toString() },
  };
}

/** People make versions of prices by hand: there are never so many. */
export const ALL_VERSIONS = 1_000_000;

type PriceChange = z.input<typeof priceChangeView>;

export const priceChangeColumns: readonly CsvColumn<PriceChange>[] = [
  { title: 'effective_from', value: ({ effectiveFrom }) => effectiveFrom },
  { title: 'until', value: ({ until }) => until },
  { title: 'kind', value: ({ kind }) => kind },
  { title: 'version', value: ({ versionId }) => versionId },
  { title: 'subject', value: ({ subject }) => subject },
  { title: 'before', value: ({ before }) => before },
  { title: 'value', value: ({ value }) => value },
  { title: 'recorded_at', value: ({ recordedAt }) => recordedAt },
  { title: 'proposal', value: ({ proposal }) => proposal?.id ?? null },
  { title: 'proposed_by', value: ({ proposal }) => proposal?.proposedBy ?? null },
  { title: 'decided_by', value: ({ proposal }) => proposal?.decidedBy ?? null },
  { title: 'note', value: ({ proposal }) => proposal?.note ?? null },
  { title: 'charges', value: ({ charges }) => charges },
  { title: 'units', value: ({ units }) => units },
  { title: 'gross', value: ({ gross }) => gross },
];
