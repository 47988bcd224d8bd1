import { encodeTime, monotonicFactory } from 'ulid';
import { hash, randomBytes, randomFillSync } from 'node:crypto';

/** Random numbers are fetched a page at a time: an id takes sixteen, and a call for each costs more than the rest of it. */
const randomPage = new Uint32Array(1024);
let nextRandom = randomPage.length;

function randomFraction(): number {
  if (nextRandom === randomPage.length) {
    randomFillSync(randomPage);
    nextRandom = 0;
  }
  return (randomPage[nextRandom++] as number) / 2 ** 32;
}

const monotonicUlid = monotonicFactory(randomFraction);

/**
 * A new time-ordered id in `[0-9a-z]{26}`: lower case and without `_` or `-`, since the Google client cuts file
 * names at anything else.
 */
export function newId(): string {
  return monotonicUlid().toLowerCase();
}

const TIME_CHARS = 10;
const RANDOM_CHARS = 16;

/** The smallest id of a time, milliseconds since 1970: ids that were made before it sort before. */
export function firstIdAt(ms: number): string {
  return encodeTime(Math.max(0, Math.floor(ms)), TIME_CHARS).toLowerCase() + '0'.repeat(RANDOM_CHARS);
}

const API_KEY_PREFIX = 'sk-tg-';

/** A new API key of 256 random bits. It is shown once; only its hash is stored. */
export function newApiKey(): string {
  return API_KEY_PREFIX + randomBytes(32).toString('base64url');
}

/** SHA-256 of an API key: enough for a secret of 256 random bits, and an index can find it. */
export function hashApiKey(apiKey: string): Buffer {
  return hash('sha256', apiKey, 'buffer');
}
