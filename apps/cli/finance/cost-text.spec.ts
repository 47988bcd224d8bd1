import { describe, expect, it } from 'vitest';
import { costOf, costText } from './cost-text.js';

describe('a cost on the command line', () => {
  it.each([
    ['0.018', { unitCost: '0.018' }],
    ['1.5/0.75/6', { input: '1.5', cachedInput: '0.75', output: '6' }],
    [
      '5/1.25/10,imageInput=8,imageOutput=32',
      { input: '5', cachedInput: '1.25', output: '10', imageInput: '8', imageOutput: '32' },
    ],
    ['withdrawn', null],
  ])('is read from %s, and written the same', (text, cost) => {
    expect(costOf(text)).toEqual(cost);
    expect(costText(cost)).toBe(text);
  });

  it.each([
    '',
    '1/2',
    '1/2/3/4',
    'x',
    '1/2/x',
    '-1',
    '0.018,imageOutput=32',
    '1/2/3,imageOutput',
    '1/2/3,imageOutput=',
    '1/2/3,imageOutput=1=2',
    '1/2/3,imageOutput=1,imageOutput=2',
    '1/2/3,pictures=1',
    '1/2/3,',
  ])('is not %j', (text) => {
    expect(() => costOf(text)).toThrow('is not a cost');
  });
});
