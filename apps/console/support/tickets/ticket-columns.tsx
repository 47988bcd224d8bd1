import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, menuColumn, onPhone, timeColumn } from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { TextLink } from '../../ui/links.js';
import { Named } from '../../ui/named.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { Assignee } from './assignee.js';
import { WaitingTime } from './waiting-time.js';

type QueuedTicket = Shape<'QueuedTicket'>;

const TONES: Record<Shape<'Ticket'>['state'], Tone> = { open: 'waiting', answered: 'busy', closed: 'quiet' };

/** A ticket's state and outcome. */
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

export function TicketLink({ ticket: { id, subject } }: { ticket: Pick<QueuedTicket, 'id' | 'subject'> }) {
  return (
    <TextLink to="/support/tickets/$ticketId" params={{ ticketId: id }} size="sm" className="model-name">
      {subject}
    </TextLink>
  );
}

/** @param isWaiting shows how long tickets wait in place of their state */
export function useTicketColumns(isWaiting = false): ListColumn<QueuedTicket>[] {
  const { t } = useTranslation('support');
  const waiting = column('waiting', t('queue.waiting'), ({ waitingSince }: QueuedTicket) =>
    waitingSince === null ? '–' : <WaitingTime since={waitingSince} />,
  );
  const state = column('state', t('queue.state'), (ticket: QueuedTicket) => (
    <StaffTicketBadge ticket={ticket} />
  ));
  return [
    column('subject', t('queue.subject'), (ticket) => <TicketLink ticket={ticket} />),
    column('account', t('queue.account'), ({ accountId }) => (
      <TextLink to="/support/accounts/$accountId" params={{ accountId }} size="sm">
        <Named kind="account" id={accountId} />
      </TextLink>
    )),
    onPhone('side', isWaiting ? waiting : state),
    column('kind', t('queue.kind'), ({ kind }) => t(`ticketKinds.${kind}`)),
    column('assignee', t('assignee.label'), (ticket) => <Assignee ticket={ticket} />),
    onPhone('hidden', timeColumn('createdAt', t('queue.created'))),
    onPhone('hidden', timeColumn('updatedAt', t('queue.updated'))),
    menuColumn(({ id, accountId }) => copies({ id, account: accountId })),
  ];
}
