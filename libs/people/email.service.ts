import type pg from 'pg';
import { inTransaction, isDuplicate } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import type { MailLanguage } from '#identity/language.js';
import type { Actor } from '#identity/role.js';
import { hashToken } from '#identity/secret-token.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { queueMail } from '#mail/mail.outbox.js';
import type { Origin } from './origin.js';
import { PasswordService } from './password.service.js';
import { countMail, type PeopleParts } from './people.parts.js';
import { lockById, type SigningPerson } from './person.store.js';
import { deadLink } from './sign-up.service.js';

export interface EmailChange {
  /** Lower case. */
  email: string;
  password: string;
}

export interface EmailServiceParts extends PeopleParts {
  readonly passwords: PasswordService;
}

/**
 * Changes an email address in two steps: the person who asks knows the password, and the one who confirms reads mail at
 * the new address. Nothing changes until then. Afterwards, the old address is notified. Whether the new address belongs
 * to someone else is visible only in the mail sent to it.
 */
export class EmailService {
  constructor(private readonly parts: EmailServiceParts) {}

  /**
   * Queues a mail to the new address. @throws ApiError forbidden for a wrong password, invalid_value, conflict,
   * too_many_attempts
   */
  async request(actor: Actor, { email, password }: EmailChange, { ip }: Origin): Promise<void> {
    const person = await this.parts.passwords.stepUp(actor, password, 'password');
    if (person.email === email) throw invalidField('email', 'this is already your address.');
    const { resetLifeMs } = this.parts.config.people;
    await countMail(this.parts, 'email_change', { email, ip });
    await inTransaction(this.parts.pool, async (client) => {
      await requireUnchanged(client, actor, person);
      const changeId = newId();
      await client.query(
        `INSERT INTO email_changes (id, user_id, email, expires_at)
         VALUES ($1, $2, $3, now() + $4::float8 * interval '1 millisecond')`,
        [changeId, person.id, email, resetLifeMs],
      );
      await queueMail(client, { template: 'email_change', to: email, details: { changeId } });
    });
    this.parts.mail.wake();
  }

  /** Sets the language of all further mail. */
  async setLanguage({ userId }: Actor, language: MailLanguage): Promise<void> {
    await this.parts.pool.query('UPDATE users SET language = $2 WHERE id = $1', [userId, language]);
  }

  /** Confirms the address with the link. @throws ApiError invalid_value for a used or expired link */
  async confirm(token: string, requestId: string): Promise<{ email: string }> {
    try {
      const email = await inTransaction(this.parts.pool, (client) => takeOver(client, token, requestId));
      this.parts.mail.wake();
      return { email };
    } catch (error) {
      throw isDuplicate(error, 'users_email_key') ? deadLink() : error;
    }
  }
}

/** If the session ends or the password changes meanwhile, that withdraws the request, or it is refused here. */
async function requireUnchanged(
  client: pg.ClientBase,
  { sessionId }: Actor,
  { id, passwordHash }: SigningPerson,
): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM users u JOIN sessions s ON s.user_id = u.id
     WHERE u.id = $1 AND u.password_hash = $2 AND s.id = $3 AND s.revoked_at IS NULL FOR UPDATE`,
    [id, passwordHash, sessionId],
  );
  if (!rowCount)
    throw new ApiError('conflict', 'The session has ended or the password has been changed in the meantime.');
}

/** This invalidates links to the old address, and other requested changes. */
async function takeOver(client: pg.ClientBase, token: string, requestId: string): Promise<string> {
  const tokenHash = hashToken(token);
  const { rows } = await client.query<{ userId: string; email: string }>(
    'SELECT user_id AS "userId", email FROM email_changes WHERE token_hash = $1 AND expires_at > now()',
    [tokenHash],
  );
  const change = rows[0];
  // The person's row is locked first, as when a change is withdrawn.
  const person = change && (await lockById(client, change.userId));
  if (!person || person.disabled) throw deadLink();
  const { rowCount } = await client.query('DELETE FROM email_changes WHERE token_hash = $1', [tokenHash]);
  if (!rowCount) throw deadLink();
  const { id, accountId, email: before } = person;
  const { email } = change;
  await client.query('UPDATE users SET email = $2 WHERE id = $1', [id, email]);
  await client.query('DELETE FROM email_changes WHERE user_id = $1', [id]);
  await client.query('DELETE FROM password_resets WHERE user_id = $1', [id]);
  await audit(client, {
    actor: `user:${id}`,
    action: 'email.changed',
    subject: `user:${id}`,
    accountId,
    requestId,
  });
  await queueMail(client, { template: 'email_changed', to: before, details: { email } });
  return email;
}
