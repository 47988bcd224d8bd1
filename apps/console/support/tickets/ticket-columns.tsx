import { useTranslation } from 'react-i18next';
import type { Item } from '../../api/queries.js';
import { column, timeColumn } from '../../ui/lists/columns.js';
import type { Column } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';

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
    column('subject', t('queue.subject'), ({ id, subject }) => (
      <TextLink to="/support/tickets/$ticketId" params={{ ticketId: id }} size="sm" className="model-name">
        {subject}
      </TextLink>
    )),
    column('kind', t('queue.kind'), ({ kind }) => t(`ticketKinds.${kind}`)),
    column('state', t('queue.state'), (ticket) => <TicketState ticket={ticket} />),
    column('account', t('queue.account'), ({ accountId }) => (
      <TextLink to="/support/accounts/$accountId" params={{ accountId }} size="sm" ff="monospace">
        <span title={accountId}>…{accountId.slice(-8)}</span>
      </TextLink>
    )),
    timeColumn('createdAt', t('queue.created')),
    timeColumn('updatedAt', t('queue.updated')),
  ];
}
