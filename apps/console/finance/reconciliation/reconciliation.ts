import type { Shape } from '../../api/client.js';
import type { Tone } from '../../ui/status-badge.js';

export const matchTones: Record<
  Shape<'Match'>['state'] | Shape<'Payout'>['state'] | Shape<'BankItem'>['state'],
  Tone
> = {
  matched: 'good',
  accepted: 'quiet',
  set_aside: 'quiet',
  waiting: 'waiting',
  unlinked: 'quiet',
  not_covered: 'bad',
  lines_missing: 'bad',
  refused: 'bad',
  missing_here: 'bad',
  missing_there: 'bad',
  differs: 'bad',
  twice: 'bad',
};
