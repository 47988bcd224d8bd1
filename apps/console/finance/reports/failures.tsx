import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Item } from '../../api/queries.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { DayRange } from '../../ui/day-range.js';
import { Section } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { CsvLink } from '../csv-link.js';
import { timesOf } from '../utc-days.js';
import { useDurationText } from './durations.js';
import { RefundDays } from './refund-days.js';
import { column, moneyColumn, timeColumn } from '../../ui/columns.js';
import { chargeColumn, transactionsColumn } from '../columns.js';

const route = getRouteApi('/finance/work');

type Failure = Item<'/api/finance/reports/refunds/failures'>;

/** Work that failed, and how soon its money came back. */
export function Failures() {
  const { t } = useTranslation('reports');
  const { only, from, to, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const times = timesOf({ from, to });
  const filter = { ...times, outstanding: only === 'yes' ? 'true' : 'false' } as const;
  const failures = $api.useQuery(
    'get',
    '/api/finance/reports/refunds/failures',
    { params: { query: { ...filter, cursor } } },
    { placeholderData: keepPreviousData },
  );
  const set = (change: object) =>
    void navigate({ search: (before) => ({ ...before, ...change, cursor: undefined }), replace: true });
  return (
    <Stack gap="xl">
      <Stack>
        <Group align="flex-end" gap="sm">
          <DayRange from={from} to={to} set={set} />
          <Text size="xs" c="dimmed">
            {t('utc', { ns: 'finance' })}
          </Text>
          <CsvLink path="/api/finance/reports/refunds.csv" query={times} />
        </Group>
        <RefundDays times={times} />
      </Stack>
      <Section
        title={t('failures.title')}
        aside={<CsvLink path="/api/finance/reports/refunds/failures.csv" query={filter} />}
      >
        <Checkbox
          label={t('failures.onlyOutstanding')}
          checked={only === 'yes'}
          onChange={({ currentTarget }) => set({ only: currentTarget.checked ? 'yes' : undefined })}
        />
        <DataList
          label={t('failures.title')}
          query={failures}
          columns={useColumns()}
          rowKey={({ chargeId }) => chargeId}
          empty={{ title: t('failures.empty'), hint: t('failures.emptyHint') }}
          pager={{
            cursor,
            go: (next) => void navigate({ search: (before) => ({ ...before, cursor: next }) }),
          }}
        />
      </Section>
    </Stack>
  );
}

function useColumns(): Column<Failure>[] {
  const { t } = useTranslation('reports');
  const durationOf = useDurationText();
  return [
    timeColumn('failedAt', t('failures.failedAt')),
    column('model', t('dimensions.model'), ({ model, channel, reason }) => (
      <Stack gap={0}>
        <Text size="sm" className="model-name">
          {model}
        </Text>
        <Text size="xs" c="dimmed">
          {[channel, reason].filter(Boolean).join(' · ')}
        </Text>
      </Stack>
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
