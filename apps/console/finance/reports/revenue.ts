import type { Shape } from '../../api/shape.js';

export type RevenueLine = Shape<'Revenue'>['rows'][number];

export const dimensions = ['model', 'family', 'group', 'channel', 'account', 'day'] as const;
export type Dimension = (typeof dimensions)[number];

export interface Within {
  dimension: Dimension;
  value: string;
}

/** One value of a dimension as the address has it: `model:{id}`. */
export function withinOf(text: string | undefined): Within | null {
  const [name, ...rest] = text?.split(':') ?? [];
  const dimension = dimensions.find((each) => each === name);
  return dimension && rest.length > 0 ? { dimension, value: rest.join(':') } : null;
}

/** What its chart shows: credits and counts by anything, money that was recognised by type alone. */
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

/** What figures are counted in: credits with the requests that used them, or money. */
export type Basis = 'credits' | 'cash';

const CASH: readonly RevenueMetric[] = ['recognised', 'cost', 'margin'];

export function basisOf(metric: RevenueMetric): Basis {
  return CASH.includes(metric) ? 'cash' : 'credits';
}

/** What each is shown by at first. */
export const FIRST_METRICS: Record<Basis, RevenueMetric> = { credits: 'net', cash: 'recognised' };

export const workSubjects = ['model', 'family', 'group', 'channel'] as const;
export type WorkSubject = (typeof workSubjects)[number];

/** What one value is opened to: the dimension that comes next. */
const NEXT: Record<Dimension, Dimension> = {
  family: 'model',
  model: 'day',
  group: 'model',
  channel: 'model',
  account: 'model',
  day: 'model',
};

/** The address that opens one value of a dimension. */
export function openedBy(dimension: Dimension, value: string) {
  const next = NEXT[dimension];
  return { within: `${dimension}:${value}`, by: next === 'model' ? undefined : next };
}
