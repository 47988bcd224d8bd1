import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import type { Role } from '#identity/role.js';
import { hashToken, newToken } from '#identity/secret-token.js';
import { insertPerson } from './new-person.js';
import { findByEmail } from './person.store.js';

export interface OperatorRequest {
  /** Lower case. */
  email: string;
  name: string;
  /** Granted besides those that the person has. */
  roles: readonly Role[];
  /** Of a new person, or in place of the one before; null leaves it. */
  passwordHash: string | null;
  /** How long a link to set a password is good, milliseconds; null: none is made. */
  linkLifeMs: number | null;
  /** Who asks, as the audit log names them. */
  by: string;
}

export interface Operator {
  userId: string;
  accountId: string;
  email: string;
  roles: Role[];
  created: boolean;
  /** Sets a password, once. */
  token: string | null;
}

/** A hash that no password has. */
const NO_PASSWORD = 'none';

/**
 * Gives somebody roles from outside of the console, as for the first administrator: a new person, or one who is there and
 * keeps what they have. A new password ends all sessions; a link for one ends them when it is used.
 */
export function makeOperator(pool: pg.Pool, request: OperatorRequest): Promise<Operator> {
  return inTransaction(pool, async (client) => {
    const { email, name, passwordHash, linkLifeMs } = request;
    const before = await findByEmail(client, email);
    const roles = [...new Set<Role>(['user', ...(before?.roles ?? []), ...request.roles])];
    const { userId, accountId } = before
      ? { userId: before.id, accountId: before.accountId }
      : await insertPerson(client, {
          ...{ email, name, roles },
          passwordHash: passwordHash ?? NO_PASSWORD,
          inviterAccountId: null,
        });
    if (before) await update(client, userId, { roles, passwordHash });
    const token = linkLifeMs === null ? null : await insertLink(client, userId, linkLifeMs);
    await audit(client, {
      actor: request.by,
      action: before ? 'person.roles_changed' : 'person.created',
      subject: `user:${userId}`,
      accountId,
      requestId: null,
      ...(before ? { before: { roles: before.roles } } : {}),
      after: { roles, passwordSet: passwordHash !== null, linkMade: token !== null },
    });
    return { userId, accountId, email, roles, created: before === null, token };
  });
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
