import { useTranslation } from 'react-i18next';
import type { Item } from '../../api/queries.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';

type Ticket = Item<'/api/tickets'>;

export const ticketStates = ['open', 'answered', 'closed'] as const;
export const ticketKinds = ['question', 'billing', 'reseller_rate', 'refund'] as const;

const TONES: Record<Ticket['state'], Tone> = { open: 'waiting', answered: 'busy', closed: 'quiet' };

/** Who a ticket waits for; what came of it, where support decided something. */
export function TicketState({ ticket }: { ticket: Pick<Ticket, 'state' | 'outcome'> }) {
  const { t } = useTranslation('tickets');
  const { state, outcome } = ticket;
  if (outcome !== null) return <StatusBadge tone="good">{t(`outcomes.${outcome}`)}</StatusBadge>;
  return <StatusBadge tone={TONES[state]}>{t(`states.${state}`)}</StatusBadge>;
}
