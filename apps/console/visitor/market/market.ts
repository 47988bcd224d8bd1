import { api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { compareDecimals } from '../../ui/decimal.js';

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
  filter: Filter & { groups: readonly string[] },
): Shape<'ListedModel'>[] {
  const { text, family, vendor, group, groups, sort } = filter;
  const words = text?.trim().toLowerCase();
  const found = models.filter(
    (model) =>
      (!family || model.family === family) &&
      (!vendor || model.vendor === vendor) &&
      (!group || model.groups.some((each) => each.group === group)) &&
      (!words || `${model.id} ${model.vendor}`.toLowerCase().includes(words)),
  );
  return sort ? found.sort(inOrder(sort, group === undefined ? groups : [group])) : found;
}

function inOrder(
  sort: string,
  groups: readonly string[],
): (a: Shape<'ListedModel'>, b: Shape<'ListedModel'>) => number {
  const isDown = sort.startsWith('-');
  const by = isDown ? sort.slice(1) : sort;
  const compare = (a: Shape<'ListedModel'>, b: Shape<'ListedModel'>) => {
    if (by === 'vendor') return a.vendor.localeCompare(b.vendor);
    if (by === 'price') return comparePrices(offerOf(a, groups), offerOf(b, groups));
    return a.id.localeCompare(b.id);
  };
  return (a, b) => (isDown ? -1 : 1) * compare(a, b) || a.id.localeCompare(b.id);
}

/** Prices of different units cannot be compared, so models are grouped by unit. */
function comparePrices(a: ViewerOffer | null, b: ViewerOffer | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a.unit.localeCompare(b.unit) || compareDecimals(leading(a.price), leading(b.price));
}

/** What the viewer pays for a model: in the group that is chosen, or in the cheapest of their groups that has it. */
export interface ViewerOffer {
  group: string;
  price: ListPrice;
  unit: Shape<'ListedModel'>['unit'];
}

/** Null where none of the groups has the model. */
export function offerOf(model: Shape<'ListedModel'>, groups: readonly string[]): ViewerOffer | null {
  const offers = model.groups
    .filter(({ group }) => groups.includes(group))
    .map(({ group, price, rule }) => ({ group, price, unit: unitIn(model, rule) }));
  return offers.sort(comparePrices)[0] ?? null;
}

/** A group with one price for all calls counts calls, whatever the model is priced by. */
export function unitIn(
  model: Shape<'ListedModel'>,
  rule: Shape<'ListedModel'>['groups'][number]['rule'],
): Shape<'ListedModel'>['unit'] {
  return rule === 'fixed_per_call' ? 'call' : model.unit;
}

/** The one amount of a price that it is compared by. */
function leading(price: ListPrice): string {
  return 'unitPrice' in price ? price.unitPrice : price.output;
}

/** The values that a filter can have, each once, sorted. */
export function distinctValues(
  models: readonly Shape<'ListedModel'>[],
  of: (model: Shape<'ListedModel'>) => readonly string[],
): string[] {
  return [...new Set(models.flatMap(of))].sort((a, b) => a.localeCompare(b));
}
