import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { Money } from '../../ui/money.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/when.js';
import { Identifier } from '../identifier.js';
import { AccountLink } from '../transaction-links.js';
import type { Dispute } from './payments.js';

const route = getRouteApi('/finance/payments');
const tones = { open: 'waiting', won: 'good', lost: 'bad' } as const;

/** Payments that customers had their bank take back. */
export function Disputes() {
  const { t } = useTranslation('payments');
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const disputes = $api.useQuery(
    'get',
    '/api/finance/disputes',
    { params: { query: { cursor } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <DataList
      label={t('tabs.disputes')}
      query={disputes}
      columns={useColumns()}
      rowKey={({ provider, disputeId }) => `${provider} ${disputeId}`}
      empty={{ title: t('disputes.empty'), hint: t('disputes.emptyHint') }}
      pager={{ cursor, go: (next) => void navigate({ search: (before) => ({ ...before, cursor: next }) }) }}
    />
  );
}

function useColumns(): Column<Dispute>[] {
  const { t } = useTranslation('payments');
  return [
    { id: 'openedAt', header: t('disputes.openedAt'), cell: ({ openedAt }) => <When at={openedAt} /> },
    { id: 'id', header: t('disputes.one'), cell: ({ disputeId }) => <Identifier>{disputeId}</Identifier> },
    {
      id: 'account',
      header: t('columns.account'),
      cell: ({ accountId }) => <AccountLink id={accountId} />,
    },
    {
      id: 'amount',
      header: t('columns.amount'),
      align: 'right',
      cell: ({ amount, currency }) => <Money value={amount} currency={currency} />,
    },
    {
      id: 'credits',
      header: t('columns.credits'),
      align: 'right',
      cell: ({ credits }) => <Money value={credits} />,
    },
    {
      id: 'state',
      header: t('columns.state'),
      cell: ({ state }) => <StatusBadge tone={tones[state]}>{t(`disputes.states.${state}`)}</StatusBadge>,
    },
    {
      id: 'closedAt',
      header: t('disputes.closedAt'),
      cell: ({ closedAt }) => (closedAt === null ? '–' : <When at={closedAt} />),
    },
  ];
}
