import { type Decimal, parseDecimal, plainDecimal } from '#money/amount.js';
import type { Price } from './price-book.js';

const PER_MILLION = 6;

/** Prices as people read and write them: decimal strings of credits; of tokens, for a million of each kind. */
export type PriceText =
  | { unitPrice: string }
  | {
      input: string;
      cachedInput: string;
      output: string;
      /** For five minutes, and for an hour; left out, 1.25 and 2 times the price of input. */
      cacheWrite?: string | undefined;
      cacheWrite1h?: string | undefined;
    };

/** A price of the book from what people write. @throws InvalidAmount */
export function priceOf(text: PriceText | null): Price | null {
  if (text === null) return null;
  if ('unitPrice' in text) return { kind: 'unit', unitPrice: parseDecimal(text.unitPrice) };
  const perToken = (price: string): Decimal => {
    const { digits, scale } = parseDecimal(price);
    return { digits, scale: scale + PER_MILLION };
  };
  return {
    kind: 'token',
    input: perToken(text.input),
    cachedInput: perToken(text.cachedInput),
    output: perToken(text.output),
    ...(text.cacheWrite === undefined ? {} : { cacheWrite: perToken(text.cacheWrite) }),
    ...(text.cacheWrite1h === undefined ? {} : { cacheWrite1h: perToken(text.cacheWrite1h) }),
  };
}

/** A price as people read it, times a factor if there is one; exact, not rounded. */
export function priceText(price: Price, times: (price: Decimal) => Decimal = (same) => same): PriceText {
  if (price.kind === 'unit') return { unitPrice: plainDecimal(times(price.unitPrice)) };
  const perMillion = (perToken: Decimal): string => {
    const { digits, scale } = times(perToken);
    return plainDecimal({ digits: digits * 10n ** BigInt(PER_MILLION), scale });
  };
  return {
    input: perMillion(price.input),
    cachedInput: perMillion(price.cachedInput),
    output: perMillion(price.output),
    ...(price.cacheWrite && { cacheWrite: perMillion(price.cacheWrite) }),
    ...(price.cacheWrite1h && { cacheWrite1h: perMillion(price.cacheWrite1h) }),
  };
}
