import type { Shape } from '../../api/client.js';

export type RevenueLine = Shape<'Revenue'>['rows'][number];

export const dimensions = ['model', 'family', 'group', 'channel', 'account', 'day'] as const;
export type Dimension = (typeof dimensions)[number];

export interface Within {
  dimension: Dimension;
  value: string;
}

/** Reads one value of a dimension from the address, such as `model:{id}`. */
export function withinOf(text: string | undefined): Within | null {
  const [name, ...rest] = text?.split(':') ?? [];
  const dimension = dimensions.find((each) => each === name);
  return dimension && rest.length > 0 ? { dimension, value: rest.join(':') } : null;
}

/** What the chart shows. Recognized money can only be split by type. */
export const revenueMetrics = [
  'net',
  'charges',
  'failedCharges',
  'refunds',
  'recognised',
  'cost',
  'margin',
] as const;
export type RevenueMetric = (typeof revenueMetrics)[number];

/** Whether figures are in credits or in money. */
export type Basis = 'credits' | 'cash';

const CASH: readonly RevenueMetric[] = ['recognised', 'cost', 'margin'];

export function basisOf(metric: RevenueMetric): Basis {
  return CASH.includes(metric) ? 'cash' : 'credits';
}

export const FIRST_METRICS: Record<Basis, RevenueMetric> = { credits: 'net', cash: 'recognised' };

export const workSubjects = ['model', 'family', 'group', 'channel'] as const;
export type WorkSubject = (typeof workSubjects)[number];

/** The dimension that an opened value is broken down by. */
const NEXT: Record<Dimension, Dimension> = {
  family: 'model',
  model: 'day',
  group: 'model',
  channel: 'model',
  account: 'model',
  day: 'model',
};

/** The search that opens one value of a dimension. */
export function openedBy(dimension: Dimension, value: string) {
  const next = NEXT[dimension];
  return { within: `${dimension}:${value}`, by: next === 'model' ? undefined : next };
}
