import type pg from 'pg';
import { inTransaction, isDuplicate } from '#database/database.js';
import type { MailLanguage } from '#identity/language.js';
import { hashToken } from '#identity/secret-token.js';
import type { OpenedSession } from '#identity/session.store.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { queueMail } from '#mail/mail.outbox.js';
import type { Origin } from './origin.js';
import { accountOfCode } from '#invites/invitations.js';
import { insertPerson } from './new-person.js';
import { countMail, type PeopleParts, refuseWeak } from './people.parts.js';

export interface SignUpRequest {
  /** Lower case. */
  email: string;
  inviteCode?: string | undefined;
  /** The language of the page, for this and further mail. */
  language?: MailLanguage | undefined;
}

export interface SignUpConfirmation {
  token: string;
  password: string;
  /** The name of the account; by default the part of the email address before the `@`. */
  name?: string | undefined;
}

/**
 * Sign-up takes two steps. The first takes an email address and only sends a mail. The link in the mail sets the
 * password, creates the account and signs in. So every address belongs to its person, nobody can prepare an account
 * that its owner will confirm later, and the first step gives the same answer in the same time whether the address has
 * an account or not. Only the mail shows it.
 */
export class SignUpService {
  constructor(private readonly parts: PeopleParts) {}

  /** @throws ApiError invalid_value for an unknown invite code, too_many_attempts */
  async request({ email, inviteCode, language }: SignUpRequest, { ip }: Origin): Promise<void> {
    const { signUpLifeMs } = this.parts.config.people;
    await countMail(this.parts, 'sign_up', { email, ip });
    if (inviteCode !== undefined && (await accountOfCode(this.parts.pool, inviteCode)) === null)
      throw unknownCode();
    await inTransaction(this.parts.pool, async (client) => {
      const signUpId = newId();
      await client.query(
        `INSERT INTO sign_ups (id, email, invite_code, language, expires_at)
         VALUES ($1, $2, $3, $4, now() + $5::float8 * interval '1 millisecond')`,
        [signUpId, email, inviteCode ?? null, language ?? null, signUpLifeMs],
      );
      await queueMail(client, { template: 'sign_up', to: email, details: { signUpId } });
    });
    this.parts.mail.wake();
  }

  /** Creates the account and a session. @throws ApiError invalid_value for a weak password, or a used or expired link */
  async confirm(confirmation: SignUpConfirmation, origin: Origin): Promise<OpenedSession> {
    const tokenHash = hashToken(confirmation.token);
    // Checked before the password is hashed, because hashing for invented links would cost us more than their senders.
    const { rows } = await this.parts.pool.query<{ email: string }>(
      'SELECT email FROM sign_ups WHERE token_hash = $1 AND expires_at > now()',
      [tokenHash],
    );
    if (!rows[0]) throw deadLink();
    refuseWeak(this.parts.config, confirmation.password, { email: rows[0].email, param: 'password' });
    const passwordHash = await this.parts.hasher.hash(confirmation.password, origin);
    try {
      return await inTransaction(this.parts.pool, async (client) => {
        const userId = await openAccount(client, { tokenHash, passwordHash, name: confirmation.name });
        return this.parts.sessions.open({ userId, ...origin }, client);
      });
    } catch (error) {
      throw isDuplicate(error, 'users_email_key') ? deadLink() : error;
    }
  }
}

async function openAccount(
  client: pg.ClientBase,
  { tokenHash, passwordHash, name }: { tokenHash: Buffer; passwordHash: string; name: string | undefined },
): Promise<string> {
  const { email, inviteCode, language } = await takeSignUp(client, tokenHash);
  const { userId } = await insertPerson(client, {
    email,
    name: name ?? (email.split('@')[0] as string).slice(0, 100),
    passwordHash,
    roles: ['user'],
    language,
    inviterAccountId: inviteCode === null ? null : await accountOfCode(client, inviteCode),
  });
  return userId;
}

interface SignUp {
  email: string;
  inviteCode: string | null;
  language: MailLanguage | null;
}

/** Removes the sign-up of a link, with all others of its address. @throws ApiError if the link is not valid */
async function takeSignUp(client: pg.ClientBase, tokenHash: Buffer): Promise<SignUp> {
  // Locks all links of the address in one order, so that two used at once do not wait for each other.
  await client.query(
    `SELECT FROM sign_ups WHERE email = (SELECT email FROM sign_ups WHERE token_hash = $1) ORDER BY id FOR UPDATE`,
    [tokenHash],
  );
  const { rows } = await client.query<SignUp>(
    `DELETE FROM sign_ups WHERE token_hash = $1 AND expires_at > now()
     RETURNING email, invite_code AS "inviteCode", language`,
    [tokenHash],
  );
  const signUp = rows[0];
  if (!signUp) throw deadLink();
  await client.query('DELETE FROM sign_ups WHERE email = $1', [signUp.email]);
  return signUp;
}

function unknownCode(): ApiError {
  return invalidField('inviteCode', 'this invite code does not exist.');
}

export function deadLink(): ApiError {
  return invalidField('token', 'the link was used, replaced by a later one, or has expired.');
}
