import { Group } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { column, extra, menuColumn, moneyColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DayFilter } from '../../ui/forms/day-field.js';
import { Identifier, TwoLines } from '../../ui/texts.js';
import { BackLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Ago } from '../../ui/time/when.js';
import { AccountFilter } from '../account-filter.js';
import { AccountLink, TransactionLinks } from '../transaction-links.js';
import { addDays, today } from '../utc-days.js';
import { YesFilter } from '../../ui/lists/choice.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { accountActions } from '../../ui/lists/row-actions.js';

/** The lots behind deferred revenue: every purchase of credits, used and left. */
export default function LotsPage() {
  const { t } = useTranslation('reports');
  const { to, accountId, all } = useSearch({ from: '/finance/deferred-revenue/lots' });
  const filter = { to: to && addDays(to), accountId, left: all === 'yes' ? 'false' : 'true' } as const;
  const lots = useList('/api/finance/reports/deferred-revenue/lots', { query: filter });
  return (
    <PageFrame title={t('lots.title')} about={t('lots.about')}>
      <BackLink to="/finance/deferred-revenue">{t('lots.back')}</BackLink>
      <Toolbar aside={<CsvLink path="/api/finance/reports/deferred-revenue/lots.csv" query={filter} />}>
        <DayFilter param="to" label={t('lots.at')} none={t('lots.now')} last={today()} />
        <AccountFilter />
        <YesFilter param="all" label={t('lots.all')} />
      </Toolbar>
      <DataList
        query={lots}
        columns={useColumns(lots.data?.currency ?? 'USD')}
        name="lots"
        rowKey="lotId"
        empty={t('lots.empty')}
      />
    </PageFrame>
  );
}

function useColumns(currency: string): ListColumn<Shape<'DeferredLot'>>[] {
  const { t } = useTranslation('reports');
  const moves = ['restored', 'refunded', 'chargedBack', 'reversed'] as const;
  return [
    column('lot', t('lots.boughtAt'), (lot) => <Bought lot={lot} />),
    moneyColumn('bought', t('lots.bought')),
    extra(moneyColumn('consumed', t('lots.consumed'))),
    ...moves.map((name) => extra(moneyColumn(name, t(`lots.${name}`)))),
    moneyColumn('left', t('lots.left')),
    moneyColumn('paid', t('deferred.paid'), { currency }),
    moneyColumn('recognised', t('deferred.recognised'), { currency }),
    extra(moneyColumn('pendingRefunds', t('deferred.pendingRefunds'), { currency })),
    moneyColumn('deferred', t('deferred.deferred'), { currency }),
    extra(
      column('topup', t('lots.topup'), ({ topupId }) =>
        topupId === null ? t('lots.nobodyPaid') : <Identifier>{topupId}</Identifier>,
      ),
    ),
    menuColumn(({ lotId, accountId }) => [{ copy: lotId }, ...accountActions(accountId)]),
  ];
}

function Bought({ lot: { boughtAt, accountId, transactionId } }: { lot: Shape<'DeferredLot'> }) {
  const buyer = (
    <Group gap="xs">
      <AccountLink id={accountId} />
      <TransactionLinks ids={[transactionId]} />
    </Group>
  );
  return <TwoLines first={buyer} second={<Ago at={boughtAt} />} />;
}
