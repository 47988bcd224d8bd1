import type { GroupBook } from '#groups/terms.js';
import type { Version } from '#groups/version.js';
import { type Decimal, multiply } from '#money/amount.js';
import type { DimensionName, Rate } from './rates.js';
import type { MediaName } from './token-kinds.js';

export type Family = 'image' | 'video' | 'chat' | 'speech' | '3d';
/** What one unit of a model is: a call (an image, an asset), a second of video, or a token. */
export type Unit = 'call' | 'second' | 'token';

/** What a token costs, not a million of them. */
export interface TokenPrice extends Readonly<Partial<Record<MediaName, Decimal>>> {
  readonly kind: 'token';
  readonly input: Decimal;
  readonly cachedInput: Decimal;
  readonly output: Decimal;
  /** Of input that the vendor puts into its cache, for five minutes and for an hour; left out, they follow from input. */
  readonly cacheWrite?: Decimal;
  readonly cacheWrite1h?: Decimal;
}

/** What a model costs: one price for each unit, with others for what its rates name, or one for each kind of token. */
export type Price =
  | { readonly kind: 'unit'; readonly unitPrice: Decimal; readonly rates?: readonly Rate[] }
  | TokenPrice;

/** What rates of a model may depend on: what its requests can say. */
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
  /** The model whose price an alias has; itself when it is none. */
  readonly pricedAs: string;
  readonly enabled: boolean;
}

/** Everything a quote depends on, as plain values, with all versions past and announced. */
export interface PriceBook extends GroupBook {
  readonly revision: bigint;
  readonly models: ReadonlyMap<string, PricedModel>;
  /** Versions per model, ascending by their start. */
  readonly prices: ReadonlyMap<string, readonly Version<Price>[]>;
}

const CACHE_WRITE_SHARE: Decimal = { digits: 125n, scale: 2 };
const CACHE_WRITE_1H_SHARE: Decimal = { digits: 2n, scale: 0 };

/**
 * What a token costs that is written into a cache. Where a price states nothing: what vendors take for it, and never less
 * than input. The database function token_price() says the same.
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
