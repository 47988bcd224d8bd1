import type { Decimal } from '#money/amount.js';
import { cacheWritePrices, type PriceBook, type TokenPrice } from './price-book.js';
import { termsAt, type TermsRequest } from './terms.js';
import type { TokenCounts } from './token-kinds.js';

/** What input may be billed as: read, or written into a cache for five minutes or for an hour. */
export type InputKind = keyof Pick<TokenCounts, 'input' | 'cacheWrite' | 'cacheWrite1h'>;

/** Whether a model's price says what writes into a cache cost: then they may be billed without being asked for. */
export function areWritesSold(book: PriceBook, request: TermsRequest): boolean {
  return !!tokenPriceAt(book, request)?.cacheWrite;
}

function tokenPriceAt(book: PriceBook, request: TermsRequest): TokenPrice | null {
  const terms = termsAt(book, request);
  return typeof terms !== 'string' && terms.price.kind === 'token' ? terms.price : null;
}

/** The kinds that a request is held by: as what its input and its answer may turn out to be at the dearest. */
export interface HeldKinds {
  readonly input: InputKind | 'imageInput' | 'audioInput';
  readonly output: 'output' | 'imageOutput' | 'audioOutput';
}

/** `written` is the dearest that text may turn out to be. */
export function dearestKinds(book: PriceBook, request: TermsRequest, written: InputKind): HeldKinds {
  const price = tokenPriceAt(book, request);
  if (!price) return { input: written, output: 'output' };
  const prices: TokenPrice = { ...price, ...cacheWritePrices(price) };
  return {
    input: dearestOf(prices, [written, 'imageInput', 'audioInput']),
    output: dearestOf(prices, ['output', 'imageOutput', 'audioOutput']),
  };
}

/** The first of those that cost most. */
function dearestOf<K extends Exclude<keyof TokenPrice, 'kind'>>(
  prices: TokenPrice,
  kinds: readonly [K, ...K[]],
): K {
  return kinds.reduce((dearest, kind) => {
    const [one, other] = [prices[dearest], prices[kind]];
    return other && (!one || isLess(one, other)) ? kind : dearest;
  });
}

function isLess(one: Decimal, other: Decimal): boolean {
  return one.digits * 10n ** BigInt(other.scale) < other.digits * 10n ** BigInt(one.scale);
}
