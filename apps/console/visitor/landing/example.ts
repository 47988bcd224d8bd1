import { useQuery } from '@tanstack/react-query';
import { relayQuery, type Shape } from '../../api/client.js';
import { offerOf } from '../market/market.js';
import { marketQuery } from '../market/market-query.js';
import { type PricedWork, usePublicQuote } from '../market/public-quote.js';

/** An image that any visitor could generate: by a model that needs only a prompt and has one price per image. */
function exampleWork(models: readonly Shape<'ListedModel'>[], groups: readonly string[]): PricedWork | null {
  for (const model of models) {
    const { id, family, unit, available, limits } = model;
    const offer = family === 'image' && unit === 'call' && available ? offerOf(model, groups) : null;
    if (offer && !limits.minInputImages) return { model: id, group: offer.group, n: 1 };
  }
  return null;
}

/** Today's price of an image; `isNone` if no model fits. */
export function useExample() {
  const market = useQuery(marketQuery);
  const relay = useQuery(relayQuery);
  const isRead = market.data !== undefined && relay.data !== undefined;
  const work = isRead ? exampleWork(market.data, relay.data.groups) : null;
  const quote = usePublicQuote(work);
  const failed = [market, relay, quote].find(({ error }) => error !== null) ?? quote;
  const data = work && quote.data && { work, quote: quote.data };
  return {
    isNone: isRead && work === null,
    query: { data: data ?? undefined, error: failed.error, refetch: failed.refetch },
  };
}
