import { describe, expect, it } from '@jest/globals';
import { signPath, verifySignature } from './signed-url.js';

const secret = 's'.repeat(32);
const path = '/v1/videos/abc/content';
const nowMs = 1_767_225_600_000;

function signatureOf(query: string): { exp?: string; sig?: string } {
  return Object.fromEntries(new URLSearchParams(query));
}

describe('signed addresses', () => {
  const query = signPath(secret, path, nowMs + 60_500);
  const given = signatureOf(query);

  it('open their path until they expire', () => {
    expect(query).toMatch(/^\?exp=1767225660&sig=[\w-]{43}$/);
    expect(verifySignature(secret, path, given, nowMs)).toBe(true);
    expect(verifySignature(secret, path, given, nowMs + 59_999)).toBe(true);
    expect(verifySignature(secret, path, given, nowMs + 60_000)).toBe(false);
  });

  it('open nothing else', () => {
    expect(verifySignature('other', path, given, nowMs)).toBe(false);
    expect(verifySignature(secret, '/v1/videos/abd/content', given, nowMs)).toBe(false);
    expect(verifySignature(secret, path, { ...given, exp: '1767225661' }, nowMs)).toBe(false);
    expect(verifySignature(secret, path, { ...given, sig: 'A'.repeat(43) }, nowMs)).toBe(false);
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
    expect(verifySignature(secret, path, bad, nowMs)).toBe(false);
  });
});
