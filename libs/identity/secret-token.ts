import { createHash, randomBytes } from 'node:crypto';

const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** A token of 256 random bits, for cookies and links. Only its hash is stored. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of a token: enough for this many random bits, and an index can find it. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export function isToken(text: string): boolean {
  return TOKEN_SHAPE.test(text);
}
