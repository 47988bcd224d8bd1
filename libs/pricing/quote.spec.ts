import { describe, expect, it } from 'vitest';
import { PUBLIC_RELAY, VENDORA_MAIN } from '#groups/group.js';
import { formatAmount, parseDecimal } from '#money/amount.js';
import type { Price, PriceBook, PricedModel } from './price-book.js';
import type { Version } from '#groups/version.js';
import { quote, type Quote } from './quote.js';

const start = -Infinity;

function unit(price: string): Price {
  return { kind: 'unit', unitPrice: parseDecimal(price) };
}

function model(id: string, unit: 'call' | 'second', pricedAs = id): [string, PricedModel] {
  return [id, { id, family: unit === 'call' ? 'image' : 'video', unit, pricedAs, enabled: true }];
}

const book: PriceBook = {
  revision: 1n,
  models: new Map([
    ['talk', { id: 'talk', family: 'chat', unit: 'token', pricedAs: 'talk', enabled: true }],

    model('clip', 'second'),
    model('clip-preview', 'second', 'clip'),
    model('picture', 'call'),
  ]),
  prices: new Map<string, Version<Price>[]>([
    [
      'talk',
      [
        {
          id: 8n,
          effectiveFromMs: start,
          value: {
            kind: 'token',
            input: parseDecimal('0.0000025'),
            cachedInput: parseDecimal('0.00000125'),
            output: parseDecimal('0.00001'),
          },
        },
      ],
    ],
    [
      'clip',
      [
        { id: 1n, effectiveFromMs: start, value: unit('0.05') },
        { id: 2n, effectiveFromMs: 1_000, value: unit('0.07') },
        { id: 3n, effectiveFromMs: 2_000, value: null },
      ],
    ],
    ['picture', [{ id: 4n, effectiveFromMs: start, value: unit('0.02') }]],
  ]),
  multipliers: new Map([
    [VENDORA_MAIN, [{ id: 5n, effectiveFromMs: start, value: parseDecimal('1') }]],
    [PUBLIC_RELAY, [{ id: 6n, effectiveFromMs: start, value: parseDecimal('2') }]],
  ]),
  groupRules: new Map([
    [
      PUBLIC_RELAY,
      [
        {
          id: 7n,
          effectiveFromMs: start,
          value: { kind: 'fixed_per_call', unitPrice: parseDecimal('0.0002') },
        },
      ],
    ],
  ]),
  access: new Map([
    [VENDORA_MAIN, new Set(['clip', 'clip-preview', 'picture', 'talk'])],
    [PUBLIC_RELAY, new Set(['picture', 'clip', 'talk'])],
  ]),
};

function ask(model: string, group: string, units: bigint, atMs = 0): Quote {
  const answer = quote(book, { model, group, units, atMs });
  if (typeof answer === 'string') throw new Error(answer);
  return answer;
}

describe('quote', () => {
  it('charges videos by the second and images by the piece', () => {
    expect(formatAmount(ask('clip', VENDORA_MAIN, 5n).amount)).toBe('0.25');
    expect(formatAmount(ask('picture', VENDORA_MAIN, 3n).amount)).toBe('0.06');
  });

  it('prices an alias like its model', () => {
    expect(ask('clip-preview', VENDORA_MAIN, 5n).amount).toBe(ask('clip', VENDORA_MAIN, 5n).amount);
    expect(ask('clip-preview', VENDORA_MAIN, 5n).priceVersionId).toBe(1n);
  });

  it('applies the fixed price of Public-Relay to calls whatever the list price and multiplier, but not to seconds', () => {
    expect(formatAmount(ask('picture', PUBLIC_RELAY, 2n).amount)).toBe('0.0004');
    expect(formatAmount(ask('clip', PUBLIC_RELAY, 1n).amount)).toBe('0.1');
  });

  it('uses the version in force at the time, to the millisecond', () => {
    expect(ask('clip', VENDORA_MAIN, 1n, 999).priceVersionId).toBe(1n);
    expect(ask('clip', VENDORA_MAIN, 1n, 1_000).priceVersionId).toBe(2n);
    expect(quote(book, { model: 'clip', group: VENDORA_MAIN, units: 1n, atMs: 2_000 })).toBe(
      'model_not_found',
    );
  });

  it('prices tokens with one line per kind, each rounded up separately', () => {
    const answer = quote(book, {
      model: 'talk',
      group: VENDORA_MAIN,
      units: 1n,
      tokens: { input: 1_000n, cachedInput: 3n, output: 7n },
      atMs: 0,
    });
    expect(answer).toMatchObject({ amount: 2_500_000n + 3_750n + 70_000n, units: 1_010n, unitPrice: null });
    expect(quote(book, { model: 'talk', group: VENDORA_MAIN, units: 1n, atMs: 0 })).toBe('model_not_found');
  });

  it('multiplies each line of tokens by the group’s multiplier', () => {
    const tokens = { input: 1_000n, cachedInput: 3n, output: 7n };
    expect(quote(book, { model: 'talk', group: PUBLIC_RELAY, units: 1n, tokens, atMs: 0 })).toMatchObject({
      amount: 5_000_000n + 7_500n + 140_000n,
    });
  });

  it('knows no model outside the group', () => {
    expect(quote(book, { model: 'clip-preview', group: PUBLIC_RELAY, units: 1n, atMs: 0 })).toBe(
      'model_not_found',
    );
    expect(quote(book, { model: 'nothing', group: VENDORA_MAIN, units: 1n, atMs: 0 })).toBe(
      'model_not_found',
    );
    expect(quote(book, { model: 'clip', group: 'Nobody', units: 1n, atMs: 0 })).toBe('model_not_found');
  });
});
