import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { useFilter } from '../../ui/address.js';
import { column, extra, moneyColumn, timeColumn } from '../../ui/lists/columns.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { DayRange, timesOfDays } from '../../ui/forms/day-range.js';
import { TextLink } from '../../ui/links.js';
import { Section } from '../../ui/states.js';
import { type StatementSearch, statementBalances, statementKinds } from './statement-search.js';

const route = getRouteApi('/user/wallet');

interface StatementQuery {
  balance?: Exclude<(typeof statementBalances)[number], 'all'>;
  kind?: string;
  from?: string;
  to?: string;
}

/** The same as the server is asked. Days are the viewer's, as the times in the list are. */
function queryOf({ balance, kind, from, to }: StatementSearch): StatementQuery {
  return {
    ...(balance === 'all' ? {} : { balance: balance ?? 'main' }),
    ...(kind === undefined ? {} : { kind }),
    ...timesOfDays({ from, to }),
  };
}

/** What moved on the balances, line by line, with what was left after each. */
export function Statement() {
  const { t } = useTranslation('wallet');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { cursor } = search;
  const query = queryOf(search);
  const lines = useList('/api/statement', { query });
  const set = useFilter();
  const go = (next: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, cursor: next }) });
  const isFiltered = Object.keys(query).some((name) => name !== 'balance');
  return (
    <Section title={t('statement.title')} aside={<Csv query={query} />}>
      <Filters search={search} set={set} />
      <DataList
        label={t('statement.title')}
        query={lines}
        columns={useColumns(search.balance === 'all')}
        rowKey={({ transactionId, balance, amount }) => `${transactionId} ${balance} ${amount}`}
        empty={{
          title: t('statement.emptyTitle'),
          hint: isFiltered ? t('statement.emptyFiltered') : t('statement.emptyHint'),
          action: isFiltered && (
            <TextLink to="/wallet" search={{ tab: 'statement' }}>
              {t('statement.all')}
            </TextLink>
          ),
        }}
        pager={{ cursor, go }}
        columnsName="statement"
      />
    </Section>
  );
}

function Filters({
  search,
  set,
}: {
  search: StatementSearch;
  set: (change: Partial<StatementSearch>) => void;
}) {
  const { t } = useTranslation('wallet');
  const { balance = 'main', kind, from, to } = search;
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label={t('statement.balance')}
        data={statementBalances.map((each) => ({ value: each, label: t(`statement.balances.${each}`) }))}
        value={balance}
        onChange={(value) => {
          const chosen = statementBalances.find((each) => each === value);
          set({ balance: chosen === 'main' ? undefined : chosen });
        }}
        allowDeselect={false}
      />
      <Select
        label={t('statement.kind')}
        placeholder={t('statement.allKinds')}
        data={statementKinds.map((each) => ({ value: each, label: t(`statement.kinds.${each}`) }))}
        value={kind ?? null}
        onChange={(value) => set({ kind: statementKinds.find((each) => each === value) })}
        clearable
        clearButtonProps={{ 'aria-label': t('statement.allKinds') }}
      />
      <DayRange from={from} to={to} set={set} />
    </Group>
  );
}

/** All lines that the filter leaves, not only those of this page. */
function Csv({ query }: { query: StatementQuery }) {
  const { t } = useTranslation('wallet');
  return (
    <Button
      component="a"
      href={`/api/statement.csv?${new URLSearchParams({ ...query }).toString()}`}
      download
      variant="default"
      size="xs"
      leftSection={<IconDownload size={14} aria-hidden />}
    >
      {t('statement.csv')}
    </Button>
  );
}

function useColumns(withBalance: boolean): ListColumn<Shape<'StatementEntry'>>[] {
  const { t } = useTranslation('wallet');
  return [
    timeColumn('at', t('statement.at')),
    extra(timeColumn('effectiveAt', t('statement.effectiveAt'))),
    column('kind', t('statement.kind'), (line) => <Kind line={line} />),
    ...(withBalance
      ? [
          column('balance', t('statement.balance'), ({ balance }: Shape<'StatementEntry'>) =>
            t(`statement.balances.${balance}`),
          ),
        ]
      : []),
    extra(
      column('reference', t('statement.reference'), ({ reference }) => (
        <Text size="xs" ff="monospace" className="model-name">
          {reference}
        </Text>
      )),
    ),
    moneyColumn('amount', t('statement.amount'), { signed: true }),
    moneyColumn('balanceAfter', t('statement.balanceAfter')),
  ];
}

function Kind({ line: { kind, model } }: { line: Shape<'StatementEntry'> }) {
  const { t } = useTranslation('wallet');
  const known = statementKinds.find((each) => each === kind);
  return (
    <Stack gap={0}>
      <Text size="sm">{known ? t(`statement.kinds.${known}`) : kind}</Text>
      {model !== null && (
        <Text size="xs" c="dimmed" className="model-name">
          {model}
        </Text>
      )}
    </Stack>
  );
}
