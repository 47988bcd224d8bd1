import { describe, expect, it } from 'vitest';
import { formatAmount } from '#money/amount.js';
import { priceBook } from './price-book.fixture.js';
import type { PriceBook } from './price-book.js';
import { priceOf, priceText } from './price-text.js';
import { quote, type Quote } from './quote.js';
import { type Dimensions, hiddenBy, rateFor } from './rates.js';

const TEXT = {
  unitPrice: '0.25',
  rates: [
    { when: { quality: 'high', size: '1024x1024' }, unitPrice: '0.167' },
    { when: { quality: 'low' }, unitPrice: '0.011' },
    { when: { size: 'auto', quality: 'auto' }, unitPrice: '0.042' },
    { when: { input: 'none' as const, resolution: '4k' }, unitPrice: '0.2' },
  ],
};

function bookWith(fixedPrice: string | null): PriceBook {
  const rule = { id: 9n, effectiveFromMs: -Infinity };
  const price = fixedPrice === null ? null : priceOf({ unitPrice: fixedPrice });
  const value =
    price?.kind === 'unit' ? { kind: 'fixed_per_call' as const, unitPrice: price.unitPrice } : null;
  return {
    ...priceBook,
    prices: new Map([['picture', [{ id: 8n, effectiveFromMs: -Infinity, value: priceOf(TEXT) }]]]),
    groupRules: new Map([['Main', [{ ...rule, value }]]]),
  };
}

function ask(dimensions: Dimensions | undefined, book = bookWith(null), units = 1n): Quote {
  const answer = quote(book, { model: 'picture-latest', group: 'Main', units, dimensions, atMs: 0 });
  if (typeof answer === 'string') throw new Error(answer);
  return answer;
}

describe('a price with rates', () => {
  it.each<[string, Dimensions | undefined, string]>([
    ['the first rate whose every value is asked for', { quality: 'high', size: '1024x1024' }, '0.1837'],
    ['the unit price where one value is another', { quality: 'high', size: '1536x1024' }, '0.275'],
    ['the unit price for a value that no rate names', { quality: 'ultra' }, '0.275'],
    ['a later rate', { quality: 'low', size: '1024x1024' }, '0.0121'],
    ['the defaults of what is left out', {}, '0.0462'],
    ['the same where nothing is said', undefined, '0.0462'],
    ['a default beside a value', { resolution: '4k', size: '1024x1024' }, '0.22'],
    ['a value in place of a default', { resolution: '4k', size: '1024x1024', input: 'image' }, '0.275'],
  ])('costs by %s, times the group’s multiplier', (_, asked, amount) => {
    expect(formatAmount(ask(asked).amount)).toBe(amount);
  });

  it('multiplies the units and names what it depends on', () => {
    expect(ask({ quality: 'low' }, bookWith(null), 3n)).toMatchObject({
      amount: 36_300_000n,
      ratedBy: ['size', 'quality', 'resolution', 'input'],
      priceVersionId: 8n,
    });
  });

  it('depends on the units if a rate names the length, whatever else is requested', () => {
    const rates = [{ when: { length: '3' }, unitPrice: '0.033333333333333333' }];
    const price = priceOf({ unitPrice: '0.05', rates });
    const version = { id: 8n, effectiveFromMs: -Infinity, value: price };
    const book = { ...bookWith(null), prices: new Map([['picture', [version]]]) };
    const amounts = [2n, 3n].map((units) => formatAmount(ask({ resolution: '4k' }, book, units).amount));
    // A whole price of 0.1, times the multiplier.
    expect(amounts).toEqual(['0.11', '0.11']);
  });

  it('gives way to a group’s fixed price', () => {
    const fixed = ask({ quality: 'high', size: '1024x1024' }, bookWith('0.0002'));
    expect(fixed).toMatchObject({ amount: 200_000n, ratedBy: [], rule: 'fixed_per_call' });
  });

  it('is read and written unchanged, and has no rates if it was given none', () => {
    expect(priceText(priceOf(TEXT)!)).toEqual(TEXT);
    expect(priceText(priceOf({ unitPrice: '0.25', rates: [] })!)).toEqual({ unitPrice: '0.25' });
  });
});

describe('a rate', () => {
  it('with a name that only a newer version knows never applies', () => {
    const newer = { quality: 'low', colour: 'red' } as Dimensions;
    const unitPrice = { digits: 1n, scale: 0 };
    const rates = [newer, { quality: 'low' }].map((when) => ({ when, unitPrice }));
    expect(rateFor(rates, { quality: 'low' })).toBe(rates[1]);
    expect(hiddenBy(rates, 1)).toBe(-1);
  });

  it('for sound applies if the request says nothing about it', () => {
    const unitPrice = { digits: 1n, scale: 0 };
    const rates = (['off', 'on'] as const).map((audio) => ({ when: { audio }, unitPrice }));
    expect(rateFor(rates, { audio: 'off' })).toBe(rates[0]);
    expect(rateFor(rates, {})).toBe(rates[1]);
  });

  it('is hidden by an earlier one that applies wherever it does', () => {
    const rates = [
      { when: { size: '1024x1024', quality: 'low' } },
      { when: { quality: 'high' } },
      { when: { size: '1024x1024' } },
      { when: { size: '1024x1024', quality: 'high' } },
      { when: { size: '1024x1024' } },
    ];
    expect(rates.map((_, at) => hiddenBy(rates, at))).toEqual([-1, -1, -1, 1, 2]);
  });
});
