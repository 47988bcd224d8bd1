import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { column, moneyColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { Section } from '../../ui/page.js';
import { SmallPrint, TwoLines } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { chargeColumn, transactionsColumn } from '../columns.js';
import { timesOf } from '../utc-days.js';
import { useDurationText } from '../../ui/time/duration.js';
import { RefundDays } from './refund-days.js';
import { YesFilter } from '../../ui/lists/choice.js';

const route = getRouteApi('/finance/work');

/** Failed work, and how soon it was refunded. */
export function Failures() {
  const { t } = useTranslation('reports');
  const { from, to } = route.useSearch();
  const times = timesOf({ from, to });
  return (
    <Stack gap="xl">
      <Stack>
        <Toolbar aside={<CsvLink path="/api/finance/reports/refunds.csv" query={times} />}>
          <DaysFilter />
          <SmallPrint>{t('utc', { ns: 'finance' })}</SmallPrint>
        </Toolbar>
        <RefundDays times={times} />
      </Stack>
      <FailureList times={times} />
    </Stack>
  );
}

function FailureList({ times }: { times: ReturnType<typeof timesOf> }) {
  const { t } = useTranslation('reports');
  const { only } = route.useSearch();
  const filter = { ...times, outstanding: only === 'yes' ? 'true' : 'false' } as const;
  const failed = useList('/api/finance/reports/refunds/failures', { query: filter });
  return (
    <Section
      title={t('failures.title')}
      aside={<CsvLink path="/api/finance/reports/refunds/failures.csv" query={filter} />}
    >
      <YesFilter param="only" label={t('failures.onlyOutstanding')} />
      <DataList query={failed} columns={useColumns()} rowKey="chargeId" empty={t('failures.empty')} />
    </Section>
  );
}

function useColumns(): ListColumn<Shape<'FailedWork'>>[] {
  const { t } = useTranslation('reports');
  const durationOf = useDurationText();
  return [
    timeColumn('failedAt', t('failures.failedAt')),
    column('model', t('dimensions.model'), ({ model, channel, reason }) => (
      <TwoLines first={model} second={[channel, reason].filter(Boolean).join(' · ')} />
    )),
    moneyColumn('amount', t('holds.amount')),
    column('refunded', t('failures.refunded'), ({ refundedAt, latencyMs }) =>
      refundedAt === null ? (
        <StatusBadge tone="bad">{t('failures.notYet')}</StatusBadge>
      ) : (
        t('failures.after', { duration: durationOf(latencyMs ?? 0) })
      ),
    ),
    chargeColumn('chargeId', t('charge.one')),
    transactionsColumn('transactionIds', t('transaction')),
  ];
}
