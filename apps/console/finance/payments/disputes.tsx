import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import {
  codeColumn,
  column,
  menuColumn,
  moneyColumn,
  paymentColumn,
  timeColumn,
} from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { accountColumn } from '../columns.js';

const tones = { open: 'waiting', won: 'good', lost: 'bad' } as const;

/** Chargebacks. */
export function Disputes() {
  const { t } = useTranslation('payments');
  const disputes = useList('/api/finance/disputes');
  return (
    <DataList
      query={disputes}
      columns={useColumns()}
      rowKey={({ provider, disputeId }) => `${provider} ${disputeId}`}
      empty={t('disputes.empty')}
    />
  );
}

function useColumns(): ListColumn<Shape<'Dispute'>>[] {
  const { t } = useTranslation('payments');
  return [
    timeColumn('openedAt', t('disputes.openedAt')),
    codeColumn('disputeId', t('disputes.one')),
    accountColumn('accountId', t('columns.account')),
    paymentColumn('amount', t('columns.amount')),
    moneyColumn('credits', t('columns.credits')),
    column('state', t('columns.state'), ({ state }) => (
      <StatusBadge tone={tones[state]}>{t(`disputes.states.${state}`)}</StatusBadge>
    )),
    timeColumn('closedAt', t('disputes.closedAt')),
    menuColumn(({ disputeId, topupId, accountId }) => [
      { copy: disputeId },
      ...copies({ topup: topupId, account: accountId }),
    ]),
  ];
}
