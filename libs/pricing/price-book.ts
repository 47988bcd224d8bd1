import type { GroupBook } from '#groups/terms.js';
import type { Version } from '#groups/version.js';
import { type Decimal, multiply } from '#money/amount.js';
import type { DimensionName, Rate } from './rates.js';
import type { MediaName } from './token-kinds.js';

export const modelFamilies = ['image', 'video', 'chat', 'speech', '3d'] as const;
export type Family = (typeof modelFamilies)[number];

/** The unit of a model: a call (an image, an asset), a second of video, or a token. */
export type Unit = 'call' | 'second' | 'token';

/** Per token, not per million. */
export interface TokenPrice extends Readonly<Partial<Record<MediaName, Decimal>>> {
  readonly kind: 'token';
  readonly input: Decimal;
  readonly cachedInput: Decimal;
  readonly output: Decimal;
  /** Input that the vendor caches for five minutes or an hour. If omitted, these follow from input. */
  readonly cacheWrite?: Decimal;
  readonly cacheWrite1h?: Decimal;
}

/** The price of a model: one per unit, with others for its rates, or one per kind of token. */
export type Price =
  | { readonly kind: 'unit'; readonly unitPrice: Decimal; readonly rates?: readonly Rate[] }
  | TokenPrice;

/** Request properties that a model's rates may depend on. */
export const dimensionsOfFamily: Readonly<Record<Family, readonly DimensionName[]>> = {
  image: ['size', 'quality', 'resolution', 'input'],
  video: ['resolution', 'audio', 'length'],
  '3d': ['mode', 'input'],
  chat: [],
  speech: [],
};

export interface PricedModel {
  readonly id: string;
  readonly family: Family;
  readonly unit: Unit;
  /** The model whose price an alias has; the model itself if it is no alias. */
  readonly pricedAs: string;
  readonly enabled: boolean;
}

/** Everything a quote depends on, as plain values, with all past and announced versions. */
export interface PriceBook extends GroupBook {
  readonly revision: bigint;
  readonly models: ReadonlyMap<string, PricedModel>;
  /** Versions per model, ascending by start. */
  readonly prices: ReadonlyMap<string, readonly Version<Price>[]>;
}

const CACHE_WRITE_SHARE: Decimal = { digits: 125n, scale: 2 };
const CACHE_WRITE_1H_SHARE: Decimal = { digits: 2n, scale: 0 };

/**
 * The price of a token that is written into a cache. If the price does not state it: the vendors' usual factor, and
 * never less than input. The database function token_price() does the same.
 */
export function cacheWritePrices({
  input,
  cacheWrite = multiply(input, CACHE_WRITE_SHARE),
  cacheWrite1h = multiply(input, CACHE_WRITE_1H_SHARE),
}: Pick<TokenPrice, 'input' | 'cacheWrite' | 'cacheWrite1h'>): {
  cacheWrite: Decimal;
  cacheWrite1h: Decimal;
} {
  return { cacheWrite, cacheWrite1h };
}
