import { dimensionsOfFamily, type PricedModel } from '#pricing/price-book.js';
import type { PriceText, RateText } from '#pricing/price-text.js';
import { type Dimensions, ratedDimensions, hiddenBy, whenText } from '#pricing/rates.js';
import { type PriceFault, priceFault } from './price-fault.js';

/** The rates of a price; none for one by tokens. */
export function ratesOf(price: PriceText | null): readonly RateText[] {
  return price && 'unitPrice' in price ? (price.rates ?? []) : [];
}

/** Why a model cannot have these rates, or null. */
export function ratesFault({ id, family }: PricedModel, rates: readonly RateText[]): PriceFault | null {
  const known = dimensionsOfFamily[family];
  for (const [rate, each] of rates.entries()) {
    const name = ratedDimensions([each]).find((dimension) => !known.includes(dimension));
    if (name !== undefined) {
      const facts = { rate, model: id, name };
      return known.length > 0
        ? priceFault('rate_foreign', { ...facts, known: known.join(', ') })
        : priceFault('no_rates', facts);
    }
    const hider = hiddenBy(rates, rate);
    if (hider >= 0) return priceFault('rate_hidden', { rate, hider });
  }
  return null;
}

/** Rates as people write them in a cell: `size=1024x1024 quality=high 0.167; quality=high 0.25`. */
export function ratesText(rates: readonly RateText[]): string {
  return rates.map(({ when, unitPrice }) => `${whenText(when)} ${unitPrice}`).join('; ');
}

/** The first name that occurs twice in one rate of such a text, where one of the values would be lost. */
export function namedTwice(text: string): string | undefined {
  const namesOf = (part: string) => [...part.matchAll(/(\S*?)=/g)].map(([, name]) => name!);
  return text
    .split(';')
    .map((part) => namesOf(part).find((name, at, names) => names.indexOf(name) < at))
    .find((name) => name !== undefined);
}

/** Parses such a text. It is validated later, like any change. */
export function ratesFrom(text: string): { when: Dimensions; unitPrice: string }[] {
  const parts = text.split(';').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const words = part.split(/\s+/);
      const pairs = words.slice(0, -1).map((word) => /^([^=]*)=?(.*)$/.exec(word)!.slice(1));
      return { when: Object.fromEntries(pairs) as Dimensions, unitPrice: words.at(-1) ?? '' };
    });
}
