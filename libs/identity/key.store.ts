import type pg from 'pg';
import { lockHolds } from '#database/locks.js';
import { ApiError } from '#platform/errors.js';
import { hashApiKey, newApiKey, newId } from '#platform/ids.js';
import { hasGroup } from '#groups/account-groups.js';
import { isClosing } from './account.store.js';
import { checkedName, IdentityRefusal } from './refusal.js';

export interface NewKey {
  readonly accountId: string;
  readonly name: string;
  /** The group decides the models of the key and their multiplier. */
  readonly group: string;
}

export interface CreatedKey {
  readonly keyId: string;
  /** The key itself. It cannot be shown again, because only its hash is stored. */
  readonly apiKey: string;
}

/**
 * SQL for what the keys `k` of an account spent in a month, a date in SQL. Only those that were not revoked before are looked
 * up, each by itself: an account may have revoked any number, and the planner expects few. The day covers a hold that was
 * decided while its key was revoked. Follows SELECT, and ends with a condition on `k`.
 */
export function spentIn(month: string): string {
  return `coalesce(sum((SELECT s.spent FROM key_spend s WHERE s.key_id = k.id AND s.month = ${month}::date)), 0)::bigint
    AS spent FROM api_keys k
    WHERE coalesce(k.revoked_at, 'infinity') >= (${month}::date - 1)::timestamp AT TIME ZONE 'UTC'`;
}

/** The stored part of a key: enough to tell keys apart, and no help in guessing one. */
export const KEY_PREFIX_CHARS = 10;

const FOREIGN_KEY_VIOLATION = '23503';

/**
 * Creates a key in the caller's transaction, and locks the balances of the account.
 * @throws IdentityRefusal if the account or the group does not exist, the account lacks the group, or the name is invalid;
 * ApiError account_closing, since a deletion revokes only the keys that it finds
 */
export async function insertKey(database: pg.ClientBase, key: NewKey): Promise<CreatedKey> {
  await lockHolds(database, key.accountId);
  if (await isClosing(database, key.accountId))
    throw new ApiError('account_closing', 'The account is being deleted and gets no new keys.');
  const created = { keyId: newId(), apiKey: newApiKey() };
  try {
    await database.query(
      'INSERT INTO api_keys (id, account_id, name, key_hash, group_name, key_prefix) VALUES ($1, $2, $3, $4, $5, $6)',
      [
        created.keyId,
        key.accountId,
        checkedName(key.name),
        hashApiKey(created.apiKey),
        key.group,
        created.apiKey.slice(0, KEY_PREFIX_CHARS),
      ],
    );
  } catch (error) {
    throw refusalOf(error, key) ?? error;
  }
  // This can miss a grant that is withdrawn meanwhile. The hold does not.
  if (!(await hasGroup(database, key))) throw groupNotGranted(key.group);
  return created;
}

function refusalOf(error: unknown, key: NewKey): IdentityRefusal | undefined {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code !== FOREIGN_KEY_VIOLATION) return undefined;
  return constraint?.includes('group') ? unknownGroup(key.group) : unknownAccount(key.accountId);
}

function groupNotGranted(group: string): IdentityRefusal {
  const message = `The group ${JSON.stringify(group)} is not open to this account: ask the operator for it in a ticket.`;
  return new IdentityRefusal('group_not_granted', message);
}

export function unknownGroup(group: string): IdentityRefusal {
  return new IdentityRefusal('group_not_found', `There is no group ${JSON.stringify(group)}.`);
}

export function unknownAccount(accountId: string): IdentityRefusal {
  return new IdentityRefusal('account_not_found', `There is no account ${JSON.stringify(accountId)}.`);
}

export interface RevokedKey {
  readonly keyId: string;
  readonly accountId: string;
  readonly revokedAt: Date;
}

/**
 * Revokes a key permanently in the caller's transaction. A repeat returns the time of the first revocation. Like every
 * hold, it first locks the balances of the account, so each hold is ordered against the revocation: a later one sees
 * the revoked key, whatever a gateway has cached.
 * @throws IdentityRefusal for an unknown key
 */
export async function revokeKey(client: pg.ClientBase, keyId: string): Promise<RevokedKey> {
  const { rows: owners } = await client.query<{ accountId: string }>(
    `SELECT b.account_id AS "accountId" FROM customer_balances b
     WHERE b.account_id = (SELECT account_id FROM api_keys WHERE id = $1) FOR UPDATE`,
    [keyId],
  );
  const owner = owners[0];
  if (!owner) throw new IdentityRefusal('key_not_found', `There is no key ${JSON.stringify(keyId)}.`);
  const { rows } = await client.query<{ revokedAt: Date }>(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = $1
     RETURNING revoked_at AS "revokedAt"`,
    [keyId],
  );
  return { keyId, ...owner, revokedAt: rows[0]!.revokedAt };
}

/** Limits of a key in addition to its group's; null: no limit. */
export interface KeyLimits {
  readonly requestsPerMinute: number | null;
  readonly runningTasks: number | null;
}

/** Sets the limits of a key and keeps omitted ones. @throws IdentityRefusal for an unknown key */
export async function limitKey(
  client: pg.ClientBase,
  keyId: string,
  limits: { [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined },
): Promise<KeyLimits & { accountId: string }> {
  const { requestsPerMinute, runningTasks } = limits;
  const { rows } = await client.query<KeyLimits & { accountId: string }>(
    `UPDATE api_keys SET
       requests_per_minute = CASE WHEN $2 THEN $3::integer ELSE requests_per_minute END,
       max_running_tasks = CASE WHEN $4 THEN $5::integer ELSE max_running_tasks END
     WHERE id = $1
     RETURNING account_id AS "accountId", requests_per_minute AS "requestsPerMinute",
       max_running_tasks AS "runningTasks"`,
    [keyId, requestsPerMinute !== undefined, requestsPerMinute, runningTasks !== undefined, runningTasks],
  );
  if (!rows[0]) throw new IdentityRefusal('key_not_found', `There is no key ${JSON.stringify(keyId)}.`);
  return rows[0];
}

export interface ListedKey {
  readonly keyId: string;
  readonly name: string;
  readonly group: string;
  readonly revokedAt: Date | null;
}

/** The longest list. Nobody reads further, and an account could create any number. */
const MAX_LISTED = 1_000;

/** The keys of an account, oldest first, without the keys themselves. */
export async function listKeys(database: pg.Pool | pg.ClientBase, accountId: string): Promise<ListedKey[]> {
  const { rows } = await database.query<ListedKey>(
    `SELECT id AS "keyId", name, group_name AS "group", revoked_at AS "revokedAt" FROM api_keys
     WHERE account_id = $1 ORDER BY id LIMIT ${MAX_LISTED}`,
    [accountId],
  );
  return rows;
}
