import { api } from '../api/client.js';
import type { Shape } from '../api/shape.js';
import { compareDecimals } from '../ui/decimal.js';

export type ListPrice = NonNullable<Shape<'ListedModel'>['listPrice']>;

export interface Filter {
  text?: string;
  family?: Shape<'ListedModel'>['family'];
  vendor?: string;
  group?: string;
  sort?: string;
}

const PAGE = 200;

/** A price list of that many models is no longer read in one go; the search of the server would be needed. */
const MOST_PAGES = 20;

/** The whole price list: it is short, and searching and sorting it here answers at once. */
export const marketQuery = {
  queryKey: ['market'],
  queryFn: async (): Promise<Shape<'ListedModel'>[]> => {
    const models: Shape<'ListedModel'>[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MOST_PAGES; page++) {
      const query: { limit: number; cursor?: string } = {
        limit: PAGE,
        ...(cursor === null ? {} : { cursor }),
      };
      const { items, nextCursor } = (await api.GET('/api/public/prices', { params: { query } })).data!;
      models.push(...items);
      cursor = nextCursor;
      if (cursor === null) break;
    }
    return models;
  },
};

/** The models that a filter leaves, in its order; without one as the server sent them: by kind, vendor and name. */
export function chosenModels(
  models: readonly Shape<'ListedModel'>[],
  filter: Filter,
): Shape<'ListedModel'>[] {
  const { text, family, vendor, group, sort } = filter;
  const words = text?.trim().toLowerCase();
  const found = models.filter(
    (model) =>
      (!family || model.family === family) &&
      (!vendor || model.vendor === vendor) &&
      (!group || model.groups.some((each) => each.group === group)) &&
      (!words || `${model.id} ${model.vendor}`.toLowerCase().includes(words)),
  );
  return sort ? found.sort(inOrder(sort, group)) : found;
}

function inOrder(
  sort: string,
  group: string | undefined,
): (a: Shape<'ListedModel'>, b: Shape<'ListedModel'>) => number {
  const isDown = sort.startsWith('-');
  const by = isDown ? sort.slice(1) : sort;
  const compare = (a: Shape<'ListedModel'>, b: Shape<'ListedModel'>) => {
    if (by === 'vendor') return a.vendor.localeCompare(b.vendor);
    if (by === 'price') return comparePrices(a, b, group);
    return a.id.localeCompare(b.id);
  };
  return (a, b) => (isDown ? -1 : 1) * compare(a, b) || a.id.localeCompare(b.id);
}

/** Prices of different units cannot be compared, so models are grouped by unit. */
function comparePrices(a: Shape<'ListedModel'>, b: Shape<'ListedModel'>, group: string | undefined): number {
  if (a.unit !== b.unit) return a.unit.localeCompare(b.unit);
  return compareDecimals(leading(priceIn(a, group)), leading(priceIn(b, group)));
}

/** What the model costs in a group, or by the list. */
export function priceIn(model: Shape<'ListedModel'>, group: string | undefined): ListPrice | null {
  if (group === undefined) return model.listPrice;
  return model.groups.find((each) => each.group === group)?.price ?? null;
}

/** The one amount of a price that it is compared by. */
function leading(price: ListPrice | null): string {
  if (price === null) return '0';
  return 'unitPrice' in price ? price.unitPrice : price.output;
}

/** The values that a filter can have, each once, sorted. */
export function distinctValues(
  models: readonly Shape<'ListedModel'>[],
  of: (model: Shape<'ListedModel'>) => readonly string[],
): string[] {
  return [...new Set(models.flatMap(of))].sort((a, b) => a.localeCompare(b));
}
