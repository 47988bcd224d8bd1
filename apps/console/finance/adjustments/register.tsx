import { Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useList } from '../../api/client.js';
import { Choice, optionsOf } from '../../ui/lists/choice.js';
import { column, extra, menuColumn, moneyColumn, peopleColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { Identifier } from '../../ui/texts.js';
import { AccountFilter } from '../account-filter.js';
import { transactionColumn } from '../columns.js';
import { AccountLink } from '../transaction-links.js';
import { timesOf } from '../utc-days.js';
import { Reversal } from './reversal.js';
import { reasonsToAdjust } from '../../api/enumerations.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { accountActions } from '../../ui/lists/row-actions.js';

/** Adjustments, with who requested and approved them, why, and which reverse others. */
export function Register() {
  const { t } = useTranslation('adjustments');
  const { accountId, reason, from, to } = useSearch({ from: '/finance/adjustments' });
  const filter = { accountId, reason, ...timesOf({ from, to }) };
  const reasons = optionsOf(reasonsToAdjust, t('reasons'));
  const found = useList('/api/finance/adjustments', { query: filter });
  return (
    <Stack>
      <Toolbar aside={<CsvLink path="/api/finance/adjustments.csv" query={filter} />}>
        <DaysFilter />
        <Choice label={t('reason')} options={reasons} param="reason" />
        <AccountFilter />
      </Toolbar>
      <DataList query={found} columns={useColumns()} name="adjustments" empty={t('register.empty')} />
    </Stack>
  );
}

function useColumns(): ListColumn<Shape<'Adjustment'>>[] {
  const { t } = useTranslation('adjustments');
  return [
    timeColumn('recordedAt', t('at')),
    column('account', t('account'), ({ accountId }) => <AccountLink id={accountId} />),
    column('why', t('reason'), ({ reason, note }) => (
      <Stack gap={0}>
        <Text size="sm">{t(`reasons.${reason}`)}</Text>
        <Text size="xs">{note}</Text>
      </Stack>
    )),
    extra(
      column('ticket', t('ticket'), ({ ticketId, seq }) => <Identifier>{`${ticketId} : ${seq}`}</Identifier>),
    ),
    moneyColumn('amount', t('amount'), { signed: true }),
    peopleColumn(t('people')),
    transactionColumn('transactionId', t('transaction')),
    column('do', t('do'), (adjustment) => <Reverse adjustment={adjustment} />),
    menuColumn(({ id, accountId }) => [{ copy: id }, ...accountActions(accountId)]),
  ];
}

function Reverse({ adjustment }: { adjustment: Shape<'Adjustment'> }) {
  const { t } = useTranslation('adjustments');
  return (
    <Reversal
      row={adjustment}
      texts={t('reverse')}
      send={(body) =>
        api.POST('/api/finance/adjustments/{adjustmentId}/reverse', {
          params: { path: { adjustmentId: adjustment.id } },
          body,
        })
      }
    />
  );
}
