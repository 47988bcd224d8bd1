import { describe, expect, it } from 'vitest';
import { isInRanges, normalRange } from './ip-list.js';

describe('normalRange', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7/32'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.0.2.200/25', '192.0.2.128/25'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::1', '2001:db8::1/128'],
    ['2001:db8:ffff::/32', '2001:db8::/32'],
    ['::ffff:192.0.2.7', '192.0.2.7/32'],
    ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
  ])('stores %s as %s', (text, stored) => {
    expect(normalRange(text)).toBe(stored);
    expect(normalRange(stored)).toBe(stored);
  });

  it.each([
    '',
    'localhost',
    '10.1',
    '0x7f.1',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '2001:db8::/129',
    '10.0.0.0/',
    'a/b',
  ])('refuses %j', (text) => expect(normalRange(text)).toBeNull());
});

describe('isInRanges', () => {
  const ranges = ['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32'];

  it.each(['10.255.1.1', '192.0.2.7', '::ffff:10.0.0.1', '2001:db8:1::5'])('accepts %s', (ip) => {
    expect(isInRanges(ranges, ip)).toBe(true);
  });

  it.each(['11.0.0.1', '192.0.2.8', '::ffff:11.0.0.1', '2001:db9::1', 'nonsense', ''])('refuses %s', (ip) => {
    expect(isInRanges(ranges, ip)).toBe(false);
  });

  it('accepts nobody whose address is unknown', () => {
    expect(isInRanges(['0.0.0.0/0', '::/0'], null)).toBe(false);
  });
});
