import { Card, Checkbox, Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { column, extra, menuColumn, moneyColumn } from '../../ui/lists/columns.js';
import { useCopies } from '../../ui/lists/row-actions.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { compareDecimals } from '../../ui/decimal.js';
import { FactGrid, Figure, Figures } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/identifier.js';
import { Money } from '../../ui/money.js';
import { Notice } from '../../ui/notice.js';
import { Loaded } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { SmallPrint, TwoLines } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { AccountLink, ChargeLink, TransactionLinks } from '../transaction-links.js';
import { useDurationText } from './durations.js';

const route = getRouteApi('/finance/work');

/** What is held, the oldest first, and for how long. */
export function Holds() {
  const { t } = useTranslation('reports');
  const { only } = route.useSearch();
  const navigate = route.useNavigate();
  const overdue = only === 'yes' ? 'true' : 'false';
  const holds = useList('/api/finance/reports/holds', { query: { overdue } });
  return (
    <Stack>
      <Loaded query={holds} lines={4}>
        {(found) => <Summary report={found} />}
      </Loaded>
      <Group justify="space-between">
        <Checkbox
          label={t('holds.onlyOverdue')}
          checked={only === 'yes'}
          onChange={({ currentTarget }) =>
            void navigate({ search: currentTarget.checked ? { only: 'yes' } : {}, replace: true })
          }
        />
        <CsvLink path="/api/finance/reports/holds.csv" query={{ overdue }} />
      </Group>
      <DataList
        label={t('work.tabs.holds')}
        query={holds}
        columns={useColumns()}
        columnsName="holds"
        rowKey={({ chargeId }) => chargeId}
        empty={{ title: t('holds.empty'), hint: t('holds.emptyHint') }}
        isPaged
      />
    </Stack>
  );
}

function Summary({ report: { buckets, overdue, total, balances } }: { report: Shape<'HoldsReport'> }) {
  const { t } = useTranslation('reports');
  const durationOf = useDurationText();
  const longest = buckets.at(-2)?.underMs ?? 0;
  const ages = buckets.map(({ underMs, count, amount }) => ({
    name:
      underMs === null
        ? t('holds.longer', { duration: durationOf(longest) })
        : t('holds.under', { duration: durationOf(underMs) }),
    value: <TwoLines first={count} second={<Money value={amount} />} />,
  }));
  return (
    <Stack>
      <Figures>
        <Figure name={t('holds.total')} value={<Money value={total} short />} hint={t('holds.totalHint')} />
        <Figure name={t('holds.overdue')} value={overdue.count} hint={<Money value={overdue.amount} />} />
      </Figures>
      <Card withBorder>
        <FactGrid cols={{ base: 2, sm: 3, lg: 5 }} facts={ages} />
      </Card>
      {compareDecimals(total, balances) !== 0 && (
        <Notice tone="bad" title={t('holds.differs')}>
          <Money value={balances} />
        </Notice>
      )}
    </Stack>
  );
}

function useColumns(): ListColumn<Shape<'OpenHold'>>[] {
  const { t } = useTranslation('reports');
  const copies = useCopies();
  const durationOf = useDurationText();
  return [
    column('age', t('holds.age'), ({ ageMs, heldSince, isOverdue }) => (
      <Stack gap={0} align="flex-start">
        <Text size="sm">{durationOf(ageMs)}</Text>
        <SmallPrint>
          <When at={heldSince} />
        </SmallPrint>
        {isOverdue && <StatusBadge tone="bad">{t('holds.isOverdue')}</StatusBadge>}
      </Stack>
    )),
    extra(column('due', t('holds.due'), ({ dueAt }) => <When at={dueAt} />)),
    column('model', t('dimensions.model'), ({ model, group, channel }) => (
      <TwoLines first={model} second={[group, channel].filter(Boolean).join(' · ')} />
    )),
    moneyColumn('amount', t('holds.amount')),
    column('charge', t('charge.one'), ({ chargeId }) => <ChargeLink id={chargeId} />),
    extra(column('account', t('dimensions.account'), ({ accountId }) => <AccountLink id={accountId} />)),
    column('task', t('holds.task'), ({ taskId, taskState }) => (
      <Stack gap={0}>
        <Identifier>{taskId}</Identifier>
        {taskState !== null && <Text size="xs">{taskState}</Text>}
      </Stack>
    )),
    extra(
      column('upstream', t('holds.upstream'), ({ upstreamTaskId }) => (
        <Identifier>{upstreamTaskId}</Identifier>
      )),
    ),
    column('transaction', t('transaction'), ({ transactionId }) => (
      <TransactionLinks ids={[transactionId]} />
    )),
    menuColumn(({ chargeId, accountId, taskId }) =>
      copies({ charge: chargeId, task: taskId, account: accountId }),
    ),
  ];
}
