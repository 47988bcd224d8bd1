import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, refreshFinance, type Shape, useList } from '../../api/client.js';
import {
  column,
  extra,
  menuColumn,
  moneyColumn,
  numberColumn,
  paymentColumn,
  rightColumn,
  timeColumn,
} from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { signOf } from '../../ui/decimal.js';
import { Identifier } from '../../ui/texts.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { creditsField } from '../../ui/forms/text-fields.js';
import { Money } from '../../ui/money.js';
import { AccountFilter } from '../account-filter.js';
import { useNote } from '../note.js';
import { CREDITS } from '../../ui/patterns.js';
import { AccountLink } from '../transaction-links.js';
import { accountActions } from '../../ui/lists/row-actions.js';

/** Payments that became credits. */
export function TopUps() {
  const { t } = useTranslation('payments');
  const { accountId } = useSearch({ from: '/finance/payments' });
  const topups = useList('/api/finance/topups', { query: { accountId } });
  return (
    <Stack>
      <AccountFilter />
      <DataList query={topups} columns={useColumns()} name="payments" empty={t('topups.empty')} />
    </Stack>
  );
}

function useColumns(): ListColumn<Shape<'Topup'>>[] {
  const { t } = useTranslation('payments');
  return [
    timeColumn('recordedAt', t('columns.at')),
    column('provider', t('columns.provider'), ({ provider }) => t(`providers.${provider}`)),
    column('payment', t('columns.payment'), ({ paymentId }) => <Identifier>{paymentId}</Identifier>),
    column('account', t('columns.account'), ({ accountId }) => <AccountLink id={accountId} />),
    paymentColumn('paid', t('columns.paid')),
    moneyColumn('credits', t('columns.credits')),
    rightColumn('gone', t('columns.refunded'), (topup) => <Gone topup={topup} />),
    extra(numberColumn('rate', t('columns.rate'))),
    extra(column('order', t('columns.order'), ({ orderId }) => <Identifier>{orderId}</Identifier>)),
    column('do', t('columns.do'), (topup) => <RefundTopUp topup={topup} />),
    menuColumn(({ id, accountId }) => [{ copy: id }, ...accountActions(accountId)]),
  ];
}

function Gone({ topup: { refunded, disputed } }: { topup: Shape<'Topup'> }) {
  const { t } = useTranslation('payments');
  return (
    <Stack gap={0} align="flex-end">
      <Money value={refunded} />
      {signOf(disputed) !== 0 && (
        <span>
          {t('topups.disputed')} <Money value={disputed} />
        </span>
      )}
    </Stack>
  );
}

/** Refunds the unused part of a top-up to where it was paid from. */
function RefundTopUp({ topup: { id } }: { topup: Shape<'Topup'> }) {
  const { t } = useTranslation('payments');
  const rule = [CREDITS, t('amountWrong')] as const;
  return (
    <ModalForm
      texts={t('refund')}
      button={{ size: 'xs' }}
      isDangerous
      fields={{
        credits: creditsField(t('refund.credits'), { hint: t('refund.creditsHint'), rule, isOptional: true }),
        note: useNote(),
      }}
      send={async ({ credits, note }, requestId) => {
        const body = { ...(credits === '' ? {} : { credits }), reason: note, requestId };
        const params = { path: { topupId: id } };
        return (await api.POST('/api/finance/topups/{topupId}/refunds', { params, body })).data!;
      }}
      reread={refreshFinance}
      success={({ approvalId }) => (approvalId === null ? t('refund.done') : t('waitsForSecond'))}
    />
  );
}
