import type { Shape } from '../../api/client.js';
import { type RatedPrice, dimensionNames } from '../../ui/rate-lines.js';
import type { ListPrice } from './market.js';
import type { PricedWork } from './public-quote.js';

type Model = Shape<'ListedModel'>;
type ChosenName = Exclude<(typeof dimensionNames)[number], 'length'>;

/** Number inputs hold '' while they are empty. */
export interface Wish {
  /** Images, videos, assets or calls. */
  calls: number | string;
  seconds: number | string;
  inputTokens: number | string;
  outputTokens: number | string;
  dimensions: { [Name in ChosenName]?: string };
}

export const MOST_CALLS = 1_000_000;
export const MOST_TOKENS = 100_000_000;
const USUAL_CALLS = 1_000;
const USUAL_INPUT = 2_000;
const USUAL_OUTPUT = 500;

export function wishFor({ limits: { defaultSeconds, minSeconds = 1 } }: Model): Wish {
  return {
    calls: USUAL_CALLS,
    seconds: defaultSeconds ?? minSeconds,
    inputTokens: USUAL_INPUT,
    outputTokens: USUAL_OUTPUT,
    dimensions: {},
  };
}

/** Videos have limits in the price list; other work priced by the second has none. */
export function secondsOf({ limits: { minSeconds = 1, maxSeconds = MOST_CALLS } }: Model) {
  return { least: minSeconds, most: maxSeconds };
}

/** The relay estimates the tokens of images itself. */
export function isByTokens({ unit, family }: Model): boolean {
  return unit === 'million_tokens' && family !== 'image';
}

/** One call, or null while fields are missing. */
export function wishedWork(model: Model, group: string, wish: Wish): PricedWork | null {
  const place = { model: model.id, group, ...dimensionsOf(wish) };
  if (isByTokens(model)) {
    const { inputTokens: input, outputTokens: output } = wish;
    const isThere = isWhole(input, MOST_TOKENS, 0) && isWhole(output, MOST_TOKENS, 0);
    return isThere ? { ...place, 'tokens.input': input, 'tokens.output': output } : null;
  }
  if (model.unit !== 'second') return { ...place, n: 1 };
  const { least, most } = secondsOf(model);
  return isWhole(wish.seconds, most, least) ? { ...place, seconds: wish.seconds } : null;
}

function dimensionsOf({ dimensions }: Wish): Partial<PricedWork> {
  const named = Object.entries(dimensions).filter(([, value]) => value !== '');
  return Object.fromEntries(named.map(([name, value]) => [`dimensions.${name}`, value]));
}

export function isWhole(value: number | string, most: number, least = 1): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

/** What the price depends on besides seconds, with the values that have their own rate. */
export function ratedChoices(price: ListPrice): { name: ChosenName; values: string[] }[] {
  const rates = ('unitPrice' in price && price.rates) || ([] as NonNullable<RatedPrice['rates']>);
  return dimensionNames.flatMap((name) => {
    if (name === 'length') return [];
    const values = [...new Set(rates.flatMap(({ when }) => when[name] ?? []))];
    return values.length === 0 ? [] : [{ name, values }];
  });
}
