import { describe, expect, it } from 'vitest';
import { changeInPercent } from './percent.js';

describe('a change in percent', () => {
  it.each([
    ['0.05', '0.06', '+20%'],
    ['0.04', '0.035', '−12.5%'],
    ['3', '4', '+33.3%'],
    ['3', '2', '−33.3%'],
    ['1', '1.0', '0%'],
    ['0.0002', '0.0004', '+100%'],
    ['1000000', '1000000.000000001', '±0%'],
    ['2', '0', '−100%'],
  ])('from %s to %s is %s', (before, after, text) => {
    expect(changeInPercent(before, after)).toBe(text);
  });
});
