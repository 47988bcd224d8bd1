import { describe, expect, it } from 'vitest';
import {
  addDecimals,
  compareDecimals,
  CREDIT_UNIT,
  decimalsOf,
  exactDecimal,
  amountText,
  multiplyDecimal,
  roundHalfUp,
  shortAmount,
  signOf,
} from './decimal.js';

const style = { currency: 'USD', locale: 'en' };

describe('amountText', () => {
  it.each([
    ['0.02', '$0.02'],
    ['5', '$5.00'],
    ['0.000000001', '$0.000000001'],
    ['123456789012345678.123456789', '$123,456,789,012,345,678.123456789'],
    ['-1.5', '-$1.50'],
    ['0.0000000000000000002', '$0.0000000000000000002'],
  ])('shows all of %s', (value, text) => {
    expect(amountText(value, style)).toBe(text);
  });

  it('writes credits as a number, since the texts have the unit', () => {
    expect(amountText('1234.5', { currency: CREDIT_UNIT, locale: 'en' })).toBe('1,234.50');
    expect(amountText('0.000000001', { currency: CREDIT_UNIT, locale: 'en' })).toBe('0.000000001');
  });

  it('follows the language', () => {
    expect(amountText('1234.5', { currency: 'USD', locale: 'zh-Hans' })).toBe('US$1,234.50');
  });
});

describe('shortAmount', () => {
  it('has two decimals, but never shows more than there is', () => {
    expect(shortAmount('12.349', style)).toBe('$12.34');
    expect(shortAmount('12.3', style)).toBe('$12.30');
    expect(shortAmount('9007199254740993.019', style)).toBe('$9,007,199,254,740,993.01');
  });
});

describe('arithmetic on decimal strings', () => {
  it('is exact beyond the range of numbers', () => {
    expect(addDecimals('0.1', '0.2')).toBe('0.3');
    expect(addDecimals('9007199254740993', '0.000000001')).toBe('9007199254740993.000000001');
    expect(addDecimals('1.5', '-2')).toBe('-0.5');
    expect(addDecimals()).toBe('0');
    expect(multiplyDecimal('0.000123', 7)).toBe('0.000861');
    expect(multiplyDecimal('-0.5', 3n)).toBe('-1.5');
  });

  it.each([
    ['0.005', '0.01'],
    ['0.00499999999999999999', '0'],
    ['-0.005', '-0.01'],
    ['-0.0049', '0'],
    ['9.995', '10'],
    ['9007199254740993.015', '9007199254740993.02'],
    ['7', '7'],
  ])('rounds %s to %s', (value, rounded) => {
    expect(roundHalfUp(value, 2)).toBe(rounded);
  });

  it('compares', () => {
    expect(compareDecimals('0.10', '0.1')).toBe(0);
    expect(compareDecimals('-1', '0.5')).toBe(-1);
    expect(compareDecimals('10', '9.999')).toBe(1);
    expect(['10', '9.5', '-1', '0.02'].sort(compareDecimals)).toEqual(['-1', '0.02', '9.5', '10']);
  });

  it('knows signs and decimals', () => {
    expect([signOf('-0.00'), signOf('0'), signOf('-0.01'), signOf('3')]).toEqual([0, 0, -1, 1]);
    expect([decimalsOf('1.2500'), decimalsOf('3')]).toEqual([2, 0]);
  });

  it('writes other decimals', () => {
    expect(exactDecimal('1.250', 'en')).toBe('1.25');
  });
});
