import { Card, Group, Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { YesFilter } from '../../ui/lists/choice.js';
import { codeColumn, column, extra, menuColumn, moneyColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { compareDecimals } from '../../ui/decimal.js';
import { FactGrid, Figure, Figures } from '../../ui/lists/facts.js';
import { Identifier, TwoLines } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { SmallWhen, When } from '../../ui/time/when.js';
import { transactionColumn } from '../columns.js';
import { AccountLink, ChargeLink } from '../transaction-links.js';
import { useDurationText } from '../../ui/time/duration.js';

/** Open holds and their age, oldest first. */
export function Holds() {
  const { t } = useTranslation('reports');
  const overdue = useSearch({ from: '/finance/work' }).only === 'yes' ? 'true' : 'false';
  const holds = useList('/api/finance/reports/holds', { query: { overdue } });
  return (
    <Stack>
      <Loaded query={holds} lines={4}>
        {(found) => <Summary report={found} />}
      </Loaded>
      <Group justify="space-between">
        <YesFilter param="only" label={t('holds.onlyOverdue')} />
        <CsvLink path="/api/finance/reports/holds.csv" query={{ overdue }} />
      </Group>
      <DataList
        query={holds}
        columns={useColumns()}
        name="holds"
        rowKey="chargeId"
        empty={t('holds.empty')}
      />
    </Stack>
  );
}

function Summary({ report: { buckets, overdue, total, balances } }: { report: Shape<'HoldsReport'> }) {
  const { t } = useTranslation('reports');
  return (
    <Stack>
      <Figures>
        <Figure
          name={t('holds.total')}
          value={<Money value={total} short="rounded" />}
          hint={t('holds.totalHint')}
        />
        <Figure name={t('holds.overdue')} value={overdue.count} hint={<Money value={overdue.amount} />} />
      </Figures>
      <Card withBorder>
        <FactGrid cols={{ base: 2, sm: 3, lg: 5 }} facts={useAges(buckets)} />
      </Card>
      {compareDecimals(total, balances) !== 0 && (
        <Notice tone="bad" title={t('holds.differs')}>
          <Money value={balances} />
        </Notice>
      )}
    </Stack>
  );
}

/** Holds by age; the last bucket has all older ones. */
function useAges(buckets: Shape<'HoldsReport'>['buckets']) {
  const { t } = useTranslation('reports');
  const durationOf = useDurationText();
  const longest = buckets.at(-2)?.underMs ?? 0;
  return buckets.map(({ underMs, count, amount }) => ({
    name:
      underMs === null
        ? t('holds.longer', { duration: durationOf(longest) })
        : t('holds.under', { duration: durationOf(underMs) }),
    value: <TwoLines first={count} second={<Money value={amount} />} />,
  }));
}

function useColumns(): ListColumn<Shape<'OpenHold'>>[] {
  const { t } = useTranslation('reports');
  return [
    column('age', t('holds.age'), (hold) => <Age hold={hold} />),
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
    extra(codeColumn('upstreamTaskId', t('holds.upstream'))),
    transactionColumn('transactionId', t('transaction')),
    menuColumn(({ chargeId, accountId, taskId }) =>
      copies({ charge: chargeId, task: taskId, account: accountId }),
    ),
  ];
}

function Age({ hold: { ageMs, heldSince, isOverdue } }: { hold: Shape<'OpenHold'> }) {
  const { t } = useTranslation('reports');
  const durationOf = useDurationText();
  return (
    <Stack gap={0} align="flex-start">
      <Text size="sm">{durationOf(ageMs)}</Text>
      <SmallWhen at={heldSince} />
      {isOverdue && <StatusBadge tone="bad">{t('holds.isOverdue')}</StatusBadge>}
    </Stack>
  );
}
