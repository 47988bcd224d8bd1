import { describe, expect, it } from 'vitest';
import { InvalidAmount } from './amount.js';
import { formatMinor, minorDigits, parseMinor } from './currency.js';

describe('amounts in a currency', () => {
  it('have the currency’s decimals', () => {
    expect(['USD', 'EUR', 'JPY', 'KWD'].map(minorDigits)).toEqual([2, 2, 0, 3]);
  });

  it('have the decimals of what providers count, not of what is paid in cash', () => {
    expect(['HUF', 'IDR', 'COP', 'PKR'].map(minorDigits)).toEqual([2, 2, 2, 2]);
    expect(formatMinor(13_000n, 'HUF')).toBe('130.00');
  });

  it('are read exactly', () => {
    expect(parseMinor('6.5', 'USD')).toBe(650n);
    expect(parseMinor('-0.01', 'USD')).toBe(-1n);
    expect(parseMinor('+12', 'USD')).toBe(1200n);
    expect(parseMinor('90071992547.40', 'USD')).toBe(9007199254740n);
    expect(parseMinor('10.0000', 'USD')).toBe(1000n);
    expect(parseMinor('1200.00', 'JPY')).toBe(1200n);
  });

  it.each(['', '.', '1.005', '1e3', '1,000', ' 1', 'NaN', '--1', '1.-5'])('are not read from %j', (text) => {
    expect(() => parseMinor(text, 'USD')).toThrow(InvalidAmount);
  });

  it('are printed as they are read', () => {
    for (const [text, currency] of [
      ['6.50', 'USD'],
      ['-0.01', 'USD'],
      ['0.00', 'EUR'],
      ['-1200', 'JPY'],
      ['1.005', 'KWD'],
    ] as const)
      expect(formatMinor(parseMinor(text, currency), currency)).toBe(text);
  });
});
