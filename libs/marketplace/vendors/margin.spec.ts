import { describe, expect, it } from 'vitest';
import { askedPrice } from './margin.js';

describe('the price to ask for a list price', () => {
  it.each([
    ['0.04', '25', '0.05'],
    ['0.04', '0', '0.04'],
    ['0.235', '20', '0.282'],
    ['0.0398', '12.5', '0.044775'],
    // 0.0000333333 would be rounded to 0.0000333, but no price is below its exact value.
    ['0.000033', '1', '0.000034'],
    ['0', '50', '0'],
    ['999999', '100', '1999998'],
  ])('%s with %s percent is %s', (unitPrice, margin, asked) => {
    expect(askedPrice({ unitPrice }, margin)).toEqual({ unitPrice: asked });
  });

  it('has every rate and every kind of token', () => {
    const rates = [{ when: { quality: 'low' }, unitPrice: '0.005' }];
    expect(askedPrice({ unitPrice: '0.05', rates }, '10')).toEqual({
      unitPrice: '0.055',
      rates: [{ when: { quality: 'low' }, unitPrice: '0.0055' }],
    });
    const tokens = { input: '5', cachedInput: '0.5', output: '25', cacheWrite: '6.25', cacheWrite1h: '10' };
    expect(askedPrice(tokens, '20')).toEqual({
      input: '6',
      cachedInput: '0.6',
      output: '30',
      cacheWrite: '7.5',
      cacheWrite1h: '12',
    });
    const media = { imageInput: '8', imageOutput: '32', audioOutput: '64' };
    expect(askedPrice({ ...tokens, ...media }, '50')).toMatchObject({
      imageInput: '12',
      imageOutput: '48',
      audioOutput: '96',
    });
    expect(askedPrice({ input: '1', cachedInput: '1', output: '1' }, '1')).toEqual({
      input: '1.01',
      cachedInput: '1.01',
      output: '1.01',
    });
  });

  it('is never below its exact value', () => {
    for (let step = 1n; step < 2_000n; step += 7n) {
      const unitPrice = `0.${step.toString().padStart(7, '0')}`;
      const asked = askedPrice({ unitPrice }, '33.3333') as { unitPrice: string };
      const nanos = (text: string) => BigInt(text.split('.')[1]?.padEnd(18, '0') ?? '0');
      expect(nanos(asked.unitPrice) * 1_000_000n).toBeGreaterThanOrEqual(nanos(unitPrice) * 1_333_333n);
    }
  });
});
