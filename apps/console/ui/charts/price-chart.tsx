import type { Shape } from '../../api/shape.js';
import { useLocale } from '../locale.js';
import { useMoneyText } from '../money.js';
import type { ChartPoint } from './chart-props.js';
import { Chart } from './chart.js';

const SERIES = {
  unitPrice: 'blue.6',
  input: 'teal.6',
  cachedInput: 'grape.6',
  output: 'orange.6',
  cacheWrite: 'cyan.6',
  cacheWrite1h: 'indigo.6',
} as const;
type SeriesName = keyof typeof SERIES;

interface PriceChartProps {
  label: string;
  versions: readonly Shape<'PriceHistoryEntry'>[];
  /** The words for today, and for a price that has been there from the beginning. */
  now: string;
  always: string;
  seriesLabel: (name: SeriesName) => string;
  /** With fewer points than these there is no chart. */
  fewest: number;
}

/** The list price from the oldest version to the newest, and today, so that the price in force is drawn as a line. */
export function PriceChart({ label, versions, now, always, seriesLabel, fewest }: PriceChartProps) {
  const locale = useLocale();
  const money = useMoneyText();
  const day = (at: string | null) =>
    at === null ? always : new Date(at).toLocaleDateString(locale, { dateStyle: 'medium' });
  const prices = versions.filter(({ kind }) => kind === 'price').reverse();
  const points = prices.flatMap(({ price, effectiveFrom, state }): ChartPoint[] => {
    const start = { at: day(effectiveFrom), values: { ...price } };
    return state === 'in_force' ? [start, { at: now, values: { ...price } }] : [start];
  });
  if (points.length < fewest) return null;
  const series = (Object.keys(SERIES) as SeriesName[])
    .filter((name) => points.some(({ values }) => values[name] !== undefined))
    .map((name) => ({ name, label: seriesLabel(name), color: SERIES[name] }));
  return <Chart kind="step" label={label} points={points} series={series} text={money} height={200} />;
}
