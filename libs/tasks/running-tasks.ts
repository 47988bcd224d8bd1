import type { ClientBase } from 'pg';
import type { CallerLimits } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';

/** In seconds. How long a task still runs is unknown, and clients obey any number. */
const RETRY_AFTER_SECONDS = 5;

// Two numbers, so that these locks never collide with single-number locks.
const LOCK = {
  name: 'task_slots_lock',
  text: `SELECT pg_advisory_xact_lock(hashtext('running tasks'), hashtext(subject))
    FROM unnest($1::text[]) WITH ORDINALITY AS wanted (subject, place) ORDER BY place`,
};
const COUNT_OF_KEY = {
  name: 'task_slots_of_key',
  text: `SELECT count(*)::integer AS running FROM tasks WHERE group_name = $1 AND key_id = $2
    AND state IN ('created', 'submitting', 'submitted', 'unknown')`,
};
const COUNT_OF_GROUP = {
  name: 'task_slots_of_group',
  text: `SELECT count(*)::integer AS running FROM tasks WHERE group_name = $1 AND account_id = $2
    AND state IN ('created', 'submitting', 'submitted', 'unknown')`,
};

/** The key and account that start another task. */
export interface SlotRequest {
  keyId: string;
  accountId: string;
  group: string;
  limits: CallerLimits;
}

/**
 * Counts the running tasks of a key, and of its account in its group, in the transaction that has just inserted one
 * more. Other counts of the same key or group wait for that transaction, in a separate statement, so that the following
 * count sees what was committed meanwhile.
 * @throws ApiError rate_limit_exceeded
 */
export async function requireSlot(
  client: ClientBase,
  { keyId, accountId, group, limits }: SlotRequest,
): Promise<void> {
  const ofKey = limits.key.runningTasks;
  const ofGroup = limits.group.runningTasks;
  // The key before its group, everywhere, so that no two wait for each other.
  const subjects = [
    ofKey === null ? [] : [`key ${keyId}`],
    ofGroup === null ? [] : [`group ${group} account ${accountId}`],
  ].flat();
  if (subjects.length === 0) return;
  await client.query({ ...LOCK, values: [subjects] });
  if (ofKey !== null && (await count(client, COUNT_OF_KEY, [group, keyId])) > ofKey)
    throw tooMany('This key', ofKey);
  if (ofGroup !== null && (await count(client, COUNT_OF_GROUP, [group, accountId])) > ofGroup) {
    throw tooMany(`Your account in the group ${group}`, ofGroup);
  }
}

async function count(
  client: ClientBase,
  statement: { name: string; text: string },
  values: string[],
): Promise<number> {
  const { rows } = await client.query<{ running: number }>({ ...statement, values });
  return rows[0]?.running ?? 0;
}

function tooMany(who: string, most: number): ApiError {
  const message = `${who} may run ${most} tasks at the same time. Nothing was charged; wait until one has ended.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
