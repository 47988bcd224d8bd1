import { expect, it } from 'vitest';
import { formatAmount, parseAmount } from '#money/amount.js';
import { convert, isResellerVolume, orderFault, priceCredits } from './conversion.js';

it('sells a credit for 1.3, to a reseller for 1.2', () => {
  expect(priceCredits(parseAmount('1'), '1.3').paidMinor).toBe(130n);
  expect(priceCredits(parseAmount('1'), '1.2').paidMinor).toBe(120n);
});

it('rounds payments up and credits down', () => {
  expect(priceCredits(parseAmount('0.01'), '1.3').paidMinor).toBe(2n);
  expect(formatAmount(convert({ payMinor: 100n }, '1.3').credits)).toBe('0.769230769');
});

it('grants the reseller rate from two billion tokens', () => {
  expect(isResellerVolume(1_999_999_999n, 2_000_000_000n)).toBe(false);
  expect(isResellerVolume(2_000_000_000n, 2_000_000_000n)).toBe(true);
});

it('accepts orders from one credit', () => {
  expect(orderFault(priceCredits(parseAmount('1'), '1.3'))).toBeNull();
  expect(orderFault(priceCredits(parseAmount('0.999999999'), '1.3'))).toMatch('at least 1 ');
  expect(orderFault(convert({ payMinor: 129n }, '1.3'))).toMatch('at least 1 ');
  expect(orderFault(convert({ payMinor: 100_000_000n }, '1.3'))).toMatch('at most');
});
