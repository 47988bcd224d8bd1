import { parseDecimal } from '#money/amount.js';
import type { PriceBook } from './price-book.js';
import { priceOf } from './price-text.js';

/** Prices of `talk`, per million tokens. */
export const TOKEN_PRICE = { input: '2.5', cachedInput: '1.25', output: '10' };

/**
 * An image model with an alias, whose price rises at 5,000 ms, and a chat model, both for a group with a multiplier of
 * 1.1.
 */
export const priceBook: PriceBook = {
  revision: 1n,
  models: new Map([
    ['picture', { id: 'picture', family: 'image', unit: 'call', pricedAs: 'picture', enabled: true }],
    [
      'picture-latest',
      { id: 'picture-latest', family: 'image', unit: 'call', pricedAs: 'picture', enabled: true },
    ],
    ['talk', { id: 'talk', family: 'chat', unit: 'token', pricedAs: 'talk', enabled: true }],
  ]),
  prices: new Map([
    [
      'picture',
      [
        { id: 1n, effectiveFromMs: -Infinity, value: priceOf({ unitPrice: '0.02' }) },
        { id: 2n, effectiveFromMs: 5_000, value: priceOf({ unitPrice: '0.05' }) },
      ],
    ],
    ['talk', [{ id: 3n, effectiveFromMs: -Infinity, value: priceOf(TOKEN_PRICE) }]],
  ]),
  multipliers: new Map([['Main', [{ id: 4n, effectiveFromMs: -Infinity, value: parseDecimal('1.1') }]]]),
  groupRules: new Map(),
  access: new Map([['Main', new Set(['picture', 'picture-latest', 'talk'])]]),
};
