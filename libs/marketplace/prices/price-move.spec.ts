import { describe, expect, it } from 'vitest';
import type { PriceChange } from './price-change.js';
import { largeMove, type PriceMove } from './price-move.js';

const price = (unitPrice: string | null, model = 'm'): PriceChange => ({
  kind: 'price',
  model,
  price: unitPrice === null ? null : { unitPrice },
});
/** A unit price of 1 with a rate for one quality. */
const rated = (unitPrice: string, quality = 'low'): PriceChange => ({
  kind: 'price',
  model: 'm',
  price: { unitPrice: '1', rates: [{ when: { quality }, unitPrice }] },
});
const tokens = (output: string): PriceChange => ({
  kind: 'price',
  model: 't',
  price: { input: '1', cachedInput: '0.5', output },
});
const multiplier = (value: string | null): PriceChange => ({
  kind: 'multiplier',
  group: 'g',
  multiplier: value,
});
const rule = (unitPrice: string | null): PriceChange =>
  unitPrice === null
    ? { kind: 'rule', group: 'g', rule: 'none' }
    : { kind: 'rule', group: 'g', rule: 'fixed_per_call', unitPrice };
const move = (before: PriceChange | null, after: PriceChange): PriceMove => ({ before, after });
const ofOne = (one: PriceMove, earlier: PriceMove[] = []) => largeMove([one], earlier, 20n);

describe('what one person may confirm', () => {
  it.each([
    ['a fifth down', move(price('1'), price('0.8'))],
    ['a fifth up', move(price('0.05'), price('0.06'))],
    ['a withdrawal', move(price('1'), price(null))],
    ['the same of a fixed price', move(rule('0.0002'), rule('0.00024'))],
    ['no rule where there was none', move(null, rule(null))],
    ['a fifth of a rate', move(rated('0.5'), rated('0.4'))],
    ['one kind of token', move(tokens('10'), tokens('8.5'))],
  ])('is %s', (_, one) => {
    expect(ofOne(one)).toBeNull();
  });

  it.each([
    ['a price of 0', move(price('1'), price('0')), /m is 0/],
    ['a multiplier of 0', move(multiplier('1'), multiplier('0.0')), /g is 0/],
    ['a nano beyond a fifth', move(price('1'), price('0.799999999')), /20 percent/],
    ['one beyond it upwards', move(price('1'), price('1.200000001')), /20 percent/],
    ['a price where there was none', move(price(null), price('1')), /no value before/],
    ['a new fixed price', move(rule(null), rule('100')), /new fixed price/],
    ['the end of a fixed price', move(rule('1'), rule(null)), /ends a fixed price/],
    ['a price that was 0', move(price('0'), price('1')), /was 0/],
    ['a nano beyond a fifth of a rate', move(rated('0.5'), rated('0.399999999')), /20 percent/],
    ['a rate of 0', move(rated('0.5'), rated('0')), /m is 0/],
    ['a new rate', move(price('1'), rated('1')), /other rates/],
    ['a rate for another value', move(rated('1'), rated('1', 'high')), /other rates/],
    ['another kind of price', move(price('1'), tokens('1')), /another kind/],
    ['one kind of token of three', move(tokens('10'), tokens('7')), /20 percent/],
  ])('is not %s', (_, one, why) => {
    expect(ofOne(one)?.message).toMatch(why);
  });

  it('adds up with what the same person moved before, prices with multipliers', () => {
    const cut = move(price('1'), price('0.9'));
    expect(ofOne(move(multiplier('1'), multiplier('0.89')), [cut])).toBeNull();
    expect(ofOne(move(multiplier('1'), multiplier('0.88')), [cut])).toMatchObject({
      code: 'moves_far',
      percent: 20,
    });
    expect(ofOne(move(price('1', 'other'), price('0.81', 'other')), [cut])).toBeNull();
  });
});
