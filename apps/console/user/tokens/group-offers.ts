import { useQuery } from '@tanstack/react-query';
import { type Shape, useRead } from '../../api/client.js';
import { marketQuery } from '../../visitor/market/market-query.js';

export interface GroupOffer {
  name: string;
  multiplier: string;
  /** Credits per call, if the group has a fixed price. */
  fixedPrice: string | null;
  /** In the order of the price list. */
  models: string[];
}

/** The account's groups, that with the most models first. */
export function useGroupOffers() {
  const own = useRead('/api/groups');
  const market = useQuery(marketQuery);
  const isKnown = market.data !== undefined && own.data !== undefined;
  const query = market.data === undefined ? market : own;
  return { ...query, data: isKnown ? groupsOf(market.data, own.data.groups) : undefined };
}

function groupsOf(models: readonly Shape<'ListedModel'>[], own: readonly string[]): GroupOffer[] {
  const groups = new Map<string, GroupOffer>();
  for (const { id, groups: each } of models) {
    for (const { group: name, multiplier, rule, price } of each) {
      const before = groups.get(name);
      const fixedPrice = rule === 'fixed_per_call' && 'unitPrice' in price ? price.unitPrice : null;
      groups.set(name, { name, multiplier, fixedPrice, models: [...(before?.models ?? []), id] });
    }
  }
  const granted = [...groups.values()].filter(({ name }) => own.includes(name));
  return granted.sort((a, b) => b.models.length - a.models.length || a.name.localeCompare(b.name));
}
