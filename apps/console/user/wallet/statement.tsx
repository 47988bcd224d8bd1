import { Group, Select, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { statementKinds } from '../../api/posting-kinds.js';
import { useFilter } from '../../ui/address.js';
import { codeColumn, column, extra, menuColumn, moneyColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { DaysFilter, timesOfDays } from '../../ui/forms/day-range.js';
import { Choice, filterWidth, optionsOf } from '../../ui/lists/choice.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { OpenLink, TextLink } from '../../ui/links.js';
import { Section } from '../../ui/page.js';
import { TwoLines } from '../../ui/texts.js';
import { Ago } from '../../ui/time/when.js';
import { isNarrowed } from '../../ui/search.js';
import { useKeys } from '../keys.js';
import { ChargePanel } from '../usage/charge-details.js';
import { ReceiptLink } from './receipt-link.js';
import { type StatementSearch, statementBalances } from './statement-search.js';

/** Days are in the viewer's time zone, like the times in the list. */
function queryOf({ balance, kind, keyId, ...days }: StatementSearch) {
  return {
    view: balance === undefined ? ('requests' as const) : undefined,
    balance: balance === 'all' ? undefined : balance,
    kind,
    keyId,
    ...timesOfDays(days),
  };
}

/** A line for each request, or every movement with the balance after it. */
export function Statement() {
  const { t } = useTranslation('wallet');
  const search = useSearch({ from: '/user/wallet' });
  const query = queryOf(search);
  const set = useFilter();
  const { kind, keyId, from, to } = search;
  return (
    <Section title={t('statement.title')} aside={<CsvLink path="/api/statement.csv" query={{ ...query }} />}>
      <Filters search={search} set={set} />
      <DataList
        query={useList('/api/statement', { query })}
        columns={useColumns(search.balance)}
        rowKey={({ transactionId, balance, amount }) => `${transactionId} ${balance} ${amount}`}
        empty={useEmpty(isNarrowed({ kind, keyId, from, to }))}
        name={search.balance === undefined ? 'requests' : 'statement'}
      />
      <ChargePanel />
    </Section>
  );
}

function useEmpty(isFiltered: boolean) {
  const { t } = useTranslation('wallet');
  if (!isFiltered) return t('statement.empty');
  const action = (
    <TextLink to="/wallet" search={{ tab: 'statement' }}>
      {t('statement.all')}
    </TextLink>
  );
  return { title: t('statement.emptyFiltered'), hint: t('statement.emptyFilteredHint'), action };
}

interface FiltersProps {
  search: StatementSearch;
  set: (change: Partial<StatementSearch>) => void;
}

function Filters(props: FiltersProps) {
  const { t } = useTranslation('wallet');
  const keys = useKeys().data?.items ?? [];
  return (
    <Group gap="sm" align="flex-end">
      <BalanceFilter {...props} />
      <Choice
        label={t('statement.kind')}
        options={optionsOf(statementKinds, t('statement.kinds'))}
        param="kind"
        width="13rem"
      />
      <Choice
        label={t('statement.key')}
        options={keys.map((each) => ({ value: each.keyId, label: each.name }))}
        param="keyId"
      />
      <DaysFilter />
    </Group>
  );
}

function BalanceFilter({ search, set }: FiltersProps) {
  const { t } = useTranslation('wallet');
  const { balance = 'requests' } = search;
  return (
    <Select
      aria-label={t('statement.show')}
      w={filterWidth('13rem')}
      data={optionsOf(statementBalances, t('statement.balances'))}
      value={balance}
      onChange={(value) => {
        const chosen = statementBalances.find((each) => each === value);
        set({ balance: chosen === 'requests' ? undefined : chosen });
      }}
      allowDeselect={false}
    />
  );
}

function useColumns(balance: StatementSearch['balance']): ListColumn<Shape<'StatementEntry'>>[] {
  const { t } = useTranslation('wallet');
  const ofBalance = column('balance', t('statement.balance'), (line: Shape<'StatementEntry'>) =>
    t(`statement.balances.${line.balance}`),
  );
  const after = moneyColumn('balanceAfter', t('statement.balanceAfter'));
  return [
    column('at', t('statement.at'), (line) => <At line={line} />),
    extra(timeColumn('effectiveAt', t('statement.effectiveAt'))),
    column('kind', t('statement.kind'), (line) => <What line={line} isRequest={balance === undefined} />),
    ...(balance === 'all' ? [ofBalance] : []),
    extra(codeColumn('reference', t('statement.reference'))),
    moneyColumn('amount', t('statement.amount'), { signed: true }),
    ...(balance === undefined ? [] : [after]),
    menuColumn(({ reference, chargeId, kind }) => [
      { copy: reference, of: 'reference' },
      ...copies({ charge: chargeId }),
      ...statementKinds
        .filter((each) => each === kind)
        .map((each) => ({ only: { kind: each }, what: t(`statement.kinds.${each}`) })),
    ]),
  ];
}

function At({ line: { at, chargeId } }: { line: Shape<'StatementEntry'> }) {
  if (chargeId === null) return <Ago at={at} />;
  return (
    <OpenLink param="charge" value={chargeId}>
      <Ago at={at} />
    </OpenLink>
  );
}

/** The model and state of a request, or the type of movement with the model below it. */
function What({
  line: { kind, model, state, topupId },
  isRequest,
}: {
  line: Shape<'StatementEntry'>;
  isRequest: boolean;
}) {
  const { t } = useTranslation('wallet');
  const known = statementKinds.find((each) => each === kind);
  if (isRequest && kind === 'hold' && state !== null)
    return (
      <>
        <span className="model-name">{model}</span>{' '}
        <Text span size="xs" c="dimmed">
          {t(`chargeStates.${state}`, { ns: 'calls' })}
        </Text>
      </>
    );
  const receipt = topupId === null ? null : <ReceiptLink topupId={topupId} />;
  return <TwoLines first={known ? t(`statement.kinds.${known}`) : kind} second={model ?? receipt} />;
}
