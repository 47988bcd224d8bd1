import type pg from 'pg';
import type { Role } from '#identity/role.js';

/** A person, as needed for signing in. */
export interface SigningPerson {
  id: string;
  accountId: string;
  email: string;
  passwordHash: string;
  roles: Role[];
  /** As stored, sealed. If confirmed, a code is required. */
  totpSecret: string | null;
  disabled: boolean;
}

const COLUMNS = `id, account_id AS "accountId", email, password_hash AS "passwordHash", roles,
  CASE WHEN totp_confirmed_at IS NOT NULL THEN totp_secret END AS "totpSecret", disabled_at IS NOT NULL AS disabled`;

export async function findByEmail(
  database: pg.Pool | pg.ClientBase,
  email: string,
): Promise<SigningPerson | null> {
  const { rows } = await database.query<SigningPerson>({
    name: 'find-person-by-email',
    text: `SELECT ${COLUMNS} FROM users WHERE email = $1`,
    values: [email],
  });
  return rows[0] ?? null;
}

export async function findById(
  database: pg.Pool | pg.ClientBase,
  userId: string,
): Promise<SigningPerson | null> {
  const { rows } = await database.query<SigningPerson>(`SELECT ${COLUMNS} FROM users WHERE id = $1`, [
    userId,
  ]);
  return rows[0] ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockById(client: pg.ClientBase, userId: string): Promise<SigningPerson | null> {
  const { rows } = await client.query<SigningPerson>(
    `SELECT ${COLUMNS} FROM users WHERE id = $1 FOR UPDATE`,
    [userId],
  );
  return rows[0] ?? null;
}
