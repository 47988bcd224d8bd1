import { type Decimal, parseDecimal, plainDecimal } from '#money/amount.js';
import type { Price } from './price-book.js';
import type { Dimensions, Rate } from './rates.js';
import { type MediaName, mediaNames } from './token-kinds.js';

const PER_MILLION = 6;

/** A rate as people read and write it. */
export interface RateText {
  when: Dimensions;
  unitPrice: string;
}

/** Prices as people read and write them: decimal strings of credits; for tokens, per million of each kind. */
export type PriceText =
  | { unitPrice: string; rates?: RateText[] | undefined }
  | ({
      input: string;
      cachedInput: string;
      output: string;
      /** For five minutes, and for an hour. If omitted, 1.25 and 2 times the price of input. */
      cacheWrite?: string | undefined;
      cacheWrite1h?: string | undefined;
    } & Partial<Record<MediaName, string | undefined>>);

/** What a price by tokens may omit. */
export const optionalPrices = ['cacheWrite', 'cacheWrite1h', ...mediaNames] as const;

/** Parses a written price. @throws InvalidAmount */
export function priceOf(text: PriceText | null): Price | null {
  if (text === null) return null;
  if ('unitPrice' in text) {
    const rates = text.rates?.map(({ when, unitPrice }): Rate => ({
      when,
      unitPrice: parseDecimal(unitPrice),
    }));
    return { kind: 'unit', unitPrice: parseDecimal(text.unitPrice), ...(rates?.length && { rates }) };
  }
  const perToken = (price: string): Decimal => {
    const { digits, scale } = parseDecimal(price);
    return { digits, scale: scale + PER_MILLION };
  };
  return {
    kind: 'token',
    input: perToken(text.input),
    cachedInput: perToken(text.cachedInput),
    output: perToken(text.output),
    ...stated((name) => (text[name] === undefined ? undefined : perToken(text[name]))),
  };
}

/** Formats a price, multiplied by a factor if given; exact, not rounded. */
export function priceText(price: Price, times: (price: Decimal) => Decimal = (same) => same): PriceText {
  if (price.kind === 'unit') {
    const textOf = (unitPrice: Decimal) => plainDecimal(times(unitPrice));
    const rates = price.rates?.map(({ when, unitPrice }) => ({ when, unitPrice: textOf(unitPrice) }));
    return { unitPrice: textOf(price.unitPrice), ...(rates && { rates }) };
  }
  const perMillion = (perToken: Decimal): string => {
    const { digits, scale } = times(perToken);
    return plainDecimal({ digits: digits * 10n ** BigInt(PER_MILLION), scale });
  };
  return {
    input: perMillion(price.input),
    cachedInput: perMillion(price.cachedInput),
    output: perMillion(price.output),
    ...stated((name) => price[name] && perMillion(price[name])),
  };
}

/** The optional prices that are set. */
export function stated<T>(
  priceOfKind: (name: (typeof optionalPrices)[number]) => T | undefined,
): Partial<Record<(typeof optionalPrices)[number], T>> {
  const found = optionalPrices.map((name) => [name, priceOfKind(name)] as const);
  return Object.fromEntries(found.filter(([, price]) => price !== undefined));
}
