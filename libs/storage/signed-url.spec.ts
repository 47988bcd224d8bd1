import { describe, expect, it } from 'vitest';
import { signPath, verifySignature } from './signed-url.js';

const secret = 's'.repeat(32);
const path = '/v1/videos/abc/content';
const nowMs = 1_767_225_600_000;

function signatureOf(query: string): { exp?: string; sig?: string } {
  return Object.fromEntries(new URLSearchParams(query));
}

describe('signed URLs', () => {
  const query = signPath(secret, path, nowMs + 60_500);
  const given = signatureOf(query);

  it('open their path until they expire', () => {
    expect(query).toMatch(/^\?exp=1767225660&sig=[\w-]{43}$/);
    expect(verifySignature(secret, { ...given, path }, nowMs)).toBe(true);
    expect(verifySignature(secret, { ...given, path }, nowMs + 59_999)).toBe(true);
    expect(verifySignature(secret, { ...given, path }, nowMs + 60_000)).toBe(false);
  });

  it('open nothing else', () => {
    expect(verifySignature('other', { ...given, path }, nowMs)).toBe(false);
    expect(verifySignature(secret, { ...given, path: '/v1/videos/abd/content' }, nowMs)).toBe(false);
    expect(verifySignature(secret, { ...given, exp: '1767225661', path }, nowMs)).toBe(false);
    expect(verifySignature(secret, { ...given, sig: 'A'.repeat(43), path }, nowMs)).toBe(false);
  });

  it.each([
    {},
    { exp: '1767225660' },
    { sig: given.sig },
    { ...given, exp: '1e99' },
    { ...given, exp: '-1' },
    { ...given, exp: '' },
    { ...given, sig: '' },
    { ...given, sig: `${given.sig}A` },
    { exp: ['1767225660'] as unknown as string, sig: given.sig },
  ])('refuse %j', (bad) => {
    expect(verifySignature(secret, { ...bad, path }, nowMs)).toBe(false);
  });
});
