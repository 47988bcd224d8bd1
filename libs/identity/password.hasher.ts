import argon2 from 'argon2';
import pLimit from 'p-limit';
import { ApiError } from '#platform/errors.js';

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Each takes a thread and its memory for about 50 ms. More would starve the rest of the process. */
const AT_ONCE = 2;
/** A caller who would wait longer than a few seconds is asked to retry later. */
const MAX_WAITING = 64;

/** Long enough to be worth hashing, short enough to hash. */
export const PASSWORD_CHARS = { min: 10, max: 200 } as const;

/** Hashes passwords and compares them, a few at a time. */
export class PasswordHasher {
  private readonly limit = pLimit(AT_ONCE);
  /** Compared if there is no account, so that an unknown email address takes as long as a known one. */
  private readonly nobody: Promise<string> = argon2.hash('the password of nobody', PARAMETERS);

  /** @throws ApiError service_unavailable if too many are waiting */
  hash(password: string): Promise<string> {
    return this.inTurn(() => argon2.hash(normal(password), PARAMETERS));
  }

  /** Whether the password matches the hash. Null never matches, and takes as long. @throws like hash */
  async verify(hash: string | null, password: string): Promise<boolean> {
    const stored = hash?.startsWith('$argon2id$') ? hash : null;
    const against = stored ?? (await this.nobody);
    const matches = await this.inTurn(() => argon2.verify(against, normal(password)));
    return stored !== null && matches;
  }

  /** Whether a hash was made with outdated parameters. */
  isOutdated(hash: string): boolean {
    return argon2.needsRehash(hash, PARAMETERS);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.limit.pendingCount >= MAX_WAITING) {
      throw new ApiError('service_unavailable', 'Too many people are signing in. Try again in a moment.', {
        retryAfterSeconds: 2,
      });
    }
    return this.limit(work);
  }
}

/** Keyboards encode the same letters in different ways. */
function normal(password: string): string {
  return password.normalize('NFKC');
}
