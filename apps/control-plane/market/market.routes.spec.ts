import { expect, it } from 'vitest';
import { multiply, parseDecimal } from '#money/amount.js';
import { priceOf, priceText } from '#pricing/price-text.js';
import { marketRoutes } from './market.routes.js';

/** Used as a multiplier and as a price, with the most decimals that each can have. */
const THIRD = '0.333333333333333333';
const NINTH = '0.111111111111111110888888888888888889';

it('the price list has exact group prices, which have more decimals than price and multiplier', () => {
  const inGroup = (text: Parameters<typeof priceOf>[0]) =>
    priceText(priceOf(text)!, (price) => multiply(price, parseDecimal(THIRD)));
  const prices = [
    inGroup({ unitPrice: THIRD, rates: [{ when: { quality: 'low' }, unitPrice: THIRD }] }),
    inGroup({ input: THIRD, cachedInput: THIRD, output: THIRD, audioInput: THIRD }),
  ];
  expect(prices).toMatchObject([{ unitPrice: NINTH }, { input: NINTH }]);
  const items = prices.map((price) => ({
    id: 'imgmodel-4',
    family: 'image' as const,
    vendor: 'vendorb',
    unit: 'call' as const,
    aliasOf: null,
    listPrice: null,
    groups: [{ group: 'Partners', rule: 'list' as const, multiplier: THIRD, price, available: true }],
    limits: {},
    available: true,
    nextChangeAt: null,
  }));
  const answer = marketRoutes.prices.answer.parse({ items, nextCursor: null });
  expect(answer.items.map(({ groups }) => groups[0]?.price)).toEqual(prices);
});
