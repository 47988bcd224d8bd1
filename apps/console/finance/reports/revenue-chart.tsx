import { Card } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import { Chart } from '../../ui/charts/chart.js';
import { addDecimals } from '../../ui/decimal.js';
import { useMoneyText } from '../../ui/money.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { type DaySpan, addDays, daysUntil } from '../utc-days.js';
import type { RevenueLine } from './revenue.js';
import { useShortDay } from '../../ui/when.js';

/** More days than that are no chart that anybody could read. */
const MOST_DAYS = 400;

/** Revenue, cost and margin day by day; days on which nothing happened are drawn as such. */
export function RevenueChart({ days }: { days: Required<DaySpan> }) {
  const { t } = useTranslation('reports');
  const money = useMoneyText();
  const revenue = useShown('/api/finance/reports/revenue', {
    query: { ...daysUntil(days), by: 'day', limit: MOST_DAYS },
  });
  const shortDay = useShortDay();
  return (
    <Card withBorder>
      <Loaded query={revenue} lines={9}>
        {({ rows }) =>
          rows.length === 0 ? (
            <EmptyState title={t('revenue.empty')} hint={t('revenue.emptyHint')} />
          ) : (
            <Chart
              kind="bar"
              label={t('revenue.chart')}
              points={everyDay(days, rows).map(({ day, row }) => ({
                at: shortDay(day),
                values: {
                  net: row?.net ?? '0',
                  cost: row ? addDecimals(row.cost, row.failedCost) : '0',
                  margin: row?.margin ?? '0',
                },
              }))}
              series={[
                { name: 'net', label: t('revenue.net'), color: 'blue.6' },
                { name: 'cost', label: t('revenue.allCost'), color: 'orange.6' },
                { name: 'margin', label: t('revenue.margin'), color: 'teal.6' },
              ]}
              text={money}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

function everyDay({ from, to }: Required<DaySpan>, rows: readonly RevenueLine[]) {
  const byDay = new Map(rows.map((row) => [row.day ?? '', row]));
  const days: { day: string; row: RevenueLine | undefined }[] = [];
  for (let day = from ?? ''; day <= (to ?? '') && days.length < MOST_DAYS; day = addDays(day))
    days.push({ day, row: byDay.get(day) });
  return days;
}
