import { describe, expect, it } from 'vitest';
import { priceArgument } from './prices.input.js';

const priceOf = (text: string) => priceArgument(text, []);

describe('a price on the command line', () => {
  it.each([
    ['m=0.035', { unitPrice: '0.035' }],
    ['m=1/0.5/2', { input: '1', cachedInput: '0.5', output: '2' }],
    [
      'm=1/0.5/2/1.25/2,imageInput=8,imageOutput=32',
      {
        input: '1',
        cachedInput: '0.5',
        output: '2',
        cacheWrite: '1.25',
        cacheWrite1h: '2',
        imageInput: '8',
        imageOutput: '32',
      },
    ],
    ['m=withdrawn', null],
  ])('is read from %s', (text, price) => {
    expect(priceOf(text)).toEqual([{ kind: 'price', model: 'm', price }]);
  });

  it.each([
    'm',
    'm=',
    '=1',
    'm=x',
    'm=1/2',
    'm=0.1,imageOutput=2',
    'm=1/2/3,pictures=1',
    'm=1/2/3,imageOutput',
    'm=1/2/3/4/5/6',
    'm=1/2/3,imageOutput=1,imageOutput=2',
  ])('is not %j', (text) => {
    expect(() => priceOf(text)).toThrow('Give a name and an exact decimal');
  });
});
