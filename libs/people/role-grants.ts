import type pg from 'pg';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { noteMaker } from '#identity/own-interest.js';
import { type Actor, type Role, roles as everyRole } from '#identity/role.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { requireUnchanged } from '#platform/unchanged.js';
import { type ApprovalContext, ApprovalService } from '#approvals/approval.service.js';
import {
  type ListedPerson,
  lockPerson,
  type PersonChange,
  requireAdmin,
  updatePerson,
} from './roles.service.js';

const KIND = 'person.roles';
const grantPayload = z.strictObject({
  userId: z.string(),
  roles: z.array(z.enum(everyRole)),
});
type GrantPayload = z.infer<typeof grantPayload>;

export interface GrantAnswer {
  person: ListedPerson;
  /** The approval that another administrator decides, if roles were requested. */
  approvalId: string | null;
}

export interface GivenRoles {
  /** Everybody also has the role `user`. */
  roles: readonly Role[];
  /** The roles as the author of the change read them. */
  was?: { roles: readonly Role[] } | undefined;
}

export interface RoleGrantsParts {
  readonly source: DataSource;
  readonly approvals: ApprovalService;
}

/** Staff roles: granted by two administrators, removed by one. */
export class RoleGrants {
  constructor(private readonly parts: RoleGrantsParts) {
    parts.approvals.register<GrantPayload>({
      kind: KIND,
      roles: ['admin'],
      payload: grantPayload,
      apply: (client, payload, context) => applyGrant(client, payload, context),
    });
  }

  /**
   * Removes the roles that are not given, and requests the new ones. @throws ApiError not_found, forbidden for oneself,
   * conflict, also if the roles have changed since they were read
   */
  setRoles(change: PersonChange, { roles, was }: GivenRoles): Promise<GrantAnswer> {
    return inEntityTransaction(this.parts.source, async (transaction) => {
      const before = await lockPerson(transaction.client, change);
      const wanted = new Set<Role>(['user', ...roles]);
      requireUnchanged(
        { roles: before.roles },
        { roles: [...wanted], was: was && { roles: ['user', ...was.roles] } },
      );
      const kept = before.roles.filter((role) => wanted.has(role));
      const added = [...wanted].filter((role) => !before.roles.includes(role));
      let person = before;
      if (kept.length < before.roles.length) {
        person = await writeRoles(
          transaction.client,
          { person: before, roles: kept },
          {
            actor: `user:${change.actor.userId}`,
            requestId: change.requestId,
          },
        );
        await requireAdmin(transaction.client);
      }
      return this.grant(transaction, { person, roles: added }, change);
    });
  }

  /** Requests roles, or grants them at once to the second administrator ever. The caller has locked the person. */
  async grant(
    transaction: EntityTransaction,
    { person, roles }: { person: ListedPerson; roles: readonly Role[] },
    { actor, requestId }: Pick<PersonChange, 'actor' | 'requestId'>,
  ): Promise<GrantAnswer> {
    const { client } = transaction;
    if (roles.length === 0) return { person, approvalId: null };
    if (!(await isFirstAlone(client, actor, roles)))
      return { person, approvalId: await this.ask(transaction, { person, roles }, actor) };
    const by = { actor: `user:${actor.userId}`, requestId };
    const granted = await addRoles(client, person, { roles, grantor: actor.userId, by });
    return { person: granted, approvalId: null };
  }

  /** @returns the approval that another administrator decides; the pending one if it was requested before */
  private async ask(
    transaction: EntityTransaction,
    { person, roles }: { person: ListedPerson; roles: readonly Role[] },
    actor: PersonChange['actor'],
  ): Promise<string> {
    const { userId, accountId } = person;
    const payload: GrantPayload = { userId, roles: [...roles] };
    const asked = await this.parts.approvals.requestOnce(transaction, {
      kind: KIND,
      subject: `user:${userId}`,
      accountId,
      payload,
      amount: null,
      reason: `Grant ${roles.join(', ')}.`,
      actor,
      requestId: newId(),
    });
    return asked.id;
  }
}

async function applyGrant(
  client: pg.PoolClient,
  { userId, roles }: GrantPayload,
  { requestedBy, decidedBy, approvalId }: ApprovalContext,
): Promise<{ roles: Role[] }> {
  const actor = { userId: decidedBy };
  const person = await lockPerson(client, { userId, actor });
  if (person.disabled) throw new ApiError('conflict', 'The person is disabled and cannot get roles.');
  const by = { actor: `user:${decidedBy}`, requestId: approvalId };
  return { roles: (await addRoles(client, person, { roles, grantor: requestedBy, by })).roles };
}

async function addRoles(
  client: pg.ClientBase,
  person: ListedPerson,
  { roles, grantor, by }: { roles: readonly Role[]; grantor: string; by: Doer },
): Promise<ListedPerson> {
  await noteMaker(client, { accountId: person.accountId, makerId: grantor, how: 'granted' });
  return writeRoles(client, { person, roles: [...new Set([...person.roles, ...roles])] }, by);
}

interface Doer {
  actor: string;
  requestId: string;
}

async function writeRoles(
  client: pg.ClientBase,
  { person, roles }: { person: ListedPerson; roles: readonly Role[] },
  by: Doer,
): Promise<ListedPerson> {
  const { userId, accountId, roles: before } = person;
  const after = await updatePerson(client, userId, { assignment: 'roles = $2', value: roles });
  await audit(client, {
    ...by,
    action: 'person.roles_changed',
    subject: `user:${userId}`,
    accountId,
    before: { roles: before },
    after: { roles },
  });
  return after;
}

/**
 * The first administrator appoints the second one alone. Everyone who was ever an administrator is remembered, so that
 * this does not return when people leave. The caller holds the lock of administrators.
 */
async function isFirstAlone(
  client: pg.ClientBase,
  { userId }: Pick<Actor, 'userId'>,
  roles: readonly Role[],
): Promise<boolean> {
  if (roles.length !== 1 || roles[0] !== 'admin') return false;
  const { rows } = await client.query<{ id: string }>(
    'SELECT user_id AS id FROM administrators ORDER BY since, user_id LIMIT 2',
  );
  return rows.length === 1 && rows[0]?.id === userId;
}
