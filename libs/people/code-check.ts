import type { Attempt } from '#identity/attempts.store.js';
import type { PeopleParts } from './people.parts.js';

/**
 * Counts the codes that are tried for a person, wherever they are asked for: before each is looked at, so that nobody
 * guesses six digits, however many ask at once. Recovery codes are too long to be guessed and have a count of their own:
 * who used up the tries of the device still gets in by one.
 */
export class CodeCheck {
  constructor(private readonly parts: PeopleParts) {}

  /** Checks a code that was counted before. A correct one no longer counts. @throws ApiError too_many_attempts */
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
