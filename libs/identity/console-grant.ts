import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * A grant of the console to a gateway: for a moment, a person who is signed in may call as a key of their account, or fetch
 * a file of it. It travels between the two programs alone, as a bearer token.
 */
export interface ConsoleGrant {
  /** `call`: as the key, with all that holds for it. `file`: to fetch a finished file of the account. */
  readonly audience: 'call' | 'file';
  readonly accountId: string;
  readonly keyId: string;
  /** Where the person is: key and hold are judged by it. */
  readonly ip: string;
}

/** No more than what two programs need to talk, with clocks a little apart. */
export const GRANT_LIFE_MS = 60_000;
const PREFIX = 'tg-grant.';
const SHAPE = /^tg-grant\.([A-Za-z0-9_-]{1,1000})\.([A-Za-z0-9_-]{43})$/;

export function isGrant(token: string): boolean {
  return token.startsWith(PREFIX);
}

/** Signs a grant that is good for `GRANT_LIFE_MS`. */
export function signGrant(secret: string, grant: ConsoleGrant, nowMs: number): string {
  const fields = [grant.audience, grant.accountId, grant.keyId, grant.ip, nowMs + GRANT_LIFE_MS];
  const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
  return `${PREFIX}${payload}.${macOf(secret, payload).toString('base64url')}`;
}

/** The grant of a token; null for one that is not ours, or is over, or claims to last longer than any of ours. */
export function readGrant(secret: string, token: string, nowMs: number): ConsoleGrant | null {
  const [, payload, mac] = SHAPE.exec(token) ?? [];
  if (payload === undefined || mac === undefined) return null;
  if (!timingSafeEqual(macOf(secret, payload), Buffer.from(mac, 'base64url'))) return null;
  // What we signed is what we wrote.
  const [audience, accountId, keyId, ip, endsAtMs] = JSON.parse(
    Buffer.from(payload, 'base64url').toString(),
  ) as [ConsoleGrant['audience'], string, string, string, number];
  const isNow = nowMs < endsAtMs && endsAtMs - nowMs <= 2 * GRANT_LIFE_MS;
  return isNow ? { audience, accountId, keyId, ip } : null;
}

/** The words before the payload keep the secret from signing anything else. */
function macOf(secret: string, payload: string): Buffer {
  return createHmac('sha256', secret).update(`tollgate console grant\n${payload}`).digest();
}
