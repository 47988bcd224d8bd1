import { createHmac, timingSafeEqual } from 'node:crypto';

/** The query of a signed address. */
export interface Signature {
  /** Unix seconds. */
  exp?: string | undefined;
  sig?: string | undefined;
}

/** The query, including the question mark, that opens `path` to anyone until `expiresAtMs` (whole seconds). */
export function signPath(secret: string, path: string, expiresAtMs: number): string {
  const exp = String(Math.floor(expiresAtMs / 1000));
  return `?exp=${exp}&sig=${signatureOf(secret, path, exp).toString('base64url')}`;
}

/** True if the signature is ours, for this path, and has not expired. */
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
