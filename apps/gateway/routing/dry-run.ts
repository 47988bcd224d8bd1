import { type AmountText, formatAmount } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import type { Routing } from '#catalog/channel-order.js';
import type { Quote } from '#pricing/quote.js';
import { type Miss, type ModelTurns, refusalOf } from './model-turns.js';

/** The work that a model would hold for, and what decides its first channel. */
export interface RoutedQuote {
  readonly quote: Quote;
  readonly routing: Routing;
}

/** What a model would do with the request. `amount` is what would be held: the most that it can cost, in credits. */
type Option =
  | { model: string; available: true; amount: AmountText; units: string; routing: Routing }
  | { model: string; available: false; error: { code: string; message: string } };

export interface DryRun {
  object: 'dry_run';
  /** The model that would be tried first. */
  model: string;
  models: Option[];
}

/**
 * Prices a request for each of its models. Nothing is held or sent.
 * @throws ApiError if none would serve it, or if an error would end the request before one does
 */
export async function dryRunOf(
  turns: Pick<ModelTurns, 'models' | 'isOver' | 'mayAsk' | 'isMiss'>,
  priceOf: (model: string) => Promise<RoutedQuote>,
): Promise<DryRun> {
  const options: Option[] = [];
  const misses: Miss[] = [];
  for (const [place, model] of turns.models.entries()) {
    const isReached = !options.some(({ available }) => available);
    if (isReached && !turns.mayAsk(place, misses)) break;
    try {
      const { quote, routing } = await priceOf(model);
      const [amount, units] = [formatAmount(quote.amount), String(quote.units)];
      options.push({ model, available: true, amount, units, routing });
    } catch (error) {
      if (!(error instanceof ApiError) || (isReached && !turns.isMiss(place, error))) throw error;
      misses.push({ model, error });
      options.push({ model, available: false, error: { code: error.code, message: error.message } });
    }
    if (turns.isOver) break;
  }
  const first = options.find(({ available }) => available);
  if (!first) throw refusalOf(misses);
  return { object: 'dry_run', model: first.model, models: options };
}
