import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  chargeNanos,
  creditNanos,
  creditsForPaidMinor,
  formatAmount,
  InvalidAmount,
  multiply,
  nanos,
  paidMinorForCredits,
  parseAmount,
  parseDecimal,
} from './amount.js';

describe('amounts', () => {
  it('parses and prints every amount exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (value) => {
        expect(parseAmount(formatAmount(value))).toBe(value);
      }),
    );
  });

  it.each(['', '.', '1.', '.5', '1e3', 'NaN', '1.0000000001', '--1', ' 1', '1,5', '0x10'])(
    'refuses %p',
    (text) => {
      expect(() => parseAmount(text)).toThrow(InvalidAmount);
    },
  );

  it('refuses negative and non-decimal prices', () => {
    for (const text of ['-1', 'Infinity', '1e9', '']) expect(() => parseDecimal(text)).toThrow(InvalidAmount);
  });

  it('rounds charges up and credits down, by less than one nano', () => {
    const third = multiply(parseDecimal('0.0000000001'), parseDecimal('3'));
    expect(chargeNanos(third)).toBe(1n);
    expect(creditNanos(third)).toBe(0n);
    expect(chargeNanos(parseDecimal('0'))).toBe(0n);
    expect(chargeNanos(multiply(parseDecimal('0.05'), parseDecimal('5'), parseDecimal('1')))).toBe(
      250_000_000n,
    );
  });
});

describe('top-up conversion', () => {
  const rate = parseDecimal('1.3');

  it('sells one unit for 1.3', () => {
    expect(paidMinorForCredits(parseAmount('1'), rate, 100n)).toBe(130n);
    expect(creditsForPaidMinor(130n, rate, 100n)).toBe(parseAmount('1'));
  });

  it('never credits more than was paid for, and by less than one minor unit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), (paid) => {
        const credits = creditsForPaidMinor(paid, rate, 100n);
        const worthScaled = credits * 13n * 100n;
        const paidScaled = paid * 10n * 1_000_000_000n;
        expect(worthScaled <= paidScaled).toBe(true);
        expect(paidMinorForCredits(nanos(credits), rate, 100n)).toBe(paid);
      }),
    );
  });
});
