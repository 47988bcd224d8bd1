import type { GroupRule } from '#groups/group.js';
import { type Decimal, multiply } from '#money/amount.js';

export type Family = 'image' | 'video' | 'chat' | 'speech' | '3d';
/** What one unit of a model is: a call (an image, an asset), a second of video, or a token. */
export type Unit = 'call' | 'second' | 'token';

/** What a model costs: one price for each unit, or one for each kind of token (per token, not per million). */
export type Price =
  | { readonly kind: 'unit'; readonly unitPrice: Decimal }
  | {
      readonly kind: 'token';
      readonly input: Decimal;
      readonly cachedInput: Decimal;
      readonly output: Decimal;
      /** Of input that the vendor puts into its cache, for five minutes and for an hour; left out, they follow from input. */
      readonly cacheWrite?: Decimal;
      readonly cacheWrite1h?: Decimal;
    };

/** A value that holds from a time on; the next version's start is its end. */
export interface Version<T> {
  readonly id: bigint;
  /** Milliseconds since 1970 UTC, microseconds in the fraction; -Infinity for "since ever". */
  readonly effectiveFromMs: number;
  /** null withdraws the subject from that time on. */
  readonly value: T | null;
}

export interface PricedModel {
  readonly id: string;
  readonly family: Family;
  readonly unit: Unit;
  /** The model whose price an alias has; itself when it is none. */
  readonly pricedAs: string;
  readonly enabled: boolean;
}

/** Everything a quote depends on, as plain values, with all versions past and announced. */
export interface PriceBook {
  readonly revision: bigint;
  readonly models: ReadonlyMap<string, PricedModel>;
  /** Versions per model or group, ascending by their start. */
  readonly prices: ReadonlyMap<string, readonly Version<Price>[]>;
  readonly multipliers: ReadonlyMap<string, readonly Version<Decimal>[]>;
  readonly groupRules: ReadonlyMap<string, readonly Version<GroupRule>[]>;
  /** Models that the keys of a group may use. */
  readonly access: ReadonlyMap<string, ReadonlySet<string>>;
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
}: Pick<Extract<Price, { kind: 'token' }>, 'input' | 'cacheWrite' | 'cacheWrite1h'>): {
  cacheWrite: Decimal;
  cacheWrite1h: Decimal;
} {
  return { cacheWrite, cacheWrite1h };
}

/** The version in force at a time, or undefined before the first. */
export function versionAt<T>(
  versions: readonly Version<T>[] | undefined,
  atMs: number,
): Version<T> | undefined {
  if (!versions) return undefined;
  for (let index = versions.length - 1; index >= 0; index -= 1) {
    const version = versions[index];
    if (version && version.effectiveFromMs <= atMs) return version;
  }
  return undefined;
}
