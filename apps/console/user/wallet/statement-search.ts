import { anyDay, oneOf } from '../../ui/search.js';

/** Kinds of postings on a customer's balances. */
export const statementKinds = [
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
] as const;

/** One balance at a time reads as an account does; all of them together show both sides of a move. */
export const statementBalances = ['main', 'held', 'invite', 'refund-pending', 'all'] as const;

/** What of the address filters the statement; the main balance is not named. */
export const statementSearch = {
  balance: oneOf('held', 'invite', 'refund-pending', 'all'),
  kind: oneOf(...statementKinds),
  from: anyDay,
  to: anyDay,
};

export interface StatementSearch {
  balance?: Exclude<(typeof statementBalances)[number], 'main'> | undefined;
  kind?: (typeof statementKinds)[number] | undefined;
  from?: string | undefined;
  to?: string | undefined;
}
