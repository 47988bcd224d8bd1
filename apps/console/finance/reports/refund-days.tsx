import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { Chart } from '../../ui/charts/chart.js';
import { dayColumn, moneyColumn, numberColumn, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { Money } from '../../ui/money.js';
import { useDurationText } from '../../ui/time/duration.js';
import { useShortDay } from '../../ui/time/when.js';

/** How long refunds took, day by day. */
export function RefundDays({ times }: { times: { from?: string; to?: string } }) {
  const { t } = useTranslation('reports');
  const report = useShown('/api/finance/reports/refunds', { query: times });
  const days = report.data?.days ?? [];
  return (
    <Stack>
      {days.length > 1 && <LatencyChart days={days} />}
      <DataList
        label={t('failures.days')}
        query={rowsOf(report, (data) => data.days)}
        columns={useColumns()}
        rowKey="day"
        empty={t('failures.empty')}
      />
    </Stack>
  );
}

function LatencyChart({ days }: { days: readonly Shape<'RefundDay'>[] }) {
  const { t } = useTranslation('reports');
  const durationOf = useDurationText();
  const shortDay = useShortDay();
  return (
    <Chart
      kind="line"
      label={t('failures.chart')}
      points={days.toReversed().map(({ day, p50Ms, p95Ms }) => ({
        at: shortDay(day),
        values: { p50: numberText(p50Ms), p95: numberText(p95Ms) },
      }))}
      series={[
        { name: 'p50', label: t('failures.half'), color: 'blue.6' },
        { name: 'p95', label: t('failures.most'), color: 'orange.6' },
      ]}
      text={(value) => durationOf(Number(value))}
      height={200}
    />
  );
}

function numberText(value: number | null): string | null {
  return value === null ? null : String(value);
}

function useColumns(): ListColumn<Shape<'RefundDay'>>[] {
  const { t } = useTranslation('reports');
  const durationOf = useDurationText();
  const latency = (id: 'p50Ms' | 'p95Ms' | 'maxMs', header: string) =>
    rightColumn(id, header, ({ [id]: ms }: Shape<'RefundDay'>) => (ms === null ? '–' : durationOf(ms)));
  return [
    dayColumn('day', t('dimensions.day')),
    numberColumn('failures', t('failures.count')),
    moneyColumn('amount', t('holds.amount')),
    rightColumn('outstanding', t('failures.outstanding'), ({ outstanding, outstandingAmount }) =>
      outstanding === 0 ? (
        0
      ) : (
        <>
          {outstanding} · <Money value={outstandingAmount} />
        </>
      ),
    ),
    latency('p50Ms', t('failures.half')),
    latency('p95Ms', t('failures.most')),
    latency('maxMs', t('failures.longest')),
  ];
}
