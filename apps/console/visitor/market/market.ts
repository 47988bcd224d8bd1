import type { Shape } from '../../api/client.js';
import { compareDecimals } from '../../ui/decimal.js';

export type ListPrice = NonNullable<Shape<'ListedModel'>['listPrice']>;

export interface Filter {
  text?: string;
  family?: Shape<'ListedModel'>['family'];
  vendor?: string;
  group?: string;
  sort?: string;
}

/** Without a sort order the server's order stays: by type, vendor and name. */
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
  const way = isDown ? -1 : 1;
  const compare = (a: Shape<'ListedModel'>, b: Shape<'ListedModel'>) => {
    if (by === 'vendor') return way * a.vendor.localeCompare(b.vendor);
    if (by === 'price') return comparePrices(offerOf(a, groups), offerOf(b, groups), way);
    return way * a.id.localeCompare(b.id);
  };
  return (a, b) => compare(a, b) || a.id.localeCompare(b.id);
}

/**
 * Prices of different units cannot be compared, so models are grouped by unit, those without an offer last. Only the
 * prices of a unit are reversed.
 */
function comparePrices(a: ViewerOffer | null, b: ViewerOffer | null, way: 1 | -1 = 1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a.unit.localeCompare(b.unit) || way * compareDecimals(leading(a.price), leading(b.price));
}

/** What the viewer pays: in the chosen group, or else in their cheapest group with the model. */
export interface ViewerOffer {
  group: string;
  price: ListPrice;
  unit: Shape<'ListedModel'>['unit'];
}

/** Null if none of the groups has the model. */
export function offerOf(model: Shape<'ListedModel'>, groups: readonly string[]): ViewerOffer | null {
  const offers = model.groups
    .filter(({ group }) => groups.includes(group))
    .map(({ group, price, rule }) => ({ group, price, unit: unitIn(model, rule) }));
  return offers.sort((a, b) => comparePrices(a, b))[0] ?? null;
}

/** A group with a fixed price charges per call, whatever the model's unit. */
export function unitIn(
  model: Shape<'ListedModel'>,
  rule: Shape<'ListedModel'>['groups'][number]['rule'],
): Shape<'ListedModel'>['unit'] {
  return rule === 'fixed_per_call' ? 'call' : model.unit;
}

/** The amount that prices are compared by. */
function leading(price: ListPrice): string {
  return 'unitPrice' in price ? price.unitPrice : price.output;
}

export function distinctValues(
  models: readonly Shape<'ListedModel'>[],
  of: (model: Shape<'ListedModel'>) => readonly string[],
): string[] {
  return [...new Set(models.flatMap(of))].sort((a, b) => a.localeCompare(b));
}
