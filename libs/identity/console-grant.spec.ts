import { describe, expect, it } from 'vitest';
import { type ConsoleGrant, GRANT_LIFE_MS, isGrant, readGrant, signGrant } from './console-grant.js';

const SECRET = 'a secret of the tests, long enough to sign';
const GRANT: ConsoleGrant = { audience: 'call', accountId: 'account', keyId: 'key', ip: '2001:db8::1' };
const NOW = Date.UTC(2026, 0, 1);

describe('a grant of the console', () => {
  const token = signGrant(SECRET, GRANT, NOW);

  it('says what was granted, for a minute', () => {
    expect(isGrant(token)).toBe(true);
    expect(readGrant(SECRET, token, NOW)).toEqual(GRANT);
    expect(readGrant(SECRET, token, NOW + GRANT_LIFE_MS - 1)).toEqual(GRANT);
    expect(readGrant(SECRET, token, NOW + GRANT_LIFE_MS)).toBeNull();
  });

  it('is refused if it ends later than ours ever do', () => {
    expect(readGrant(SECRET, token, NOW - 2 * GRANT_LIFE_MS)).toBeNull();
  });

  it('is refused if any part of it was changed, or another secret signed it', () => {
    const [head, payload = '', mac = ''] = token.split('.');
    const other = signGrant(SECRET, { ...GRANT, accountId: 'another' }, NOW).split('.')[1];
    const turned = (mac.startsWith('A') ? 'B' : 'A') + mac.slice(1);
    for (const forged of [
      `${head}.${other}.${mac}`,
      `${head}.${payload}.${turned}`,
      `${head}.${payload}.`,
      `${head}.${payload}.${mac.slice(1)}`,
      `${head}..${mac}`,
      `${head}.${payload}`,
      'tg-grant.',
      'sk-tg-key',
    ])
      expect(readGrant(SECRET, forged, NOW)).toBeNull();
    expect(readGrant(`${SECRET}!`, token, NOW)).toBeNull();
  });
});
