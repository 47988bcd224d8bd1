import type { Attempt } from '#identity/attempts.store.js';
import type { PeopleParts } from './people.parts.js';

/**
 * Counts a person's codes wherever they are requested, before each one is checked. So nobody can guess six digits,
 * however many requests run at once. Recovery codes are too long to guess and are counted separately: someone who used
 * up the attempts of the device can still sign in with one.
 */
export class CodeCheck {
  constructor(private readonly parts: PeopleParts) {}

  /** Counts a code, then checks it. A correct one no longer counts. @throws ApiError too_many_attempts */
  async tried<T>(userId: string, code: string, look: () => Promise<T>): Promise<T> {
    await this.count(userId, code);
    const found = await look();
    if (found) await this.parts.attempts.takeBack(this.attemptOf(userId, code).subject);
    return found;
  }

  /** @throws ApiError too_many_attempts */
  async count(userId: string, code: string): Promise<void> {
    await this.parts.attempts.count(this.attemptOf(userId, code));
  }

  private attemptOf(userId: string, code: string): Attempt {
    const { limits } = this.parts.config.people;
    if (/^\d{6}$/.test(code)) return { subject: `code ${userId}`, limit: limits.codesPerPerson };
    return { subject: `recovery ${userId}`, limit: limits.signInsPerEmail };
  }
}
