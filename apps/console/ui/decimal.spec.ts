import { describe, expect, it } from '@jest/globals';
import {
  addDecimals,
  compareDecimals,
  decimalsOf,
  exactDecimal,
  exactMoney,
  multiplyDecimal,
  shortMoney,
  signOf,
} from './decimal.js';

const style = { currency: 'USD', locale: 'en' };

/** Intl puts a space that does not break between code and number. */
const plain = (text: string) => text.replace(/\u00a0/g, ' ');

describe('exactMoney', () => {
  it.each([
    ['0.02', 'USD 0.02'],
    ['5', 'USD 5.00'],
    ['0.000000001', 'USD 0.000000001'],
    ['123456789012345678.123456789', 'USD 123,456,789,012,345,678.123456789'],
    ['-1.5', '-USD 1.50'],
    ['0.0000000000000000002', 'USD 0.0000000000000000002'],
  ])('shows all of %s', (value, text) => {
    expect(plain(exactMoney(value, style))).toBe(text);
  });

  it('follows the language', () => {
    expect(plain(exactMoney('1234.5', { currency: 'USD', locale: 'zh-Hans' }))).toBe('USD 1,234.50');
  });
});

describe('shortMoney', () => {
  it('says where it is not all', () => {
    expect(plain(shortMoney('12.345', style))).toBe('≈ USD 12.35');
    expect(plain(shortMoney('12.3400', style))).toBe('USD 12.34');
    expect(plain(shortMoney('9007199254740993.005', style))).toBe('≈ USD 9,007,199,254,740,993.01');
  });
});

describe('arithmetic on decimal strings', () => {
  it('is exact beyond what numbers hold', () => {
    expect(addDecimals('0.1', '0.2')).toBe('0.3');
    expect(addDecimals('9007199254740993', '0.000000001')).toBe('9007199254740993.000000001');
    expect(addDecimals('1.5', '-2')).toBe('-0.5');
    expect(addDecimals()).toBe('0');
    expect(multiplyDecimal('0.000123', 7)).toBe('0.000861');
    expect(multiplyDecimal('-0.5', 3n)).toBe('-1.5');
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
