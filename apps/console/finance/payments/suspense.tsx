import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refreshFinance, type Shape, useList } from '../../api/client.js';
import { everyWord } from '../../api/enumerations.js';
import { column, paymentColumn, timeColumn } from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { signOf } from '../../ui/decimal.js';
import { Identifier } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { accountField } from '../account-field.js';
import { NoteAction, useNote } from '../note.js';
import { StatedList, useStateOf } from './stated-list.js';

const states = everyWord<Shape<'SuspenseItem'>['state']>()('open', 'credited', 'returned', 'expensed');

/** Money that was received or sent without an order. */
export function SuspenseList() {
  const { t } = useTranslation('payments');
  const items = useList('/api/finance/suspense', { query: { state: useStateOf(states) } });
  return <StatedList states={states} texts={t('suspense')} query={items} columns={useColumns()} />;
}

function useColumns(): ListColumn<Shape<'SuspenseItem'>>[] {
  const { t } = useTranslation('payments');
  return [
    timeColumn('createdAt', t('columns.at')),
    column('reference', t('columns.payment'), ({ provider, reference }) => (
      <Stack gap={0}>
        <Text size="sm">{t(`providers.${provider}`)}</Text>
        <Identifier>{reference}</Identifier>
      </Stack>
    )),
    paymentColumn('amount', t('columns.amount'), { signed: true }),
    column('why', t('suspense.why'), ({ why }) => t(`suspense.whys.${why}`)),
    column('state', t('columns.state'), ({ state, amount, note }) => (
      <Stack gap="hair" align="flex-start">
        <StatusBadge tone={state === 'open' ? 'waiting' : 'good'}>
          {t(state === 'expensed' && signOf(amount) > 0 ? 'suspense.income' : `suspense.states.${state}`)}
        </StatusBadge>
        {note !== null && <Text size="xs">{note}</Text>}
      </Stack>
    )),
    column('do', t('columns.do'), (item) => {
      if (item.state !== 'open') return '–';
      if (item.mayBecome.length > 0) return <Clear item={item} />;
      return t('suspense.endsWithPayment', { paymentId: item.paymentId });
    }),
  ];
}

function Clear({ item }: { item: Shape<'SuspenseItem'> }) {
  return (
    <Group gap="xs">
      {item.mayBecome.includes('credited') && <Credit item={item} />}
      {item.mayBecome.includes('returned') && <Settle item={item} way="return" />}
      {item.mayBecome.includes('expensed') && (
        <Settle item={item} way={signOf(item.amount) > 0 ? 'income' : 'expense'} />
      )}
    </Group>
  );
}

function Credit({ item: { id } }: { item: Shape<'SuspenseItem'> }) {
  const { t } = useTranslation('payments');
  return (
    <ModalForm
      texts={t('credit')}
      button={{ size: 'xs' }}
      fields={{
        accountId: accountField(t('credit.account'), { missing: t('accountMissing') }),
        note: useNote(),
      }}
      send={async (values, requestId) => {
        const params = { path: { itemId: id } };
        const body = { ...values, requestId };
        return (await api.POST('/api/finance/suspense/{itemId}/credit', { params, body })).data!;
      }}
      reread={refreshFinance}
      success={({ approvalId }) => (approvalId === null ? t('credit.done') : t('waitsForSecond'))}
    />
  );
}

/** Records that the money was returned, or books it as a cost, which incoming money makes smaller. */
function Settle({
  item: { id },
  way,
}: {
  item: Shape<'SuspenseItem'>;
  way: 'return' | 'expense' | 'income';
}) {
  const { t } = useTranslation('payments');
  const path = `/api/finance/suspense/{itemId}/${way === 'return' ? way : 'expense'}` as const;
  return (
    <NoteAction
      texts={t(`settle.${way}`)}
      send={async (body) => (await api.POST(path, { params: { path: { itemId: id } }, body })).data!}
      reread={refreshFinance}
      success={({ approvalId }) => (approvalId === null ? t(`settle.${way}.done`) : t('waitsForSecond'))}
    />
  );
}
