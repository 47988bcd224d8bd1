import type { Catalog, CatalogModel, Channel } from '#catalog/catalog.js';
import { termsAt } from '#pricing/terms.js';
import { canServe } from '#upstream/adapters.js';

/** Why a model is neither listed nor sold in a group. */
export const hindrances = ['switched_off', 'no_price', 'no_channel'] as const;
export type Hindrance = (typeof hindrances)[number];

/**
 * What prevents selling a model to a group that has it, at a time; null: nothing. An unhealthy or full channel does
 * not, because it may recover a moment later.
 */
export function hindranceOf(
  catalog: Catalog,
  { model, group, atMs }: { model: CatalogModel; group: string; atMs: number },
): Hindrance | null {
  if (!model.enabled) return 'switched_off';
  if (termsAt(catalog.priceBook, { model: model.id, group, atMs }) === 'model_not_found') return 'no_price';
  const serves = ({ groups }: Channel) => groups.has(group);
  return (channelsOf(catalog).get(model.id) ?? []).some(serves) ? null : 'no_channel';
}

/** The models of a group that are for sale at a time, by id. */
export function modelsForSale(catalog: Catalog, group: string, atMs: number): CatalogModel[] {
  const ids = [...(catalog.priceBook.access.get(group) ?? [])];
  return ids
    .map((id) => catalog.models.get(id))
    .filter((model) => model !== undefined)
    .filter((model) => hindranceOf(catalog, { model, group, atMs }) === null)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

type ChannelsByModel = ReadonlyMap<string, readonly Channel[]>;

/** Lists are long and requested often, while a catalog does not change by itself. */
const indexes = new WeakMap<Catalog, ChannelsByModel>();

/** For each model, the enabled channels whose protocol supports it. */
function channelsOf(catalog: Catalog): ChannelsByModel {
  const known = indexes.get(catalog);
  if (known) return known;
  const index = new Map<string, Channel[]>();
  for (const channel of catalog.channels.filter(({ enabled }) => enabled)) {
    for (const id of channel.models.keys()) {
      const family = catalog.models.get(id)?.family;
      if (family === undefined || !canServe(channel.protocol, family)) continue;
      index.set(id, [...(index.get(id) ?? []), channel]);
    }
  }
  indexes.set(catalog, index);
  return index;
}
