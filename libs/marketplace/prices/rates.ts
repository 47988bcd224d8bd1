import { dimensionsOfFamily, type PricedModel } from '#pricing/price-book.js';
import type { PriceText, RateText } from '#pricing/price-text.js';
import { type Dimensions, ratedDimensions, hiddenBy, whenText } from '#pricing/rates.js';

/** The rates of a price; none for one by tokens. */
export function ratesOf(price: PriceText | null): readonly RateText[] {
  return price && 'unitPrice' in price ? (price.rates ?? []) : [];
}

/** Why a model cannot have these rates, as a sentence, or null. */
export function ratesFault({ id, family }: PricedModel, rates: readonly RateText[]): string | null {
  const known = dimensionsOfFamily[family];
  for (const [at, rate] of rates.entries()) {
    const foreign = ratedDimensions([rate]).find((name) => !known.includes(name));
    if (foreign !== undefined) {
      const instead = known.length > 0 ? `use ${known.join(', ')}` : 'leave rates out';
      return `rates.${at} can never apply: requests for ${id} have no ${foreign}, ${instead}.`;
    }
    const hider = hiddenBy(rates, at);
    if (hider >= 0)
      return `rates.${at} can never apply: rates.${hider} applies first. Put it before that one.`;
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
