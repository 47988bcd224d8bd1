import type pg from 'pg';
import { lockHolds } from '#database/locks.js';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { ApiError } from '#platform/errors.js';
import { realChanges } from '#platform/real-changes.js';
import type { AccountOperation, StaffOperation } from './freezing.js';

/** Limits for all keys of an account together. Null means the default. */
export interface AccountLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly imagesPerMinute: number | null;
  readonly maxConcurrentRequests: number | null;
}

export type AccountLimitsChange = {
  readonly [Name in keyof AccountLimits]?: AccountLimits[Name] | undefined;
};

const COLUMNS = `requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute",
  images_per_minute AS "imagesPerMinute", max_concurrent_requests AS "maxConcurrentRequests"`;

/** @throws ApiError not_found */
export async function readAccountLimits(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
): Promise<AccountLimits> {
  const { rows } = await database.query<AccountLimits>(`SELECT ${COLUMNS} FROM accounts WHERE id = $1`, [
    accountId,
  ]);
  if (!rows[0]) throw new ApiError('not_found', 'There is no such account.');
  return rows[0];
}

const SET_LIMITS = `UPDATE accounts SET requests_per_minute = $2, max_concurrent_requests = $3,
    tokens_per_minute = $4, images_per_minute = $5 WHERE id = $1`;

/**
 * Sets the given limits and keeps the others. Gateways learn of them when they next look up the account's keys. Without
 * an actor, it is the command line before the first administrator.
 * @throws ApiError not_found, second_person_required
 */
export function setAccountLimits(
  pool: pg.Pool,
  { by, actor, accountId, requestId }: AccountOperation & { actor: StaffOperation['actor'] | null },
  change: AccountLimitsChange,
): Promise<AccountLimits> {
  return inTransaction(pool, async (client) => {
    if (actor) await refuseOwnInterest(client, actor, accountId);
    await lockHolds(client, accountId);
    const before = await readAccountLimits(client, accountId);
    const given = realChanges(before, change);
    if (Object.keys(given).length === 0) return before;
    const after = { ...before, ...given };
    const { requestsPerMinute, tokensPerMinute, imagesPerMinute, maxConcurrentRequests } = after;
    const limits = [requestsPerMinute, maxConcurrentRequests, tokensPerMinute, imagesPerMinute];
    await client.query(SET_LIMITS, [accountId, ...limits]);
    await audit(client, {
      actor: by,
      action: 'account.limited',
      accountId,
      before,
      after,
      requestId,
    });
    return after;
  });
}
