import '@mantine/charts/styles.css';
import { CompositeChart } from '@mantine/charts';
import { ReferenceArea } from 'recharts';
import type { ChartPoint, ChartProps, ChartSeries } from './chart-props.js';
import { useDrag } from './use-drag.js';
import { Group, Paper, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { addDecimals, compareDecimals } from '../decimal.js';
import { Hint } from '../texts.js';

interface Row {
  point: ChartPoint;
  place: string | number;
  [series: string]: ChartPoint | number | string | null;
}

const FIXED = {
  dataKey: 'place',
  barProps: { stackId: 'all' },
  maxBarWidth: 48,
  // Keyboards and screen readers use the table beside the drawing, which is hidden from them and takes no focus.
  accessibilityLayer: false,
};

interface Pointed {
  payload?: readonly { payload?: Row }[];
}

const CURVES = { line: 'linear', step: 'stepAfter', 'stacked-bar': 'linear' } as const;

/** Loaded late; pages use Chart. */
export default function ChartDrawing(props: ChartProps) {
  const { kind, points, series, text, height = 260, choosePoint } = props;
  const { dragged, handlers } = useDrag(props);
  const choice = choosePoint ? { className: 'chart-choice' } : {};
  const isTimed = points.every(({ ms }) => ms !== undefined);
  const rows = points.map((point, index) => rowOf(point, isTimed ? (point.ms ?? 0) : index));
  const tooltip = ({ payload }: Pointed) => <ChartTooltip {...props} point={payload?.[0]?.payload?.point} />;
  return (
    <CompositeChart
      h={height}
      data={rows}
      series={series.map((each) => drawn(each, kind))}
      curveType={CURVES[kind]}
      // Makes a line of one point visible.
      withDots={kind === 'line'}
      valueFormatter={(value) => text(String(value))}
      xAxisProps={axisOf(points, isTimed)}
      // There is no half of what is counted.
      yAxisProps={{ width: 95, allowDecimals: !points.every(isWhole) }}
      tooltipProps={{ content: tooltip }}
      {...FIXED}
      composedChartProps={{ tabIndex: -1, ...handlers, ...choice }}
    >
      {dragged && <ReferenceArea x1={dragged.from} x2={dragged.to} className="chart-range" />}
    </CompositeChart>
  );
}

function isWhole({ values }: ChartPoint): boolean {
  return Object.values(values).every((value) => Number.isInteger(Number(value)));
}

function rowOf(point: ChartPoint, place: number): Row {
  const row: Row = { point, place };
  for (const [name, value] of Object.entries(point.values)) row[name] = value === null ? null : Number(value);
  return row;
}

function drawn({ name, label, color, isBefore }: ChartSeries, kind: ChartProps['kind']) {
  const type = kind === 'stacked-bar' && !isBefore ? ('bar' as const) : ('line' as const);
  return { name, label, color, type, ...(isBefore ? { strokeDasharray: '4 4' } : {}) };
}

/** Points are evenly spaced, or placed by their times. */
function axisOf(points: readonly ChartPoint[], isTimed: boolean) {
  if (!isTimed) return { tickFormatter: (place: number) => points[place]?.at ?? '' };
  const labels = new Map(points.map(({ ms, at }) => [ms, at]));
  return {
    type: 'number' as const,
    scale: 'time' as const,
    domain: ['dataMin', 'dataMax'] as [string, string],
    ticks: [...labels.keys()].map((ms) => ms ?? 0),
    tickFormatter: (ms: number) => labels.get(ms) ?? '',
  };
}

/** More lines would cover the drawing. */
const MOST_LINES = 5;

interface ChartTooltipProps extends Pick<ChartProps, 'kind' | 'series' | 'text'> {
  point: ChartPoint | undefined;
}

/** The exact values of a point: of all lines, or the largest of a stack and its total. */
function ChartTooltip({ kind, series, text, point }: ChartTooltipProps) {
  const { t } = useTranslation('shell');
  if (!point) return null;
  const { at, values } = point;
  const isStack = kind === 'stacked-bar';
  const known = series.filter(({ name }) => values[name] != null);
  const parts = known.filter(({ isBefore }) => !isBefore);
  const sorted = isStack ? parts.toSorted(largestFirst(values)) : parts;
  const left = sorted.length - MOST_LINES;
  const line = ({ name, label }: ChartSeries) => <Line key={name} name={label} value={text(values[name]!)} />;
  const total = () => text(addDecimals(...parts.map(({ name }) => values[name]!)));
  return (
    <Paper withBorder shadow="md" p="xs">
      <Text size="sm" fw={600}>
        {at}
      </Text>
      {sorted.slice(0, MOST_LINES).map(line)}
      {left > 0 && <Hint>{t('chart.more', { count: left })}</Hint>}
      {isStack && parts.length > 1 && <Line name={t('chart.total')} value={total()} isStrong />}
      {known.filter(({ isBefore }) => isBefore).map(line)}
    </Paper>
  );
}

function largestFirst(values: ChartPoint['values']) {
  return (a: ChartSeries, b: ChartSeries) => compareDecimals(values[b.name] ?? '0', values[a.name] ?? '0');
}

function Line({ name, value, isStrong = false }: { name: string; value: string; isStrong?: boolean }) {
  return (
    <Group justify="space-between" gap="md" wrap="nowrap">
      <Text size="sm" fw={isStrong ? 600 : 400}>
        {name}
      </Text>
      <Text size="sm" fw={isStrong ? 600 : 400} className="money">
        {value}
      </Text>
    </Group>
  );
}
