import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { countDaily, forgetDaily } from '#identity/daily-limits.js';
import { spendCode } from '#identity/one-time-codes.js';
import type { Actor } from '#identity/role.js';
import { hashToken } from '#identity/secret-token.js';
import { type OpenedSession, revokeSessions } from '#identity/session.store.js';
import { ApiError } from '#platform/errors.js';
import { queueMail } from '#mail/mail.outbox.js';
import { CodeCheck } from './code-check.js';
import { findById, lockById, type SigningPerson } from './person.store.js';
import { signInSubject, wrongCode } from './sign-in.service.js';
import type { Origin } from './origin.js';
import { deadLink } from './sign-up.service.js';
import { countMail, type PeopleParts, refuseWeak } from './people.parts.js';

export interface PasswordReset {
  token: string;
  password: string;
  /** Required if a device is enrolled: access to the mailbox must not be enough. */
  code?: string | undefined;
}

export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
}

export interface PasswordServiceParts extends PeopleParts {
  readonly codes: CodeCheck;
}

/** Changes passwords, with a mailed link or the old password. Both end the other sessions and notify the owner by mail. */
export class PasswordService {
  constructor(private readonly parts: PasswordServiceParts) {}

  /** Queues a mail. Whether the address has an account shows only there. @throws ApiError too_many_attempts */
  async requestReset(email: string, { ip }: Origin): Promise<void> {
    await countMail(this.parts, 'password_reset', { email, ip });
    await queueMail(this.parts.pool, { template: 'password_reset', to: email, details: {} });
    this.parts.mail.wake();
  }

  /**
   * Sets a password with a link, ends every session and opens a new one. This lets in a person who was locked out by
   * someone else's attempts.
   * @throws ApiError invalid_value for an invalid link, totp_required, sign_in_failed for a wrong code,
   * too_many_attempts
   */
  async reset(reset: PasswordReset, origin: Origin, requestId: string): Promise<OpenedSession> {
    const tokenHash = hashToken(reset.token);
    const person = await this.personOf(tokenHash);
    refuseWeak(this.parts.config, reset.password, { email: person.email, param: 'password' });
    if (person.totpSecret !== null) await this.checkReset(person, reset.code);
    const passwordHash = await this.parts.hasher.hash(reset.password, origin);
    const session = await inTransaction(this.parts.pool, async (client) => {
      const { rowCount } = await client.query(
        'DELETE FROM password_resets WHERE token_hash = $1 AND expires_at > now()',
        [tokenHash],
      );
      if (!rowCount) throw deadLink();
      await this.spend(client, person, reset.code);
      // The person first, as a sign-in locks them.
      await this.replace(client, person, { passwordHash, action: 'password.reset', except: null, requestId });
      await forgetDaily(client, person.accountId, 'sign-ins');
      return this.parts.sessions.open({ userId: person.id, ...origin }, client);
    });
    await this.parts.attempts.forget(signInSubject(person.email), stepUpSubject(person.id));
    this.parts.mail.wake();
    return session;
  }

  /** Ends all sessions but this one. @throws ApiError forbidden for a wrong password, too_many_attempts */
  async change(actor: Actor, change: PasswordChange, requestId: string): Promise<void> {
    const person = await this.stepUp(actor, change.currentPassword, 'currentPassword');
    refuseWeak(this.parts.config, change.newPassword, { email: person.email, param: 'newPassword' });
    const passwordHash = await this.parts.hasher.hash(change.newPassword, actor);
    await inTransaction(this.parts.pool, async (client) => {
      const now = await lockById(client, person.id);
      if (now?.passwordHash !== person.passwordHash)
        throw new ApiError('conflict', 'The password has been changed in the meantime.');
      await countDaily(client, person.accountId, 'changes of password and second factor');
      const except = actor.sessionId;
      await this.replace(client, person, { passwordHash, action: 'password.changed', except, requestId });
    });
    this.parts.mail.wake();
  }

  /**
   * Asks a signed-in person for their password before an action that a stolen session must not take.
   * @throws ApiError forbidden, too_many_attempts
   */
  async stepUp({ userId }: Actor, password: string, param: string): Promise<SigningPerson> {
    const subject = stepUpSubject(userId);
    await this.parts.attempts.count({
      subject,
      limit: this.parts.config.people.limits.signInsPerEmail,
    });
    const person = await findById(this.parts.pool, userId);
    // Not 401, which clients would read as the end of the session.
    if (!person || !(await this.parts.hasher.verify(person.passwordHash, password, { userId })))
      throw new ApiError('forbidden', 'The password is wrong.', { param });
    await this.parts.attempts.forget(subject);
    return person;
  }

  private async personOf(tokenHash: Buffer): Promise<SigningPerson> {
    const { rows } = await this.parts.pool.query<{ userId: string }>(
      'SELECT user_id AS "userId" FROM password_resets WHERE token_hash = $1 AND expires_at > now()',
      [tokenHash],
    );
    const person = rows[0] ? await findById(this.parts.pool, rows[0].userId) : null;
    if (!person || person.disabled) throw deadLink();
    return person;
  }

  private async checkReset({ id }: SigningPerson, code: string | undefined): Promise<void> {
    if (code === undefined) throw new ApiError('totp_required', 'Send the code from your device as well.');
    const limit = this.parts.config.people.limits.signInsPerEmail;
    await this.parts.attempts.count({ subject: stepUpSubject(id), limit });
    await this.parts.codes.count(id, code);
  }

  private async spend(client: pg.ClientBase, person: SigningPerson, code = ''): Promise<void> {
    const { id, totpSecret } = person;
    if (totpSecret === null) return;
    if (
      !(await spendCode(
        client,
        { id, totpSecret },
        { code, nowMs: this.parts.clock.nowMs(), secrets: this.parts.config.secrets },
      ))
    )
      throw wrongCode();
  }

  private async replace(
    client: pg.ClientBase,
    { id, accountId, email }: SigningPerson,
    change: {
      passwordHash: string;
      action: 'password.reset' | 'password.changed';
      except: string | null;
      requestId: string;
    },
  ): Promise<void> {
    const { passwordHash, action, except, requestId } = change;
    await client.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, passwordHash]);
    await client.query('DELETE FROM password_resets WHERE user_id = $1', [id]);
    await revokeSessions(client, id, except);
    await audit(client, { actor: `user:${id}`, action, subject: `user:${id}`, accountId, requestId });
    await queueMail(client, {
      template: 'security_notice',
      to: email,
      details: { notice: 'password.changed' },
    });
  }
}

function stepUpSubject(userId: string): string {
  return `step-up ${userId}`;
}
