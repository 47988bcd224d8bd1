import { Group, Paper, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { addDecimals, compareDecimals } from '../decimal.js';
import { Hint } from '../texts.js';
import type { ChartPoint, ChartProps, ChartSeries } from './chart-props.js';

/** More lines would cover the drawing. */
const MOST_LINES = 5;

interface ChartTooltipProps extends Pick<ChartProps, 'kind' | 'series' | 'text'> {
  point: ChartPoint | undefined;
}

/** The exact values of a point: of all lines, or the largest of a stack and its total. */
export function ChartTooltip({ kind, series, text, point }: ChartTooltipProps) {
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
