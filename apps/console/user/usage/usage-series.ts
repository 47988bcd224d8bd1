import type { Shape } from '../../api/shape.js';
import type { ChartPoint } from '../../ui/charts/chart-props.js';
import { addDecimals } from '../../ui/decimal.js';
import type { UsageMetric } from './usage-search.js';

type UsageChart = Shape<'UsageChart'>;
type Point = UsageChart['points'][number];
type Totals = Shape<'UsageTotals'>;

/** A colour each; more cannot be told apart. */
export const SUBJECT_COLORS = [
  'blue.6',
  'teal.6',
  'orange.6',
  'grape.6',
  'cyan.6',
  'pink.6',
  'lime.7',
] as const;

/** Names of series that are no subject: no model, key, group or type has a blank in its name's beginning. */
export const OTHERS = ' others';
export const BEFORE = ' before';

/** The subjects with a colour of their own, the largest first. */
export function namedSubjects({ subjects }: UsageChart): string[] {
  const named = subjects.flatMap(({ subject }) => (subject === null ? [] : [subject]));
  return named.slice(0, SUBJECT_COLORS.length);
}

/** Whether there is more than those. */
export function hasOthers(chart: UsageChart): boolean {
  return chart.subjects.length > namedSubjects(chart).length;
}

/** The values of a step: of each named subject, of all others together, and of the same step before. */
export function stepValues(
  point: Point,
  names: readonly string[],
  metric: UsageMetric,
): ChartPoint['values'] {
  const isAverage = metric === 'latency';
  const values: ChartPoint['values'] = {};
  for (const name of names) {
    const found = point.subjects.find(({ subject }) => subject === name);
    values[name] = found ? valueOf(found, metric) : isAverage ? null : '0';
  }
  if (!isAverage) {
    const others = point.subjects.filter(({ subject }) => subject === null || !names.includes(subject));
    values[OTHERS] = addDecimals('0', ...others.map((each) => valueOf(each, metric) ?? '0'));
  }
  if (point.before !== null) values[BEFORE] = valueOf(point.before, metric);
  return values;
}

function valueOf({ spent, requests, failures, latencyMs }: Totals, metric: UsageMetric): string | null {
  if (metric === 'spent') return spent;
  if (metric === 'latency') return latencyMs === null ? null : String(latencyMs);
  return String(metric === 'requests' ? requests : failures);
}
