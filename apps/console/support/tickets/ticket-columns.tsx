import { useTranslation } from 'react-i18next';
import type { Item } from '../../api/queries.js';
import type { Column } from '../../ui/data-list.js';
import { TextLink } from '../../ui/links.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { When } from '../../ui/when.js';

export type Ticket = Item<'/api/support/tickets'>;
export const ticketKinds = ['question', 'billing', 'reseller_rate', 'refund'] as const;

const TONES: Record<Ticket['state'], Tone> = { open: 'waiting', answered: 'busy', closed: 'quiet' };

/** Who a ticket waits for; what was decided on it. */
export function TicketState({ ticket }: { ticket: Pick<Ticket, 'state' | 'outcome'> }) {
  const { t } = useTranslation('support');
  const { state, outcome } = ticket;
  return (
    <>
      <StatusBadge tone={TONES[state]}>{t(`ticketStates.${state}`)}</StatusBadge>{' '}
      {outcome !== null && <StatusBadge tone="good">{t(`outcomes.${outcome}`)}</StatusBadge>}
    </>
  );
}

export function useTicketColumns(): Column<Ticket>[] {
  const { t } = useTranslation('support');
  return [
    {
      id: 'subject',
      header: t('queue.subject'),
      cell: ({ id, subject }) => (
        <TextLink to="/support/tickets/$ticketId" params={{ ticketId: id }} size="sm" className="model-name">
          {subject}
        </TextLink>
      ),
    },
    { id: 'kind', header: t('queue.kind'), cell: ({ kind }) => t(`ticketKinds.${kind}`) },
    { id: 'state', header: t('queue.state'), cell: (ticket) => <TicketState ticket={ticket} /> },
    {
      id: 'account',
      header: t('queue.account'),
      cell: ({ accountId }) => (
        <TextLink to="/support/accounts/$accountId" params={{ accountId }} size="sm" ff="monospace">
          <span title={accountId}>…{accountId.slice(-8)}</span>
        </TextLink>
      ),
    },
    { id: 'created', header: t('queue.created'), cell: ({ createdAt }) => <When at={createdAt} /> },
    { id: 'updated', header: t('queue.updated'), cell: ({ updatedAt }) => <When at={updatedAt} /> },
  ];
}
