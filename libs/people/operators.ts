import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { lock } from '#database/locks.js';
import { revokeSessions } from '#identity/session.store.js';
import { audit } from '#identity/audit-log.js';
import { noteMaker } from '#identity/own-interest.js';
import type { Actor, Role } from '#identity/role.js';
import { hashToken, newToken } from '#identity/secret-token.js';
import { IS_STAFF } from '#identity/staff.js';
import { ApiError } from '#platform/errors.js';
import { insertPerson } from './new-person.js';
import { findByEmail, type SigningPerson } from './person.store.js';
import type { RoleGrants } from './role-grants.js';
import { lockPerson } from './roles.service.js';

export interface OperatorRequest {
  /** Lower case. */
  email: string;
  name: string;
  /** Roles to add to those that the person has. */
  roles: readonly Role[];
  /** The password of a new person, or a new one; null keeps it. */
  passwordHash: string | null;
  /** How long a link to set a password works, in milliseconds; null: no link. */
  linkLifeMs: number | null;
  /** The administrator who asks; null creates the first one. */
  by: Actor | null;
  /** The request id in the audit log. */
  requestId: string;
}

export interface Operator {
  userId: string;
  accountId: string;
  email: string;
  roles: Role[];
  created: boolean;
  /** Sets a password, once. */
  token: string | null;
  /** The approval that another administrator has to decide first. */
  approvalId: string | null;
}

/** A hash that matches no password. */
const NO_PASSWORD = 'none';

/**
 * Adds staff from outside the console: a new person, or an existing one, who keeps their roles. The first administrator
 * needs no approval. After that, another administrator approves roles. A new password ends all sessions, and a link
 * does so when it is used.
 * @throws ApiError forbidden without an administrator once there was one
 */
export function makeOperator(
  { source, grants }: { source: DataSource; grants: RoleGrants },
  request: OperatorRequest,
): Promise<Operator> {
  return inEntityTransaction(source, async (transaction) => {
    const { client } = transaction;
    await lock(client, 'administrators');
    if (request.by === null) await requireNoAdministrator(client, request.roles);
    const before = await findByEmail(client, request.email);
    if (before) refuseTakeover(before, request);
    const person = await personOf(client, request, before);
    const { linkLifeMs, by, requestId, passwordHash } = request;
    const token = linkLifeMs === null ? null : await insertLink(client, person.userId, linkLifeMs);
    await audit(client, {
      actor: by === null ? requestId : `user:${by.userId}`,
      action: before ? 'person.changed' : 'person.created',
      subject: `user:${person.userId}`,
      accountId: person.accountId,
      requestId,
      after: { roles: person.roles, passwordSet: passwordHash !== null, linkMade: token !== null },
    });
    const granted = await grant(transaction, { ...person, grants }, request);
    return { ...person, ...granted, email: request.email, created: before === null, token };
  });
}

async function grant(
  transaction: EntityTransaction,
  { userId, roles, grants }: { userId: string; roles: Role[]; grants: RoleGrants },
  { by, requestId, roles: wanted }: OperatorRequest,
): Promise<Pick<Operator, 'roles' | 'approvalId'>> {
  const added = wanted.filter((role) => !roles.includes(role));
  if (by === null || added.length === 0) return { roles, approvalId: null };
  const person = await lockPerson(transaction.client, { userId, actor: by });
  const answer = await grants.grant(transaction, { person, roles: added }, { actor: by, requestId });
  return { roles: answer.person.roles, approvalId: answer.approvalId };
}

/** This remembers everyone who was ever an administrator, so that the exception does not return when people leave. */
async function requireNoAdministrator(client: pg.ClientBase, roles: readonly Role[]): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM administrators LIMIT 1');
  if (rowCount === 0 && roles.includes('admin')) return;
  const message = rowCount
    ? 'There is already an administrator: name the person who is acting with --as or TOLLGATE_AS.'
    : 'Create the first administrator first: leave --role out, or include admin.';
  throw new ApiError('forbidden', message);
}

/** With a colleague's password, one person could act as two. */
function refuseTakeover(before: SigningPerson, { by, passwordHash, linkLifeMs }: OperatorRequest): void {
  if (by === null || before.id === by.userId) return;
  if (passwordHash === null && linkLifeMs === null) return;
  if (before.roles.every((role) => role === 'user')) return;
  const message = `${before.email} is a member of staff: they request a new password themselves on the sign-in page.`;
  throw new ApiError('forbidden', message);
}

async function personOf(
  client: pg.ClientBase,
  { email, name, roles, passwordHash, by }: OperatorRequest,
  before: SigningPerson | null,
): Promise<Pick<Operator, 'userId' | 'accountId' | 'roles'>> {
  const atOnce = by === null ? roles : [];
  const all = [...new Set<Role>(['user', ...(before?.roles ?? []), ...atOnce])];
  if (before) {
    await update(client, before.id, { roles: all, passwordHash });
    return { userId: before.id, accountId: before.accountId, roles: all };
  }
  const hash = passwordHash ?? NO_PASSWORD;
  const made = await insertPerson(client, {
    email,
    name,
    roles: all,
    passwordHash: hash,
    language: null,
    inviterAccountId: null,
  });
  if (by) await noteMaker(client, { accountId: made.accountId, makerId: by.userId, how: 'created' });
  return { ...made, roles: all };
}

async function update(
  client: pg.ClientBase,
  userId: string,
  { roles, passwordHash }: { roles: Role[]; passwordHash: string | null },
): Promise<void> {
  await client.query(
    'UPDATE users SET roles = $2, password_hash = coalesce($3, password_hash) WHERE id = $1',
    [userId, roles, passwordHash],
  );
  if (passwordHash === null) return;
  await revokeSessions(client, userId);
}

async function insertLink(client: pg.ClientBase, userId: string, lifeMs: number): Promise<string> {
  const token = newToken();
  await client.query(
    `INSERT INTO password_resets (token_hash, user_id, expires_at)
     VALUES ($1, $2, now() + $3::float8 * interval '1 millisecond')`,
    [hashToken(token), userId, lifeMs],
  );
  return token;
}

export interface ListedOperator {
  userId: string;
  email: string;
  roles: Role[];
  disabled: boolean;
  totpEnabled: boolean;
}

/** Everyone with more than the role `user`. */
export async function listOperators(pool: pg.Pool): Promise<ListedOperator[]> {
  const { rows } = await pool.query<ListedOperator>(
    `SELECT id AS "userId", email, roles, disabled_at IS NOT NULL AS disabled,
       totp_confirmed_at IS NOT NULL AS "totpEnabled"
     FROM users WHERE ${IS_STAFF} ORDER BY email`,
  );
  return rows;
}
