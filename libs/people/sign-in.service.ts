import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { countDaily } from '#identity/daily-limits.js';
import { networkOf } from '#identity/ip-list.js';
import { spendCode } from '#identity/one-time-codes.js';
import type { OpenedSession } from '#identity/session.store.js';
import { isClosing } from '#identity/account.store.js';
import { ApiError } from '#platform/errors.js';
import { cancelDeletion } from '#privacy/deletion-request.js';
import { CodeCheck } from './code-check.js';
import { findByEmail, type SigningPerson } from './person.store.js';
import type { Origin } from './origin.js';
import type { PeopleParts } from './people.parts.js';

export interface Credentials {
  /** Lower case. */
  email: string;
  password: string;
  /** A one-time code or a recovery code. */
  code?: string | undefined;
  /** Keeps an account whose deletion was requested. */
  cancelDeletion?: boolean | undefined;
}

export interface SignInServiceParts extends PeopleParts {
  readonly codes: CodeCheck;
}

/**
 * Signs people in. An unknown email address and a wrong password give the same answer after the same work. Attempts are
 * counted per email address and per network address, across all processes. A person who is locked out can still reset
 * the password.
 */
export class SignInService {
  constructor(private readonly parts: SignInServiceParts) {}

  /** @throws ApiError sign_in_failed, totp_required, account_closing, too_many_attempts. */
  async signIn(credentials: Credentials, origin: Origin): Promise<OpenedSession> {
    const { email, password, code, cancelDeletion: isKept = false } = credentials;
    const { limits } = this.parts.config.people;
    const ofEmail = signInSubject(email);
    const ofAddress = `sign-in address ${networkOf(origin.ip)}`;
    await this.parts.attempts.count(
      { subject: ofAddress, limit: limits.signInsPerAddress },
      { subject: ofEmail, limit: limits.signInsPerEmail },
    );
    const person = await findByEmail(this.parts.pool, email);
    const matches = await this.parts.hasher.verify(person?.passwordHash ?? null, password, origin);
    if (!person || !matches || person.disabled) throw signInFailed();
    // Before the code, which works once: a person who keeps the account sends it again.
    if (!isKept && (await isClosing(this.parts.pool, person.accountId))) throw accountClosing();
    await this.checkCode(person, code);
    const newHash = await this.renewedHash(person, password, origin);
    const session = await inTransaction(this.parts.pool, async (client) => {
      if (isKept) await keepAccount(client, person);
      await confirmUnchanged(client, person, newHash);
      await countDaily(client, person.accountId, 'sign-ins');
      return this.parts.sessions.open({ userId: person.id, ...origin }, client);
    });
    await Promise.all([this.parts.attempts.forget(ofEmail), this.parts.attempts.takeBack(ofAddress)]);
    return session;
  }

  private async renewedHash(
    { passwordHash }: SigningPerson,
    password: string,
    origin: Origin,
  ): Promise<string | null> {
    const { hasher } = this.parts;
    return hasher.isOutdated(passwordHash) ? hasher.hash(password, origin) : null;
  }

  /** Requires a code if a device is enrolled. @throws ApiError totp_required, sign_in_failed, too_many_attempts */
  async checkCode({ id, totpSecret }: SigningPerson, code: string | undefined): Promise<void> {
    if (totpSecret === null) return;
    if (code === undefined) throw new ApiError('totp_required', 'Send the code from your device as well.');
    const { pool, clock, config } = this.parts;
    const entered = { code, nowMs: clock.nowMs(), secrets: config.secrets };
    const spend = () => spendCode(pool, { id, totpSecret }, entered);
    if (!(await this.parts.codes.tried(id, code, spend))) throw wrongCode();
  }
}

/**
 * A reset or a ban that commits during the comparison of a password ends all existing sessions. This one must not
 * follow it, so the lock makes each wait for the other.
 */
async function confirmUnchanged(
  client: pg.ClientBase,
  { id, passwordHash }: SigningPerson,
  newHash: string | null,
): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM users WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL FOR UPDATE`,
    [id, passwordHash],
  );
  if (!rowCount) throw signInFailed();
  if (newHash !== null)
    await client.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, newHash]);
}

/** If it is too late, no session opens. */
async function keepAccount(client: pg.ClientBase, { id, accountId }: SigningPerson): Promise<void> {
  await cancelDeletion(client, { accountId, by: `user:${id}`, requestId: null });
}

function accountClosing(): ApiError {
  return new ApiError(
    'account_closing',
    'This account is scheduled for deletion. Send cancelDeletion: true to keep it.',
    { param: 'cancelDeletion' },
  );
}

export function signInSubject(email: string): string {
  return `sign-in email ${email}`;
}

function signInFailed(): ApiError {
  return new ApiError('sign_in_failed', 'The email address or password is wrong.');
}

export function wrongCode(): ApiError {
  return new ApiError('sign_in_failed', 'The code is wrong, too old, or was used before.', { param: 'code' });
}
