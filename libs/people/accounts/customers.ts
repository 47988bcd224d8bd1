import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { inTransaction } from '#database/database.js';
import { grantGroup, hasGroup, withdrawGroup } from '#groups/account-groups.js';
import { findAccount, insertAccount } from '#identity/account.store.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import {
  type CreatedKey,
  insertKey,
  type KeyLimits,
  limitKey,
  type NewKey,
  revokeKey,
  type RevokedKey,
  unknownAccount,
  unknownGroup,
} from '#identity/key.store.js';
import { noteMaker, refuseOwnInterest } from '#identity/own-interest.js';
import { openCustomerAccount } from '#ledger/postings/customer-account.js';

export interface NewCustomer {
  name: string;
  /** The group of the customer's first key. */
  group: string;
  keyName?: string;
  /** The colleague who creates it, and may not decide about it afterwards. */
  makerId?: string | undefined;
}

export interface CreatedCustomer extends CreatedKey {
  accountId: string;
}

/** The actor if nobody is named, for example when a relay creates its own demo account. */
const SYSTEM = 'system';

/** Who changes an account. Without an actor, it is a program, or the command line before the first administrator. */
export interface DoneFor {
  /** As named in the audit log. */
  readonly by: string;
  readonly actor: { readonly userId: string } | null;
}

const BY_SYSTEM: DoneFor = { by: SYSTEM, actor: null };

async function refuseOwn(client: pg.ClientBase, { actor }: DoneFor, accountId: string): Promise<void> {
  if (actor) await refuseOwnInterest(client, actor, accountId);
}

/**
 * Creates a customer account with empty ledger accounts and a first key, all or nothing. Credits come from top-ups
 * only: there are no free credits.
 * @throws IdentityRefusal for an invalid name or an unknown group; ApiError second_person_required for a group that is
 * not open
 */
export function createCustomer(
  pool: pg.Pool,
  customer: NewCustomer,
  by: string = SYSTEM,
): Promise<CreatedCustomer> {
  return inTransaction(pool, async (client) => {
    const accountId = await insertAccount(client, customer.name);
    await openCustomerAccount(client, accountId);
    const { group, keyName = 'first key', makerId } = customer;
    if (makerId !== undefined) await noteMaker(client, { accountId, makerId, how: 'created' });
    // A group that is not open to everyone is a price. If the creator is named, someone else has to grant it.
    if (!(await hasGroup(client, { accountId, group }))) {
      const isGranted = await grantGroup(client, { accountId, group, by });
      if (isGranted && makerId !== undefined) await refuseOwnInterest(client, { userId: makerId }, accountId);
    }
    const key = await insertKey(client, { accountId, group, name: keyName });
    const after = { keyId: key.keyId, group };
    const subject = `account:${accountId}`;
    await audit(client, { actor: by, action: 'account.created', subject, accountId, after, requestId: null });
    return { accountId, ...key };
  });
}

/**
 * Creates a key of an account.
 * @throws IdentityRefusal if the account or the group does not exist, or the account lacks the group; ApiError
 * second_person_required
 */
export function createKey(pool: pg.Pool, key: NewKey, doer = BY_SYSTEM): Promise<CreatedKey> {
  return inTransaction(pool, async (client) => {
    const { accountId, group } = key;
    await refuseOwn(client, doer, accountId);
    const created = await insertKey(client, key);
    await noteKey(client, {
      by: doer.by,
      action: 'key.created',
      accountId,
      keyId: created.keyId,
      after: { group },
    });
    return created;
  });
}

/**
 * Revokes a key: later holds are refused, and every gateway forgets it.
 * @throws IdentityRefusal for an unknown key; ApiError second_person_required
 */
export function revokeCustomerKey(pool: pg.Pool, keyId: string, doer = BY_SYSTEM): Promise<RevokedKey> {
  return inTransaction(pool, async (client) => {
    const revoked = await revokeKey(client, keyId);
    const { accountId } = revoked;
    await refuseOwn(client, doer, accountId);
    await noteKey(client, { by: doer.by, action: 'key.deleted', accountId, keyId });
    await client.query(outboxInsert('billing', [outboxRow(topics.keyChanged, { keyId, accountId })]));
    return revoked;
  });
}

/** Sets the limits of a key, keeps omitted ones, and notifies every gateway. @throws IdentityRefusal, ApiError */
export function limitCustomerKey(
  pool: pg.Pool,
  { keyId, limits }: { keyId: string; limits: Parameters<typeof limitKey>[2] },
  doer = BY_SYSTEM,
): Promise<KeyLimits & { accountId: string }> {
  return inTransaction(pool, async (client) => {
    const limited = await limitKey(client, keyId, limits);
    const { accountId } = limited;
    await refuseOwn(client, doer, accountId);
    await noteKey(client, { by: doer.by, action: 'key.changed', accountId, keyId, after: limits });
    await client.query(outboxInsert('billing', [outboxRow(topics.keyChanged, { keyId, accountId })]));
    return limited;
  });
}

/** A group in which an account may create keys. */
export interface AccountGroupName {
  readonly accountId: string;
  readonly group: string;
}

/** Lets an account create keys in a group. True if it could not before. @throws IdentityRefusal, ApiError */
export function grantAccountGroup(pool: pg.Pool, of: AccountGroupName, doer: DoneFor): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await requireBoth(client, of);
    await refuseOwn(client, doer, of.accountId);
    const { by } = doer;
    const isNew = await grantGroup(client, { ...of, by });
    if (isNew) await noteGroup(client, { by, action: 'group.granted', ...of });
    return isNew;
  });
}

/** Withdraws a granted group: later holds of its keys are refused. True if it was granted. @throws IdentityRefusal, ApiError */
export function withdrawAccountGroup(pool: pg.Pool, of: AccountGroupName, doer: DoneFor): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await requireBoth(client, of);
    await refuseOwn(client, doer, of.accountId);
    const wasGranted = await withdrawGroup(client, of);
    if (wasGranted) await noteGroup(client, { by: doer.by, action: 'group.withdrawn', ...of });
    return wasGranted;
  });
}

async function requireBoth(client: pg.ClientBase, { accountId, group }: AccountGroupName): Promise<void> {
  if (!(await findAccount(client, accountId))) throw unknownAccount(accountId);
  const { rows } = await client.query('SELECT FROM groups WHERE name = $1', [group]);
  if (rows.length === 0) throw unknownGroup(group);
}

async function noteGroup(
  client: pg.ClientBase,
  { by, action, accountId, group }: AccountGroupName & { by: string; action: AuditAction },
): Promise<void> {
  const subject = `account:${accountId}`;
  await audit(client, { actor: by, action, subject, accountId, after: { group }, requestId: null });
}

async function noteKey(
  client: pg.ClientBase,
  {
    by,
    keyId,
    ...rest
  }: { by: string; action: AuditAction; accountId: string; keyId: string; after?: unknown },
): Promise<void> {
  await audit(client, { actor: by, subject: `key:${keyId}`, requestId: null, ...rest });
}
