import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { networkOf } from '#identity/ip-list.js';
import { AttemptsStore } from '#identity/attempts.store.js';
import { spendCode } from '#identity/one-time-codes.js';
import { PasswordHasher } from '#identity/password.hasher.js';
import { type OpenedSession, SessionStore } from '#identity/session.store.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type { BillingConfig } from '../billing.config.js';
import { CLOCK, CONFIG, POOL } from '../billing.tokens.js';
import { findByEmail, type SigningPerson } from './person.store.js';
import type { Origin } from './sign-up.desk.js';

export interface Credentials {
  /** Lower case. */
  email: string;
  password: string;
  /** A one-time code or a recovery code. */
  code?: string | undefined;
}

/**
 * Signing in. An unknown e-mail address and a wrong password answer the same after the same work. Tries are counted per
 * e-mail address and per network address, for all processes together; whoever is locked out can still reset the password.
 */
@Injectable()
export class SignInDesk {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: BillingConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(AttemptsStore) private readonly attempts: AttemptsStore,
    @Inject(PasswordHasher) private readonly hasher: PasswordHasher,
    @Inject(SessionStore) private readonly sessions: SessionStore,
  ) {}

  /** @throws ApiError sign_in_failed, totp_required, too_many_attempts. */
  async signIn(credentials: Credentials, origin: Origin): Promise<OpenedSession> {
    const { email, password, code } = credentials;
    const { limits } = this.config.people;
    const ofEmail = signInSubject(email);
    const ofAddress = `sign-in address ${networkOf(origin.ip)}`;
    await this.attempts.count(
      { subject: ofAddress, limit: limits.signInsPerAddress },
      { subject: ofEmail, limit: limits.signInsPerEmail },
    );
    const person = await findByEmail(this.pool, email);
    const matches = await this.hasher.verify(person?.passwordHash ?? null, password);
    if (!person || !matches || person.disabled) throw signInFailed();
    await this.checkCode(person, code);
    const newHash = this.hasher.isOutdated(person.passwordHash) ? await this.hasher.hash(password) : null;
    const session = await inTransaction(this.pool, async (client) => {
      if (newHash !== null) await replaceHash(client, person, newHash);
      return this.sessions.open({ userId: person.id, ...origin }, client);
    });
    await Promise.all([this.attempts.forget(ofEmail), this.attempts.takeBack(ofAddress)]);
    return session;
  }

  private async checkCode({ id, totpSecret }: SigningPerson, code: string | undefined): Promise<void> {
    if (totpSecret === null) return;
    if (code === undefined) throw new ApiError('totp_required', 'Send the code of your device as well.');
    if (!(await spendCode(this.pool, { id, totpSecret }, { code, nowMs: this.clock.nowMs() })))
      throw wrongCode();
  }
}

/** Unless the password was changed meanwhile. */
async function replaceHash(client: pg.ClientBase, person: SigningPerson, newHash: string): Promise<void> {
  await client.query('UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2', [
    person.id,
    person.passwordHash,
    newHash,
  ]);
}

export function signInSubject(email: string): string {
  return `sign-in email ${email}`;
}

function signInFailed(): ApiError {
  return new ApiError('sign_in_failed', 'The e-mail address or the password is wrong.');
}

export function wrongCode(): ApiError {
  return new ApiError('sign_in_failed', 'The code is wrong, too old, or was used before.', { param: 'code' });
}
