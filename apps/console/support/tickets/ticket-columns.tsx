import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { column, timeColumn } from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { Named } from '../../ui/named.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';

const TONES: Record<Shape<'Ticket'>['state'], Tone> = { open: 'waiting', answered: 'busy', closed: 'quiet' };

/** Who a ticket waits for; what was decided on it. */
export function StaffTicketBadge({ ticket }: { ticket: Pick<Shape<'Ticket'>, 'state' | 'outcome'> }) {
  const { t } = useTranslation('support');
  const { state, outcome } = ticket;
  return (
    <>
      <StatusBadge tone={TONES[state]}>{t(`ticketStates.${state}`)}</StatusBadge>{' '}
      {outcome !== null && <StatusBadge tone="good">{t(`outcomes.${outcome}`)}</StatusBadge>}
    </>
  );
}

export function useTicketColumns(): ListColumn<Shape<'Ticket'>>[] {
  const { t } = useTranslation('support');
  return [
    column('subject', t('queue.subject'), ({ id, subject }) => (
      <TextLink to="/support/tickets/$ticketId" params={{ ticketId: id }} size="sm" className="model-name">
        {subject}
      </TextLink>
    )),
    column('kind', t('queue.kind'), ({ kind }) => t(`ticketKinds.${kind}`)),
    column('state', t('queue.state'), (ticket) => <StaffTicketBadge ticket={ticket} />),
    column('account', t('queue.account'), ({ accountId }) => (
      <TextLink to="/support/accounts/$accountId" params={{ accountId }} size="sm">
        <Named kind="account" id={accountId} />
      </TextLink>
    )),
    timeColumn('createdAt', t('queue.created')),
    timeColumn('updatedAt', t('queue.updated')),
  ];
}
