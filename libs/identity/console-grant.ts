import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * A short-lived grant by the console to a gateway: a signed-in person may call with a key of their account, or download
 * one of its files. It is a bearer token that only travels between the two programs.
 */
export interface ConsoleGrant {
  /** `call`: with the key and all its limits. `file`: to download a finished file of the account. */
  readonly audience: 'call' | 'file';
  readonly accountId: string;
  readonly keyId: string;
  /** The person's network address, which key and hold are checked against. */
  readonly ip: string;
}

/** No longer than two programs need, with slightly different clocks. */
export const GRANT_LIFE_MS = 60_000;
const PREFIX = 'tg-grant.';
const SHAPE = /^tg-grant\.([A-Za-z0-9_-]{1,1000})\.([A-Za-z0-9_-]{43})$/;

export function isGrant(token: string): boolean {
  return token.startsWith(PREFIX);
}

/** Signs a grant that is valid for `GRANT_LIFE_MS`. */
export function signGrant(secret: string, grant: ConsoleGrant, nowMs: number): string {
  const fields = [grant.audience, grant.accountId, grant.keyId, grant.ip, nowMs + GRANT_LIFE_MS];
  const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
  return `${PREFIX}${payload}.${macOf(secret, payload).toString('base64url')}`;
}

/** The grant in a token; null if it is not ours, has expired, or claims a longer life than ours. */
export function readGrant(secret: string, token: string, nowMs: number): ConsoleGrant | null {
  const [, payload, mac] = SHAPE.exec(token) ?? [];
  if (payload === undefined || mac === undefined) return null;
  if (!timingSafeEqual(macOf(secret, payload), Buffer.from(mac, 'base64url'))) return null;
  // What we signed has the right shape.
  const [audience, accountId, keyId, ip, endsAtMs] = JSON.parse(
    Buffer.from(payload, 'base64url').toString(),
  ) as [ConsoleGrant['audience'], string, string, string, number];
  const isNow = nowMs < endsAtMs && endsAtMs - nowMs <= 2 * GRANT_LIFE_MS;
  return isNow ? { audience, accountId, keyId, ip } : null;
}

/** The prefix keeps the secret from signing anything else. */
function macOf(secret: string, payload: string): Buffer {
  return createHmac('sha256', secret).update(`tollgate console grant\n${payload}`).digest();
}
