import type pg from 'pg';
import type { Role } from '#identity/role.js';

/** A person as signing in needs them. */
export interface SigningPerson {
  id: string;
  accountId: string;
  email: string;
  passwordHash: string;
  roles: Role[];
  /** As it is stored, sealed. Confirmed: a code is asked for. */
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

/** The same, and nobody else changes the row until the transaction ends. */
export async function lockById(client: pg.ClientBase, userId: string): Promise<SigningPerson | null> {
  const { rows } = await client.query<SigningPerson>(
    `SELECT ${COLUMNS} FROM users WHERE id = $1 FOR UPDATE`,
    [userId],
  );
  return rows[0] ?? null;
}
