import { Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { codeColumn, column, extra, menuColumn, moneyColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { BackLink, ButtonLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { KindOfPosting } from '../kinds.js';
import { ChargeLink, TransactionLinks } from '../transaction-links.js';
import { timesOf } from '../utc-days.js';
import { OrderFilter } from './order-filter.js';

const route = getRouteApi('/finance/ledger-accounts/$ledgerAccountId');

type Line = Shape<'LedgerStatement'>['items'][number];

/** One ledger account: its entries between opening and closing balance. */
export default function LedgerAccountPage() {
  const { t } = useTranslation('finance');
  const statement = useStatement();
  const account = statement.data?.account;
  const title = account?.code ?? t('accounts.one');
  return (
    <PageFrame title={title} about={t('statement.about')} actions={<ExportLink />}>
      <BackLink to="/finance/ledger-accounts">{t('statement.back')}</BackLink>
      <Loaded query={statement} lines={3}>
        {(found) => <Ends statement={found} />}
      </Loaded>
      <Filters />
      <DataList
        label={t('statement.title')}
        query={statement}
        columns={useColumns(account?.unit ?? 'CRD')}
        rowKey={({ transactionId, amount, balance }) => `${transactionId} ${amount} ${balance}`}
        empty={t('statement.empty')}
        name="ledger-account"
      />
    </PageFrame>
  );
}

function useStatement() {
  const { by = 'recorded', from, to } = route.useSearch();
  const asked = { path: route.useParams(), query: { by, ...timesOf({ from, to }) } } as const;
  return useList('/api/finance/ledger-accounts/{ledgerAccountId}/statement', asked);
}

function ExportLink() {
  const { t } = useTranslation('finance');
  const { ledgerAccountId: account } = route.useParams();
  const { by, from, to } = route.useSearch();
  return (
    <ButtonLink to="/finance/exports" search={{ account, from, to, by }} variant="default">
      {t('statement.export')}
    </ButtonLink>
  );
}

function Filters() {
  const { t } = useTranslation('finance');
  return (
    <Group align="flex-end">
      <DaysFilter />
      <OrderFilter />
      <SmallPrint>{t('utc')}</SmallPrint>
    </Group>
  );
}

function Ends({ statement }: { statement: Shape<'LedgerStatement'> }) {
  const { t } = useTranslation('finance');
  const { account, from, to, opening, closing } = statement;
  return (
    <Figures>
      <Figure
        name={t('statement.opening')}
        value={<Money value={opening} currency={account.unit} />}
        hint={from === null ? t('statement.begin') : <When at={from} />}
      />
      <Figure
        name={t('statement.closing')}
        value={<Money value={closing} currency={account.unit} />}
        hint={to === null ? '–' : <When at={to} />}
      />
      <Figure
        name={t('accounts.kind')}
        value={t(`accounts.kinds.${account.kind}`)}
        hint={t('statement.sign')}
      />
    </Figures>
  );
}

function useColumns(unit: string): ListColumn<Line>[] {
  const { t } = useTranslation('finance');
  return [
    column('transaction', t('transaction.one'), ({ transactionId }) => (
      <TransactionLinks ids={[transactionId]} />
    )),
    timeColumn('recordedAt', t('transaction.recordedAt')),
    extra(timeColumn('effectiveAt', t('transaction.effectiveAt'))),
    column('kind', t('transaction.kind'), ({ kind }) => <KindOfPosting kind={kind} />),
    codeColumn('reference', t('transaction.reference')),
    extra(column('charge', t('transaction.charge'), ({ chargeId }) => <ChargeLink id={chargeId} />)),
    moneyColumn('amount', t('statement.amount'), { signed: true, currency: unit }),
    moneyColumn('balance', t('statement.balance'), { currency: unit }),
    menuColumn(({ reference, chargeId }) => [
      { copy: reference, of: 'reference' },
      ...copies({ charge: chargeId }),
    ]),
  ];
}
