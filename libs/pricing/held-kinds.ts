import { orderOfDecimals } from '#money/amount.js';
import { cacheWritePrices, type PriceBook, type TokenPrice } from './price-book.js';
import { termsAt, type TermsRequest } from './terms.js';
import type { TokenCounts } from './token-kinds.js';

/** How input may be billed: as read, or as written into a cache for five minutes or for an hour. */
export type InputKind = keyof Pick<TokenCounts, 'input' | 'cacheWrite' | 'cacheWrite1h'>;

/** Whether a model's price names one for cache writes. If so, they may be billed even if they were not requested. */
export function areWritesSold(book: PriceBook, request: TermsRequest): boolean {
  return !!tokenPriceAt(book, request)?.cacheWrite;
}

function tokenPriceAt(book: PriceBook, request: TermsRequest): TokenPrice | null {
  const terms = termsAt(book, request);
  return typeof terms !== 'string' && terms.price.kind === 'token' ? terms.price : null;
}

/** The kinds that a request is held at: the most expensive that its input and its answer may turn out to be. */
export interface HeldKinds {
  readonly input: InputKind | 'imageInput' | 'audioInput';
  readonly output: 'output' | 'imageOutput' | 'audioOutput';
}

/** `written` is the most expensive kind of written text. */
export function dearestKinds(book: PriceBook, request: TermsRequest, written: InputKind): HeldKinds {
  const price = tokenPriceAt(book, request);
  if (!price) return { input: written, output: 'output' };
  const prices: TokenPrice = { ...price, ...cacheWritePrices(price) };
  return {
    input: dearestOf(prices, [written, 'imageInput', 'audioInput']),
    output: dearestOf(prices, ['output', 'imageOutput', 'audioOutput']),
  };
}

/** The first of the most expensive ones. */
function dearestOf<K extends Exclude<keyof TokenPrice, 'kind'>>(
  prices: TokenPrice,
  kinds: readonly [K, ...K[]],
): K {
  return kinds.reduce((dearest, kind) => {
    const [one, other] = [prices[dearest], prices[kind]];
    return other && (!one || orderOfDecimals(one, other) < 0) ? kind : dearest;
  });
}
