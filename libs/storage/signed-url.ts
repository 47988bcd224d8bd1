import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a signed address carries in its query. */
export interface Signature {
  /** Unix seconds. */
  exp?: string | undefined;
  sig?: string | undefined;
}

/** The query, question mark included, that opens `path` to anyone who has it until `expiresAtMs` (whole seconds). */
export function signPath(secret: string, path: string, expiresAtMs: number): string {
  const exp = String(Math.floor(expiresAtMs / 1000));
  return `?exp=${exp}&sig=${signatureOf(secret, path, exp).toString('base64url')}`;
}

/** True when the signature is ours, of this very path, and not over. */
export function verifySignature(
  secret: string,
  { path, exp, sig }: Signature & { path: string },
  nowMs: number,
): boolean {
  if (typeof exp !== 'string' || typeof sig !== 'string') return false;
  if (!/^\d{1,12}$/.test(exp) || !/^[\w-]{43}$/.test(sig)) return false;
  const genuine = timingSafeEqual(Buffer.from(sig, 'base64url'), signatureOf(secret, path, exp));
  return genuine && nowMs < Number(exp) * 1000;
}

function signatureOf(secret: string, path: string, exp: string): Buffer {
  return createHmac('sha256', secret).update(`${path}\n${exp}`).digest();
}
