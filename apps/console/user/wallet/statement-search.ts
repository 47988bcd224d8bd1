import { statementKinds } from '../../api/posting-kinds.js';
import { anyDay, anyId, anyText, oneOf, type SearchOf } from '../../ui/search.js';

/**
 * What of the balances is shown. `requests`: the main balance with one line for each request. Else the entries of one balance,
 * as an account has them, or of all, which are both sides of every move.
 */
export const statementBalances = ['requests', 'main', 'held', 'invite', 'refund-pending', 'all'] as const;

/** The search parameters of the statement; requests are the default. */
export const statementSearch = {
  balance: oneOf('main', 'held', 'invite', 'refund-pending', 'all'),
  kind: oneOf(...statementKinds),
  keyId: anyId,
  from: anyDay,
  to: anyDay,
  /** Such as 2026-01; without it no monthly statement is loaded. */
  month: anyText,
};

export type StatementSearch = SearchOf<typeof statementSearch>;

const MONTHS = 12;

/** The latest UTC months, such as 2026-01. */
export function latestMonths(): string[] {
  const now = new Date();
  return Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)).toISOString().slice(0, 7),
  );
}

/** The month in the address, if it is offered. */
export function monthOfAddress(asked: string | undefined): string | undefined {
  return latestMonths().find((month) => month === asked);
}
