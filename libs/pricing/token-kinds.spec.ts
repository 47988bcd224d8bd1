import { describe, expect, it } from 'vitest';
import { formatAmount, nanos } from '#money/amount.js';
import type { PriceBook } from './price-book.js';
import { priceBook } from './price-book.fixture.js';
import { priceOf, priceText, type PriceText } from './price-text.js';
import { quote, type Quote, withTokens } from './quote.js';
import { recompute } from './recompute.js';
import { keyedByLine, namedByLine, type TokenCounts } from './token-kinds.js';

const TEXT = { input: '5', cachedInput: '1.25', output: '10' };
const MEDIA = { ...TEXT, imageInput: '8', cachedImageInput: '2', imageOutput: '32' };
const USED: TokenCounts = {
  input: 40n,
  cachedInput: 10n,
  output: 7n,
  imageInput: 300n,
  cachedImageInput: 100n,
  imageOutput: 4_160n,
};

function bookWith(price: PriceText): PriceBook {
  const version = { id: 3n, effectiveFromMs: -Infinity, value: priceOf(price) };
  return { ...priceBook, prices: new Map([...priceBook.prices, ['talk', [version]]]) };
}

function quoted(price: PriceText, tokens: TokenCounts): Quote {
  const request = { model: 'talk', group: 'Main', units: 1n, tokens, atMs: 0 };
  const found = quote(bookWith(price), request);
  if (typeof found === 'string') throw new Error(found);
  return found;
}

function units({ lines }: Pick<Quote, 'lines'>): Record<string, bigint> {
  const used = (lines ?? []).filter((line) => line.units > 0n);
  return Object.fromEntries(used.map((line) => [line.kind, line.units]));
}

describe('tokens by kind', () => {
  it('are priced with one line each, rounded up separately', () => {
    const found = quoted(MEDIA, USED);
    expect(units(found)).toEqual({
      input: 40n,
      cached_input: 10n,
      output: 7n,
      image_input: 300n,
      cached_image_input: 100n,
      image_output: 4_160n,
    });
    // 1.1 x (40x5 + 10x1.25 + 7x10 + 300x8 + 100x2 + 4160x32) / 1e6
    expect(formatAmount(found.amount)).toBe('0.14960275');
  });

  it('count as text if the price names none of them', () => {
    const found = quoted(TEXT, USED);
    expect(units(found)).toEqual({ input: 340n, cached_input: 110n, output: 4_167n });
    expect(found.lines?.map(({ kind }) => kind)).toEqual([
      'input',
      'cached_input',
      'output',
      'cache_write',
      'cache_write_1h',
    ]);
  });

  it('from a cache cost the same as others of their kind if the price names only those', () => {
    const { cachedImageInput: _, ...price } = MEDIA;
    expect(units(quoted(price, USED))).toMatchObject({ image_input: 400n, cached_input: 10n });
  });

  it('settle by the lines that were held, whatever is reported', () => {
    const held = quoted(TEXT, { input: 1_000n, cachedInput: 0n, output: 5_000n });
    expect(units({ lines: withTokens(held.lines!, USED) })).toEqual({
      input: 340n,
      cached_input: 110n,
      output: 4_167n,
    });
  });

  it.each([
    { imageOutput: 100_000_001n },
    { audioInput: -1n },
    { output: 60_000_000n, imageOutput: 60_000_000n },
  ])('are refused beyond what a charge can hold: %p', (tokens) => {
    expect(() => quoted(TEXT, { input: 0n, cachedInput: 0n, output: 0n, ...tokens })).toThrow(RangeError);
  });

  it('are recalculated from what a charge stores', () => {
    const book = bookWith(MEDIA);
    const [held, used] = [quoted(MEDIA, { ...USED, imageOutput: 6_240n }), quoted(MEDIA, USED)];
    const charge = {
      model: 'talk',
      group: 'Main',
      priceVersionId: 3n,
      multiplierVersionId: 4n,
      groupRuleVersionId: null,
      units: 1n,
      dimensions: null,
      lines: held.lines,
      deliveredLines: used.lines,
      state: 'settled' as const,
      heldAtMs: 0,
      deliveredUnits: 1n,
      amount: held.amount,
      settled: used.amount,
      operatorLoss: nanos(0n),
    };
    expect(recompute(book, charge)).toMatchObject({ agrees: true });
    const cheaper = { ...charge, settled: nanos(used.amount - 1n) };
    expect(recompute(book, cheaper)).toMatchObject({ agrees: false });
  });
});

describe('prices by kind', () => {
  it('are written as they were read', () => {
    expect(priceText(priceOf(MEDIA)!)).toEqual(MEDIA);
  });

  it('are stored by kind of line', () => {
    const kept = keyedByLine({ imageInput: '8', audioOutput: undefined });
    expect(kept).toEqual({ image_input: '8' });
    expect(namedByLine(kept)).toEqual({ imageInput: '8' });
    expect(keyedByLine({})).toBeNull();
    expect(namedByLine(null)).toEqual({});
  });
});
