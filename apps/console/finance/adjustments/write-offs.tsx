import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useList } from '../../api/client.js';
import {
  column,
  menuColumn,
  moneyColumn,
  peopleColumn,
  textColumn,
  timeColumn,
} from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { ButtonLink } from '../../ui/links.js';
import { accountColumn, transactionColumn } from '../columns.js';
import { Reversal } from './reversal.js';

export function WriteOffs() {
  const { t } = useTranslation('adjustments');
  const writeOffs = useList('/api/finance/write-offs');
  return (
    <DataList
      query={writeOffs}
      columns={useColumns()}
      empty={{
        ...t('writeOffs.empty'),
        action: (
          <ButtonLink to="/finance/adjustments" search={{ tab: 'debts' }} variant="default">
            {t('page.tabs.debts')}
          </ButtonLink>
        ),
      }}
    />
  );
}

function useColumns(): ListColumn<Shape<'WriteOff'>>[] {
  const { t } = useTranslation('adjustments');
  return [
    timeColumn('recordedAt', t('at')),
    accountColumn('accountId', t('account')),
    textColumn('period', t('writeOffs.month')),
    moneyColumn('amount', t('amount')),
    column('note', t('note'), ({ note }) => <Text size="sm">{note}</Text>),
    peopleColumn(t('people')),
    transactionColumn('transactionId', t('transaction')),
    column('do', t('do'), (writeOff) => <Reverse writeOff={writeOff} />),
    menuColumn(({ id, accountId }) => copies({ id, account: accountId })),
  ];
}

function Reverse({ writeOff }: { writeOff: Shape<'WriteOff'> }) {
  const { t } = useTranslation('adjustments');
  return (
    <Reversal
      row={writeOff}
      texts={t('reverseWriteOff')}
      send={(body) =>
        api.POST('/api/finance/write-offs/{writeOffId}/reverse', {
          params: { path: { writeOffId: writeOff.id } },
          body,
        })
      }
    />
  );
}
