import type pg from 'pg';
import { insertAccount } from '#identity/account.store.js';
import type { Role } from '#identity/role.js';
import { openCustomerAccount } from '#ledger/postings/customer-account.js';
import { newId } from '#platform/ids.js';

export interface NewPerson {
  /** Lower case. */
  email: string;
  name: string;
  /** A hash of argon2id; anything else is a password that nobody has. */
  passwordHash: string;
  roles: readonly Role[];
  /** The account whose code was used. */
  inviterAccountId: string | null;
}

/**
 * Opens an account with its ledger accounts, empty, and its person, inside the caller's transaction: all or nothing. An
 * inviter is said here or never, of an account that is not there yet, so nobody can invite themselves or their inviter;
 * the database refuses a ring besides.
 * @throws the database's unique violation when the e-mail address has a person.
 */
export async function insertPerson(
  client: pg.ClientBase,
  person: NewPerson,
): Promise<{ userId: string; accountId: string }> {
  const { email, name, passwordHash, roles, inviterAccountId } = person;
  const accountId = await insertAccount(client, name);
  await openCustomerAccount(client, accountId);
  const userId = newId();
  await client.query(
    'INSERT INTO users (id, account_id, email, password_hash, roles) VALUES ($1, $2, $3, $4, $5)',
    [userId, accountId, email, passwordHash, roles],
  );
  if (inviterAccountId !== null) {
    await client.query('INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)', [
      accountId,
      inviterAccountId,
    ]);
  }
  return { userId, accountId };
}

/** The account of an invite code, or null. Case and blanks around it do not matter. */
export async function inviterOf(database: pg.Pool | pg.ClientBase, code: string): Promise<string | null> {
  const { rows } = await database.query<{ id: string }>('SELECT id FROM accounts WHERE invite_code = $1', [
    code.trim().toLowerCase(),
  ]);
  return rows[0]?.id ?? null;
}
