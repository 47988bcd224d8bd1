import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { lock } from '#database/locks.js';
import { audit } from '#identity/audit-log.js';
import { noteMaker } from '#identity/own-interest.js';
import type { Actor, Role } from '#identity/role.js';
import { hashToken, newToken } from '#identity/secret-token.js';
import { ApiError } from '#platform/errors.js';
import { insertPerson } from './new-person.js';
import { findByEmail, type SigningPerson } from './person.store.js';
import type { RoleGrants } from './role-grants.js';
import { lockPerson } from './roles.service.js';

export interface OperatorRequest {
  /** Lower case. */
  email: string;
  name: string;
  /** Asked for besides those that the person has. */
  roles: readonly Role[];
  /** Of a new person, or in place of the one before; null leaves it. */
  passwordHash: string | null;
  /** How long a link to set a password is good, milliseconds; null: none is made. */
  linkLifeMs: number | null;
  /** The administrator who asks; null makes the first one. */
  by: Actor | null;
  /** As the audit log names the request. */
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
  /** What another administrator decides before the roles are there. */
  approvalId: string | null;
}

/** A hash that no password has. */
const NO_PASSWORD = 'none';

/**
 * Makes someone of the staff from outside of the console: a new person, or one who is there and keeps what they have. The
 * first administrator needs nobody; after that roles are asked for, and another administrator decides. A new password ends
 * all sessions; a link for one ends them when it is used.
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

/** Who was ever an administrator is kept, so that this does not come back when people go. */
async function requireNoAdministrator(client: pg.ClientBase, roles: readonly Role[]): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM administrators LIMIT 1');
  if (rowCount === 0 && roles.includes('admin')) return;
  const message = rowCount
    ? 'There was an administrator already: say who is acting, by --as or TOLLGATE_AS.'
    : 'Make the first administrator first: leave --role out, or name admin too.';
  throw new ApiError('forbidden', message);
}

/** A password for someone else of the staff would let one person act as two. */
function refuseTakeover(before: SigningPerson, { by, passwordHash, linkLifeMs }: OperatorRequest): void {
  if (by === null || before.id === by.userId) return;
  if (passwordHash === null && linkLifeMs === null) return;
  if (before.roles.every((role) => role === 'user')) return;
  const message = `${before.email} is of the staff: they ask for a new password themselves where people sign in.`;
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
  await client.query('UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL', [
    userId,
  ]);
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

/** Everybody who is more than a user. */
export async function listOperators(pool: pg.Pool): Promise<ListedOperator[]> {
  const { rows } = await pool.query<ListedOperator>(
    `SELECT id AS "userId", email, roles, disabled_at IS NOT NULL AS disabled,
       totp_confirmed_at IS NOT NULL AS "totpEnabled"
     FROM users WHERE roles <> '{user}' ORDER BY email`,
  );
  return rows;
}
