import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Item } from '../../api/queries.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { DayRange } from '../../ui/day-range.js';
import { Money } from '../../ui/money.js';
import { Section } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/when.js';
import { CsvLink } from '../csv-link.js';
import { ChargeLink, TransactionLinks } from '../transaction-links.js';
import { timesOf } from '../utc-days.js';
import { useDurationText } from './durations.js';
import { RefundDays } from './refund-days.js';

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
    { id: 'failedAt', header: t('failures.failedAt'), cell: ({ failedAt }) => <When at={failedAt} /> },
    {
      id: 'model',
      header: t('dimensions.model'),
      cell: ({ model, channel, reason }) => (
        <Stack gap={0}>
          <Text size="sm" className="model-name">
            {model}
          </Text>
          <Text size="xs" c="dimmed">
            {[channel, reason].filter(Boolean).join(' · ')}
          </Text>
        </Stack>
      ),
    },
    {
      id: 'amount',
      header: t('holds.amount'),
      align: 'right',
      cell: ({ amount }) => <Money value={amount} />,
    },
    {
      id: 'refunded',
      header: t('failures.refunded'),
      cell: ({ refundedAt, latencyMs }) =>
        refundedAt === null ? (
          <StatusBadge tone="bad">{t('failures.notYet')}</StatusBadge>
        ) : (
          t('failures.after', { duration: durationOf(latencyMs ?? 0) })
        ),
    },
    { id: 'charge', header: t('charge.one'), cell: ({ chargeId }) => <ChargeLink id={chargeId} /> },
    {
      id: 'transactions',
      header: t('transaction'),
      cell: ({ transactionIds }) => <TransactionLinks ids={transactionIds} />,
    },
  ];
}
