import type { Shape } from './client.js';

/** All words of an API enumeration, in the given order. Leaving one out does not compile. */
export function everyWord<Word extends string>() {
  return <const Words extends readonly Word[]>(
    ...words: [Word] extends [Words[number]] ? Words : never
  ): Words => words;
}

type StaffRole = Exclude<Shape<'Person'>['roles'][number], 'user'>;

/** Words of the API, in the order of choices. */
export const families = everyWord<Shape<'Model'>['family']>()('image', 'video', 'chat', 'speech', '3d');
export const modelRoutings = everyWord<Shape<'Model'>['routing']>()('priority', 'cost', 'latency');
export const ticketTypes = everyWord<Shape<'Ticket'>['kind']>()(
  'question',
  'billing',
  'reseller_rate',
  'refund',
);
export const ticketStages = everyWord<Shape<'Ticket'>['state']>()('open', 'answered', 'closed');
export const chargeStages = everyWord<Shape<'Charge'>['state']>()('held', 'settled', 'released', 'refused');
export const staffRoles = everyWord<StaffRole>()('support', 'finance', 'admin');
export const reportProviders = everyWord<Shape<'Match'>['provider']>()('stripe', 'sandbox');
export const reasonsToAdjust = everyWord<Shape<'Adjustment'>['reason']>()(
  'goodwill',
  'correction',
  'migration',
  'compensation',
);
