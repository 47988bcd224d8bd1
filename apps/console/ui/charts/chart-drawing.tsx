import '@mantine/charts/styles.css';
import { AreaChart, BarChart, LineChart } from '@mantine/charts';
import { Paper, Text } from '@mantine/core';
import type { ChartProps } from './chart-props.js';

type Row = { at: string; exact: Record<string, string | null> } & Record<string, unknown>;

/** Keyboards and screen readers have the table beside the drawing, which is hidden from them and takes no focus. */
const still = { accessibilityLayer: false, tabIndex: -1 };

/** The part of charts that loads late; pages use Chart. */
export default function ChartDrawing({ kind, points, series, text, height = 260 }: ChartProps) {
  const data = points.map(({ at, values }): Row => {
    const numbers = Object.entries(values).map(([name, value]) => [
      name,
      value === null ? null : Number(value),
    ]);
    return { at, exact: values, ...(Object.fromEntries(numbers) as object) };
  });
  const shared = {
    h: height,
    data,
    dataKey: 'at',
    series: series.map(({ name, label, color }) => ({ name, label, color })),
    withLegend: series.length > 1,
    valueFormatter: (value: number) => text(String(value)),
    yAxisProps: { width: 90 },
    tooltipProps: {
      content: ({ label, payload }: { label?: unknown; payload?: readonly { payload?: Row }[] }) => (
        <Exact title={String(label)} row={payload?.[0]?.payload} series={series} text={text} />
      ),
    },
  };
  if (kind === 'bar' || kind === 'stacked-bar')
    return <BarChart {...shared} type={kind === 'bar' ? 'default' : 'stacked'} barChartProps={still} />;
  if (kind === 'area') return <AreaChart {...shared} curveType="monotone" areaChartProps={still} />;
  return (
    <LineChart {...shared} curveType={kind === 'step' ? 'stepAfter' : 'linear'} lineChartProps={still} />
  );
}

function Exact({
  title,
  row,
  series,
  text,
}: Pick<ChartProps, 'series' | 'text'> & { title: string; row: Row | undefined }) {
  return (
    <Paper withBorder shadow="md" p="xs">
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {series.map(({ name, label }) => {
        const value = row?.exact[name];
        return (
          value != null && (
            <Text key={name} size="sm">
              {label}: {text(value)}
            </Text>
          )
        );
      })}
    </Paper>
  );
}
