import { everyWord } from './enumerations.js';
import type { Shape } from './client.js';

/** Types of postings on a customer's balances, in the order in which people choose from them. */
export const statementKinds = everyWord<Shape<'StatementEntry'>['kind']>()(
  'topup',
  'hold',
  'settle',
  'release',
  'charge_refund',
  'invite-reward',
  'invite-transfer',
  'reward-clawback',
  'reward-returned',
  'topup-refund',
  'topup-refunded',
  'topup-refund-returned',
  'chargeback',
  'chargeback-won',
  'adjustment',
  'adjustment-reversed',
  'forfeited',
  'write-off',
  'write-off-reversed',
);
