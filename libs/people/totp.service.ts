import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { countDaily } from '#identity/daily-limits.js';
import { type Enrolment, newEnrolment, renewRecoveryCodes, stepOf } from '#identity/one-time-codes.js';
import type { Actor } from '#identity/role.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { placeOf } from '#platform/sealed-secret.js';
import { queueMail, type SecurityNotice } from '#mail/mail.outbox.js';
import { CodeCheck } from './code-check.js';
import { PasswordService } from './password.service.js';
import type { PeopleParts } from './people.parts.js';
import { lockById } from './person.store.js';

export interface TotpState {
  enabled: boolean;
  recoveryCodesLeft: number;
}

export interface TotpServiceParts extends PeopleParts {
  readonly passwords: PasswordService;
  readonly codes: CodeCheck;
}

/** One-time codes of a device, in addition to the password. */
export class TotpService {
  constructor(private readonly parts: TotpServiceParts) {}

  async state({ userId }: Actor): Promise<TotpState> {
    const { rows } = await this.parts.pool.query<TotpState>(
      `SELECT totp_confirmed_at IS NOT NULL AS enabled, (SELECT count(*)::integer FROM recovery_codes
         WHERE user_id = users.id AND used_at IS NULL) AS "recoveryCodesLeft" FROM users WHERE id = $1`,
      [userId],
    );
    return rows[0]!;
  }

  /** Starts an enrolment, replacing an unconfirmed one. @throws ApiError conflict if a device is enrolled */
  async enrol(actor: Actor, password: string): Promise<Enrolment> {
    const person = await this.parts.passwords.stepUp(actor, password, 'password');
    const enrolment = newEnrolment(person.email);
    const { rowCount } = await this.parts.pool.query(
      'UPDATE users SET totp_secret = $2 WHERE id = $1 AND totp_confirmed_at IS NULL',
      [person.id, this.parts.config.secrets.seal(enrolment.secret, placeOf.oneTimeCodes(person.id))],
    );
    if (!rowCount) throw new ApiError('conflict', 'A device is already enrolled. Remove it first.');
    return enrolment;
  }

  /**
   * Requires codes from now on. @returns the recovery codes, only this once. @throws ApiError invalid_value, conflict,
   * too_many_attempts
   */
  async confirm(actor: Actor, code: string, requestId: string): Promise<string[]> {
    await this.parts.codes.count(actor.userId, code);
    const codes = await inTransaction(this.parts.pool, async (client) => {
      const secret = await lockUnconfirmed(client, actor.userId);
      const plain = this.parts.config.secrets.open(secret, placeOf.oneTimeCodes(actor.userId));
      const step = stepOf(plain, code, this.parts.clock.nowMs());
      if (step === null) throw invalidField('code', 'it is wrong or too old.');
      await client.query('UPDATE users SET totp_confirmed_at = now(), totp_last_step = $2 WHERE id = $1', [
        actor.userId,
        step,
      ]);
      await this.parts.sessions.forgetOtherProofs(client, actor.userId, actor.sessionId);
      await this.parts.sessions.confirm(actor.sessionId, client);
      await note(client, actor, { action: 'totp.enabled', requestId });
      return renewRecoveryCodes(client, actor.userId);
    });
    this.parts.mail.wake();
    return codes;
  }

  /** Replaces all recovery codes. @throws ApiError forbidden, conflict without a device */
  async renewCodes(actor: Actor, password: string, requestId: string): Promise<string[]> {
    await this.parts.passwords.stepUp(actor, password, 'password');
    const codes = await inTransaction(this.parts.pool, async (client) => {
      // Without the lock, two concurrent renewals would both leave codes, and one after a removal codes without a device.
      const person = await lockById(client, actor.userId);
      if (person?.totpSecret == null) throw new ApiError('conflict', 'No device is enrolled.');
      await note(client, actor, { action: 'totp.codes_renewed', requestId });
      return renewRecoveryCodes(client, actor.userId);
    });
    this.parts.mail.wake();
    return codes;
  }

  /** Stops requiring codes. A repeat changes nothing. @throws ApiError forbidden */
  async disable(actor: Actor, password: string, requestId: string): Promise<void> {
    await this.parts.passwords.stepUp(actor, password, 'password');
    await inTransaction(this.parts.pool, async (client) => {
      if (await removeDevice(client, actor.userId))
        await note(client, actor, { action: 'totp.disabled', requestId });
    });
    this.parts.mail.wake();
  }
}

/** The secret of an enrolment that is not confirmed yet. @throws ApiError conflict */
async function lockUnconfirmed(client: pg.ClientBase, userId: string): Promise<string> {
  const { rows } = await client.query<{ secret: string | null; isConfirmed: boolean }>(
    `SELECT totp_secret AS secret, totp_confirmed_at IS NOT NULL AS "isConfirmed"
     FROM users WHERE id = $1 FOR UPDATE`,
    [userId],
  );
  const { secret, isConfirmed } = rows[0]!;
  if (secret === null || isConfirmed) throw new ApiError('conflict', 'There is no enrolment to confirm.');
  return secret;
}

/** @returns whether codes were required before */
export async function removeDevice(client: pg.ClientBase, userId: string): Promise<boolean> {
  const { rows } = await client.query<{ wasEnabled: boolean }>(
    `UPDATE users u SET totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL
     FROM (SELECT id, totp_confirmed_at IS NOT NULL AS was_enabled FROM users WHERE id = $1 FOR UPDATE) before
     WHERE u.id = before.id RETURNING before.was_enabled AS "wasEnabled"`,
    [userId],
  );
  await client.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId]);
  return rows[0]?.wasEnabled ?? false;
}

async function note(
  client: pg.ClientBase,
  { userId, accountId, email }: Actor,
  { action, requestId }: { action: Exclude<SecurityNotice, 'password.changed'>; requestId: string },
): Promise<void> {
  await countDaily(client, accountId, 'changes of password and second factor');
  await audit(client, { actor: `user:${userId}`, action, subject: `user:${userId}`, accountId, requestId });
  await queueMail(client, { template: 'security_notice', to: email, details: { notice: action } });
}
