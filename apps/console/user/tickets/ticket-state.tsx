import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';

const TONES: Record<Shape<'Ticket'>['state'], Tone> = { open: 'waiting', answered: 'busy', closed: 'quiet' };

/** Who the ticket waits for, or what support decided. */
export function TicketBadge({ ticket }: { ticket: Pick<Shape<'Ticket'>, 'state' | 'outcome'> }) {
  const { t } = useTranslation('tickets');
  const { state, outcome } = ticket;
  if (outcome !== null) return <StatusBadge tone="good">{t(`outcomes.${outcome}`)}</StatusBadge>;
  return <StatusBadge tone={TONES[state]}>{t(`states.${state}`)}</StatusBadge>;
}
