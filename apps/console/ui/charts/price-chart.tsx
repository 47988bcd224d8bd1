import type { Shape } from '../../api/client.js';
import { useLocale } from '../locale.js';
import { useMoneyText } from '../money.js';
import { useNow } from '../time/now.js';
import type { ChartPoint } from './chart-props.js';
import { Chart } from './chart.js';

const SERIES = {
  unitPrice: 'blue.6',
  input: 'teal.6',
  cachedInput: 'grape.6',
  output: 'orange.6',
  cacheWrite: 'cyan.6',
  cacheWrite1h: 'indigo.6',
  imageInput: 'lime.7',
  cachedImageInput: 'green.4',
  imageOutput: 'red.6',
  audioInput: 'violet.6',
  cachedAudioInput: 'violet.3',
  audioOutput: 'pink.6',
} as const;
type SeriesName = keyof typeof SERIES;

const MINUTE_MS = 60_000;

interface PriceChartProps {
  label: string;
  versions: readonly Shape<'PriceHistoryEntry'>[];
  /** Texts for today, and for a price from the beginning. */
  now: string;
  always: string;
  seriesLabel: (name: SeriesName) => string;
  /** Fewer points make no chart. */
  fewest: number;
}

/** How much of the chart shows a price from the beginning before its first change. */
const BEGINNING = 0.1;

/** The list price over time, from its oldest version to the newest and today. */
export function PriceChart({ label, versions, now, always, seriesLabel, fewest }: PriceChartProps) {
  const locale = useLocale();
  const money = useMoneyText();
  const nowMs = useNow(MINUTE_MS);
  const prices = versions.filter(({ kind }) => kind === 'price').reverse();
  const startMs = startOf(prices, nowMs);
  const points = prices.flatMap(({ price, effectiveFrom, state }): ChartPoint[] => {
    const ms = effectiveFrom === null ? startMs : Date.parse(effectiveFrom);
    const at =
      effectiveFrom === null ? always : new Date(ms).toLocaleDateString(locale, { dateStyle: 'medium' });
    const start = { at, ms, values: { ...price } };
    return state === 'in_force' ? [start, { at: now, ms: nowMs, values: { ...price } }] : [start];
  });
  if (points.length < fewest) return null;
  const series = (Object.keys(SERIES) as SeriesName[])
    .filter((name) => points.some(({ values }) => values[name] !== undefined))
    .map((name) => ({ name, label: seriesLabel(name), color: SERIES[name] }));
  return <Chart kind="step" label={label} points={points} series={series} text={money} height={200} />;
}

/** Unique within a history. */
export function versionKey({ kind, group, effectiveFrom }: Shape<'PriceHistoryEntry'>): string {
  return `${kind} ${group} ${effectiveFrom}`;
}

/** Where a price from the beginning starts: some way before the first dated change. */
function startOf(prices: readonly Shape<'PriceHistoryEntry'>[], nowMs: number): number {
  const times = prices.flatMap(({ effectiveFrom }) => (effectiveFrom ? [Date.parse(effectiveFrom)] : []));
  const firstMs = Math.min(nowMs, ...times);
  return firstMs - Math.max(BEGINNING * (Math.max(nowMs, ...times) - firstMs), MINUTE_MS);
}
