import { Card, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import { Chart } from '../../ui/charts/chart.js';
import { COSTS, CREDIT_UNIT } from '../../ui/decimal.js';
import { Switch } from '../../ui/lists/choice.js';
import { useMoneyText } from '../../ui/money.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { type DaySpan, addDays, daysUntil } from '../utc-days.js';
import type { RevenueLine } from './revenue.js';
import { useShortDay } from '../../ui/when.js';

/** More days than that are no chart that anybody could read. */
const MOST_DAYS = 400;

const UNITS = ['credits', 'money'] as const;
type Unit = (typeof UNITS)[number];

/** What each unit draws: credits and money are never on one axis. */
const SERIES = {
  credits: [
    { name: 'net', color: 'blue.6' },
    { name: 'refunds', color: 'grape.6' },
  ],
  money: [
    { name: 'cost', color: 'orange.6' },
    { name: 'failedCost', color: 'red.6' },
  ],
} as const;

/** Credits earned, or money spent on upstreams, day by day; days on which nothing happened are drawn as such. */
export function RevenueChart({ days }: { days: Required<DaySpan> }) {
  const { t } = useTranslation('reports');
  const [unit, setUnit] = useState<Unit>('credits');
  const revenue = useShown('/api/finance/reports/revenue', {
    query: { ...daysUntil(days), by: 'day', limit: MOST_DAYS },
  });
  return (
    <Card withBorder>
      <Stack>
        <Switch
          label={t('revenue.unit')}
          options={UNITS.map((value) => ({ value, label: t(`revenue.chartUnits.${value}`) }))}
          value={unit}
          set={setUnit}
        />
        <Loaded query={revenue} lines={9}>
          {({ rows }) =>
            rows.length === 0 ? (
              <EmptyState title={t('revenue.empty')} hint={t('revenue.emptyHint')} />
            ) : (
              <Drawn unit={unit} days={everyDay(days, rows)} />
            )
          }
        </Loaded>
      </Stack>
    </Card>
  );
}

function Drawn({ unit, days }: { unit: Unit; days: ReturnType<typeof everyDay> }) {
  const { t } = useTranslation('reports');
  const text = useMoneyText(unit === 'money' ? COSTS : CREDIT_UNIT);
  const shortDay = useShortDay();
  const series = SERIES[unit];
  return (
    <Chart
      kind="stacked-bar"
      label={t(`revenue.charts.${unit}`)}
      points={days.map(({ day, row }) => ({
        at: shortDay(day),
        values: Object.fromEntries(series.map(({ name }) => [name, row?.[name] ?? '0'])),
      }))}
      series={series.map(({ name, color }) => ({ name, color, label: t(`revenue.${name}`) }))}
      text={text}
    />
  );
}

function everyDay({ from, to }: Required<DaySpan>, rows: readonly RevenueLine[]) {
  const byDay = new Map(rows.map((row) => [row.day ?? '', row]));
  const days: { day: string; row: RevenueLine | undefined }[] = [];
  for (let day = from ?? ''; day <= (to ?? '') && days.length < MOST_DAYS; day = addDays(day))
    days.push({ day, row: byDay.get(day) });
  return days;
}
