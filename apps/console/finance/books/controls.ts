import type { Shape } from '../../api/client.js';
import type { Tone } from '../../ui/status-badge.js';

export const controlTones: Record<Shape<'ControlStanding'>['state'], Tone> = {
  green: 'good',
  red: 'bad',
  error: 'bad',
  never: 'quiet',
};

/** In reading order; unlisted controls come last. */
export const controlGroups = [
  { name: 'moneyIn', controls: ['payments', 'payouts', 'bank', 'suspense'] },
  { name: 'work', controls: ['charges-tasks', 'holds', 'refund-latency'] },
  { name: 'revenue', controls: ['revenue', 'costs', 'promotion', 'deferred-revenue', 'lots'] },
  {
    name: 'books',
    controls: ['adjustments', 'frozen-accounts', 'closed-periods', 'ledger', 'chain', 'chain-whole'],
  },
] as const;

/** Controls with translated texts. */
const namedControls = controlGroups.flatMap(({ controls }): readonly NamedControl[] => controls);
export type NamedControl = (typeof controlGroups)[number]['controls'][number];

export function namedControl(id: string): NamedControl | undefined {
  return namedControls.find((each) => each === id);
}
