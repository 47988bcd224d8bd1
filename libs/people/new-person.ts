import type pg from 'pg';
import { insertAccount } from '#identity/account.store.js';
import { recordInvitation } from '#invites/invitations.js';
import type { MailLanguage } from '#identity/language.js';
import type { Role } from '#identity/role.js';
import { openCustomerAccount } from '#ledger/postings/customer-account.js';
import { newId } from '#platform/ids.js';

export interface NewPerson {
  /** Lower case. */
  email: string;
  name: string;
  /** A hash of argon2id. Anything else matches no password. */
  passwordHash: string;
  roles: readonly Role[];
  /** The language of their mail; null: unknown. */
  language: MailLanguage | null;
  /** The account whose invite code was used. */
  inviterAccountId: string | null;
}

/**
 * Creates an account with empty ledger accounts and its person in the caller's transaction, and records who invited it.
 * @throws the database's unique violation if the email address is taken
 */
export async function insertPerson(
  client: pg.ClientBase,
  person: NewPerson,
): Promise<{ userId: string; accountId: string }> {
  const { email, name, passwordHash, roles, language, inviterAccountId } = person;
  const accountId = await insertAccount(client, name);
  await openCustomerAccount(client, accountId);
  const userId = newId();
  await client.query(
    'INSERT INTO users (id, account_id, email, password_hash, roles, language) VALUES ($1, $2, $3, $4, $5, $6)',
    [userId, accountId, email, passwordHash, roles, language],
  );
  if (inviterAccountId !== null) {
    await recordInvitation(client, { inviteeId: accountId, inviterId: inviterAccountId });
  }
  return { userId, accountId };
}
