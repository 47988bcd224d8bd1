import { useTranslation } from 'react-i18next';
import { useList } from '../../api/client.js';
import { DataList } from '../../ui/lists/data-list.js';
import { useTicketColumns } from '../tickets/ticket-columns.js';

const PAGE = 25;

export function AccountTickets({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const tickets = useList('/api/support/tickets', { query: { accountId, limit: PAGE } });
  return (
    <DataList
      label={t('queue.newest')}
      query={tickets}
      columns={useTicketColumns().filter(({ id }) => id !== 'account')}
      empty={{ title: t('queue.emptyAccount'), hint: t('queue.emptyAccountHint') }}
      isPaged
    />
  );
}
