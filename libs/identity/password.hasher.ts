import argon2 from 'argon2';
import { systemClock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { FairShare } from '#platform/fair-share.js';
import { networkOf } from './ip-list.js';

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Each takes a thread and its memory for about 50 ms. More would starve the rest of the process. */
const AT_ONCE = 2;
/** Of one caller: more would wait for longer than a few seconds. */
const MAX_WAITING = 64;
/** Then others have taken all turns for so long that the caller had better try again later. */
const WAIT_MS = 30_000;

/** Long enough to be worth hashing, short enough to hash. */
export const PASSWORD_CHARS = { min: 10, max: 200 } as const;

/** For whom a password is hashed: a person with a session, or a network. Each waits behind itself. */
export type HashingFor = { userId: string } | { ip: string };

/**
 * Compared if there is no account, so that an unknown email address takes as long as a known one. Made once, however
 * many hashers a process has.
 */
let nobody: Promise<string> | undefined;

/** Hashes passwords and compares them, a few at a time, in turn by whom it is for. */
export class PasswordHasher {
  private readonly places = new FairShare({
    clock: systemClock,
    capacity: AT_ONCE,
    maxWaiting: MAX_WAITING,
  });
  private readonly nobody = (nobody ??= argon2.hash('the password of nobody', PARAMETERS));

  /** @throws ApiError service_unavailable if too many are waiting */
  hash(password: string, caller: HashingFor): Promise<string> {
    return this.inTurn(caller, () => argon2.hash(normal(password), PARAMETERS));
  }

  /** Whether the password matches the hash. Null never matches, and takes as long. @throws like hash */
  async verify(hash: string | null, password: string, caller: HashingFor): Promise<boolean> {
    const stored = hash?.startsWith('$argon2id$') ? hash : null;
    const against = stored ?? (await this.nobody);
    const matches = await this.inTurn(caller, () => argon2.verify(against, normal(password)));
    return stored !== null && matches;
  }

  isOutdated(hash: string): boolean {
    return argon2.needsRehash(hash, PARAMETERS);
  }

  private async inTurn<T>(caller: HashingFor, work: () => Promise<T>): Promise<T> {
    const member = 'ip' in caller ? `network ${networkOf(caller.ip)}` : `person ${caller.userId}`;
    const place = await this.places.take(member, 1, { waitMs: WAIT_MS });
    if (!place.granted) {
      const message = 'Too many passwords are being checked. Try again in a moment.';
      throw new ApiError('service_unavailable', message, { retryAfterSeconds: place.retryAfterSeconds });
    }
    try {
      return await work();
    } finally {
      place.release();
    }
  }
}

/** Keyboards encode the same letters in different ways. */
function normal(password: string): string {
  return password.normalize('NFKC');
}
