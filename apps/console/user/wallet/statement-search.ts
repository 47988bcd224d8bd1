import { anyDay, anyText, oneOf } from '../../ui/search.js';

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

/**
 * What of the balances is shown. `requests`: the main balance with one line for each request. Else the entries of one balance,
 * as an account has them, or of all, which are both sides of every move.
 */
export const statementBalances = ['requests', 'main', 'held', 'invite', 'refund-pending', 'all'] as const;

/** What of the address filters the statement; requests are not named. */
export const statementSearch = {
  balance: oneOf('main', 'held', 'invite', 'refund-pending', 'all'),
  kind: oneOf(...statementKinds),
  keyId: anyText,
  from: anyDay,
  to: anyDay,
};

export interface StatementSearch {
  balance?: Exclude<(typeof statementBalances)[number], 'requests'> | undefined;
  kind?: (typeof statementKinds)[number] | undefined;
  keyId?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}
