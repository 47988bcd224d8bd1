import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, type Item, refreshFinance, useList } from '../../api/client.js';
import { everyWord } from '../../api/enumerations.js';
import { column, menuColumn, moneyColumn, paymentColumn, timeColumn } from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { textField } from '../../ui/forms/text-fields.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { accountColumn } from '../columns.js';
import { useNote } from '../note.js';
import { StatedList, useStateOf } from './stated-list.js';

const states = everyWord<Refund['state']>()('pending', 'succeeded', 'failed');
const tones = { pending: 'waiting', succeeded: 'good', failed: 'bad' } as const;

/** Refunds of top-ups, and which are still pending at the provider. */
export function Refunds() {
  const { t } = useTranslation('payments');
  const refunds = useList('/api/finance/topup-refunds', { query: { state: useStateOf(states) } });
  return <StatedList states={states} texts={t('refunds')} query={refunds} columns={useColumns()} />;
}

function useColumns(): ListColumn<Refund>[] {
  const { t } = useTranslation('payments');
  return [
    timeColumn('createdAt', t('columns.at')),
    accountColumn('accountId', t('columns.account')),
    paymentColumn('pay', t('columns.paid')),
    moneyColumn('credits', t('columns.credits')),
    column('provider', t('columns.provider'), ({ provider }) => t(`providers.${provider}`)),
    column('state', t('columns.state'), ({ state, failure, reason }) => (
      <Stack gap="hair" align="flex-start">
        <StatusBadge tone={tones[state]}>{t(`refunds.states.${state}`)}</StatusBadge>
        <Text size="xs">{failure ?? reason}</Text>
      </Stack>
    )),
    column('do', t('columns.do'), (refund) =>
      refund.state === 'pending' && refund.provider === 'manual' ? <Confirm refund={refund} /> : '–',
    ),
    menuColumn(({ id, accountId }) => copies({ id, account: accountId })),
  ];
}

/** Only people can tell how a bank transfer ended. */
function Confirm({ refund: { id } }: { refund: Refund }) {
  const { t } = useTranslation('payments');
  const name = (outcome: Refund['state']) => t(`refunds.states.${outcome}`);
  return (
    <ModalForm
      texts={t('confirmRefund')}
      button={{ size: 'xs' }}
      fields={{
        outcome: choiceField(t('confirmRefund.outcome'), { of: ['succeeded', 'failed'], name }),
        reference: textField(t('confirmRefund.reference')),
        note: useNote(),
      }}
      send={({ reference, ...outcome }) =>
        api.POST('/api/finance/topup-refunds/{refundId}/confirm', {
          params: { path: { refundId: id } },
          body: { ...outcome, ...(reference === '' ? {} : { reference }) },
        })
      }
      reread={refreshFinance}
      success={() => t('confirmRefund.done')}
    />
  );
}

type Refund = Item<'/api/finance/topup-refunds'>;
