import { describe, expect, it } from 'vitest';
import type { Change } from '../catalog.js';
import { exampleOf } from './example.js';

const price = (value: Extract<Change, { kind: 'price' }>['price']): Change => ({
  kind: 'price',
  model: 'a-model',
  price: value,
});

describe('the cost of an ordinary request', () => {
  it('is the price of a call, of eight seconds, or of a thousand tokens of each kind', () => {
    expect(exampleOf(price({ unitPrice: '0.0500' }), { unit: 'call' })).toBe('0.05');
    expect(exampleOf(price({ unitPrice: '0.05' }), { unit: 'second' })).toBe('0.4');
    const tokens = price({ input: '1.25', cachedInput: '0.1', output: '10' });
    expect(exampleOf(tokens, { unit: 'token' })).toBe('0.01125');
  });

  it('rounds each line up to the smallest unit', () => {
    const tokens = price({ input: '0.0000001', cachedInput: '0', output: '0.0000001' });
    expect(exampleOf(tokens, { unit: 'token' })).toBe('0.000000002');
  });

  it('does not exist without a price', () => {
    expect(exampleOf(null, { unit: 'call' })).toBeNull();
    expect(exampleOf(price(null), { unit: 'call' })).toBeNull();
    expect(exampleOf({ kind: 'multiplier', group: 'g', multiplier: '2' }, { unit: 'call' })).toBeNull();
  });
});
