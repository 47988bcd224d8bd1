import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { priceBook as book, TOKEN_PRICE } from '#pricing/price-book.fixture.js';
import type { PriceBook } from '#pricing/price-book.js';
import {
  changeFault,
  changeOf,
  changeText,
  newestVersion,
  type PriceChange,
  sameChange,
  versionsOf,
  withChanges,
} from './price-change.js';
import { priceFaultText } from './price-fault.js';
import { priceOf, priceText } from '#pricing/price-text.js';
import { quote } from '#pricing/quote.js';
import type { Dimensions } from '#pricing/rates.js';

function amount(of: PriceBook, atMs: number, model = 'picture'): bigint {
  const priced = quote(of, { model, group: 'Main', units: 1n, atMs });
  if (typeof priced === 'string') throw new Error(priced);
  return priced.amount;
}

function faultText(...of: Parameters<typeof changeFault>): string | null {
  const fault = changeFault(...of);
  return fault && priceFaultText(fault);
}

describe('a price change', () => {
  const change: PriceChange = { kind: 'price', model: 'picture', price: { unitPrice: '0.03' } };

  it('is in force from its time until the next announced version', () => {
    const changed = withChanges(book, [change], 1_000);
    expect([999, 1_000, 4_999, 5_000].map((atMs) => amount(changed, atMs))).toEqual([
      22_000_000n,
      33_000_000n,
      33_000_000n,
      55_000_000n,
    ]);
    expect(amount(changed, 1_000, 'picture-latest')).toBe(33_000_000n);
    expect(amount(book, 1_000)).toBe(22_000_000n);
  });

  it('of a group changes all its models, and can give each call one price', () => {
    const changes: PriceChange[] = [
      { kind: 'rule', group: 'Main', rule: 'fixed_per_call', unitPrice: '0.0002' },
      { kind: 'multiplier', group: 'Main', multiplier: '2' },
    ];
    const changed = withChanges(book, changes, 0);
    expect(amount(changed, 0)).toBe(200_000n);
    const tokens = { input: 1_000n, cachedInput: 0n, output: 0n };
    expect(quote(changed, { model: 'talk', group: 'Main', units: 1n, tokens, atMs: 0 })).toMatchObject({
      amount: 5_000_000n,
    });
  });

  it('is based on the version that was written last, announced or not', () => {
    expect(newestVersion(versionsOf(book, change))?.id).toBe(2n);
    expect(newestVersion([])).toBeNull();
  });

  it('is refused if it makes no sense', () => {
    expect(faultText(book, change)).toBeNull();
    expect(faultText(book, { kind: 'price', model: 'picture-latest', price: null })).toMatch(/alias/);
    expect(faultText(book, { kind: 'price', model: 'picture', price: TOKEN_PRICE })).toMatch(/by the call/);
    expect(faultText(book, { kind: 'multiplier', group: 'Main', multiplier: '1000.1' })).toMatch(
      /above 1000/,
    );
    expect(faultText(book, { kind: 'multiplier', group: 'Other', multiplier: '1' })).toMatch(/no group/);
  });

  it('has rates for what its model’s requests can say, none of them hidden by an earlier one', () => {
    const of = (...whens: Dimensions[]): PriceChange => {
      const rates = whens.map((when, at) => ({ when, unitPrice: `0.0${at + 1}` }));
      return { kind: 'price', model: 'picture', price: { unitPrice: '0.2', rates } };
    };
    const good = of({ quality: 'high', size: '1024x1024' }, { quality: 'high' });
    expect(faultText(book, good)).toBeNull();
    expect(changeText(good)).toBe('0.2, with rates size=1024x1024 quality=high 0.01; quality=high 0.02');
    const hidden = of({ quality: 'high' }, { size: '1:1' }, { quality: 'high', size: '1024x1024' });
    expect(faultText(book, hidden)).toBe(
      'rates.2 can never apply: rates.0 applies first. Put it before that one.',
    );
    expect(faultText(book, of({ mode: 'draft' }))).toMatch(
      /rates\.0 can never apply: .* have no mode, use size/,
    );
    const dear = { unitPrice: '0.2', rates: [{ when: { size: '1:1' }, unitPrice: '1000001' }] };
    expect(faultText(book, { kind: 'price', model: 'picture', price: dear })).toMatch(
      /rates\.0\.unitPrice is above/,
    );
    expect(sameChange(good, of({ size: '1024x1024', quality: 'high' }, { quality: 'high' }))).toBe(true);
    expect(sameChange(good, of({ quality: 'high', size: '1024x1024' }, { quality: 'low' }))).toBe(false);
    expect(sameChange(good, { kind: 'price', model: 'picture', price: { unitPrice: '0.2' } })).toBe(false);
  });

  it('derives the price of cache writes from input, unless it states another', () => {
    const change = (more: object = {}): PriceChange => ({
      kind: 'price',
      model: 'talk',
      price: { ...TOKEN_PRICE, ...more },
    });
    expect(sameChange(change(), change({ cacheWrite: '3.125', cacheWrite1h: '5.0' }))).toBe(true);
    expect(sameChange(change(), change({ cacheWrite: '3' }))).toBe(false);
    const tokens = { input: 0n, cachedInput: 0n, output: 0n, cacheWrite: 1_000n, cacheWrite1h: 1_000n };
    const cost = (more: object) => {
      const changed = withChanges(book, [change(more)], 0);
      const priced = quote(changed, { model: 'talk', group: 'Main', units: 1n, tokens, atMs: 1 });
      return typeof priced === 'string' ? priced : priced.amount;
    };
    expect(cost({})).toBe(((3_125_000n + 5_000_000n) * 11n) / 10n);
    expect(cost({ cacheWrite: '4' })).toBe(((4_000_000n + 5_000_000n) * 11n) / 10n);
    expect(faultText(book, change({ cacheWrite1h: '1000001' }))).toMatch(/cacheWrite1h is above/);
    expect(priceText(priceOf((change({ cacheWrite: '4' }) as { price: typeof TOKEN_PRICE }).price)!)).toEqual(
      {
        ...TOKEN_PRICE,
        cacheWrite: '4',
      },
    );
  });

  it('survives being written and read, exactly, however its decimals are written', () => {
    const text = fc
      .tuple(fc.bigInt({ min: 0n, max: 999_999n }), fc.stringMatching(/^\d{0,12}$/))
      .map(([whole, fraction]) => (fraction ? `${whole}.${fraction}` : String(whole)));
    fc.assert(
      fc.property(text, text, text, (input, cachedInput, output) => {
        const given: PriceChange = { kind: 'price', model: 'talk', price: { input, cachedInput, output } };
        const again = changeOf({ kind: 'price', model: 'talk' }, priceOf(given.price));
        expect(sameChange(given, again)).toBe(true);
        expect(priceText(priceOf(given.price)!)).toEqual((again as typeof given).price);
      }),
    );
  });
});
