import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { DataList } from '../../ui/data-list.js';
import { useTicketColumns } from '../tickets/ticket-columns.js';

const route = getRouteApi('/support/accounts/$accountId');
const PAGE = 25;

/** What the account asked for, the oldest first. */
export function AccountTickets({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const tickets = $api.useQuery(
    'get',
    '/api/support/tickets',
    { params: { query: { accountId, limit: PAGE, cursor } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <DataList
      label={t('queue.label')}
      query={tickets}
      columns={useTicketColumns().filter(({ id }) => id !== 'account')}
      rowKey={({ id }) => id}
      empty={{ title: t('queue.emptyAccount'), hint: t('queue.emptyAccountHint') }}
      pager={{ cursor, go: (next) => void navigate({ search: (before) => ({ ...before, cursor: next }) }) }}
    />
  );
}
