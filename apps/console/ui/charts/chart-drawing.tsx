import '@mantine/charts/styles.css';
import { CompositeChart } from '@mantine/charts';
import { ReferenceArea } from 'recharts';
import { ChartTooltip } from './chart-tooltip.js';
import type { ChartPoint, ChartProps, ChartSeries } from './chart-props.js';
import { useDrag } from './use-drag.js';

interface Row {
  point: ChartPoint;
  place: string | number;
  [series: string]: ChartPoint | number | string | null;
}

const CURVES = { line: 'linear', step: 'stepAfter', 'stacked-bar': 'linear' } as const;

/** The part of charts that loads late; pages use Chart. */
export default function ChartDrawing(props: ChartProps) {
  const { kind, points, series, text, height = 260, choosePoint } = props;
  const { dragged, handlers } = useDrag(props);
  const isTimed = points.every(({ ms }) => ms !== undefined);
  return (
    <CompositeChart
      h={height}
      data={points.map((point, index) => rowOf(point, isTimed ? (point.ms ?? 0) : index))}
      dataKey="place"
      series={series.map((each) => drawn(each, kind))}
      curveType={CURVES[kind]}
      // A line of one point would not be seen.
      withDots={kind === 'line'}
      barProps={{ stackId: 'all' }}
      maxBarWidth={48}
      valueFormatter={(value) => text(String(value))}
      xAxisProps={axisOf(points, isTimed)}
      yAxisProps={{ width: 95 }}
      tooltipProps={{
        content: ({ payload }: { payload?: readonly { payload?: Row }[] }) => (
          <ChartTooltip {...props} point={payload?.[0]?.payload?.point} />
        ),
      }}
      // Keyboards and screen readers have the table beside the drawing, which is hidden from them and takes no focus.
      accessibilityLayer={false}
      composedChartProps={{
        tabIndex: -1,
        ...handlers,
        ...(choosePoint ? { className: 'chart-choice' } : {}),
      }}
    >
      {dragged && <ReferenceArea x1={dragged.from} x2={dragged.to} className="chart-range" />}
    </CompositeChart>
  );
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

/** Points are beside each other, or as far apart as their times are. */
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
