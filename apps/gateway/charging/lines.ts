import { type Catalog, type CatalogModel, type Channel, channelsFor } from '#catalog/catalog.js';
import type { ApiError } from '#platform/errors.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { Capability } from '#upstream/protocol.js';
import { notSupportedHere } from '../http/model-access.js';
import { serviceUnavailable } from '../http/refusal.js';

/**
 * The channels that can do this work for a group, best first; at least one. @throws ApiError 503 when none is
 * configured at the moment; 400 when there are some and the vendors of none offer it, which a repeat cannot change
 */
export function linesFor(
  upstreams: Upstreams,
  catalog: Catalog,
  wanted: { model: CatalogModel; group: string; capability: Capability },
): Channel[] {
  const { model, group, capability } = wanted;
  const channels = channelsFor(catalog, { model: model.id, group });
  if (channels.length === 0) throw noLine(model.id);
  const able = upstreams.serving(channels, capability);
  if (able.length === 0) throw notSupportedHere(model);
  return able;
}

export function noLine(model: string): ApiError {
  return serviceUnavailable(`No line for ${model} is free at the moment. Nothing was charged; please retry.`);
}

/** The name under which a channel's vendor knows a model. */
export function upstreamModel(channel: Channel, model: CatalogModel): string {
  return channel.models.get(model.id) ?? model.id;
}
