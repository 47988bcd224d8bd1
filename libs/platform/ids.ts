import { createHash, randomBytes } from 'node:crypto';
import { monotonicFactory } from 'ulid';

const monotonicUlid = monotonicFactory();

/**
 * A new time-ordered id in `[0-9a-z]{26}`: lower case and without `_` or `-`, since the Google client cuts file
 * names at anything else (wire.md D2).
 */
export function newId(): string {
  return monotonicUlid().toLowerCase();
}

const API_KEY_PREFIX = 'sk-tg-';

/** A new API key of 256 random bits. It is shown once; only its hash is stored. */
export function newApiKey(): string {
  return API_KEY_PREFIX + randomBytes(32).toString('base64url');
}

/** SHA-256 of an API key: enough for a secret of 256 random bits, and an index can find it. */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}
