import { type Catalog, type CatalogModel, type Channel, channelsFor } from '#catalog/catalog.js';
import { ApiError } from '#platform/errors.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/channel-health.js';
import type { Capability } from '#upstream/protocol.js';
import { noChannelHere } from '../http/model-access.js';

/**
 * The channels that would take this work of a group now, best first; at least one. Asked before the hold, so that
 * nothing is held while every channel is ill or full. @throws ApiError 503 when there is none at the moment; 404 when
 * there are some, but the vendors of none offer this call: for it the model has no channel (spec 7, wire.md D7), and a
 * repeat cannot change that. 400 stays for models of another family, which have a path of their own.
 */
export function linesFor(
  { upstreams, health }: { upstreams: Upstreams; health: ChannelHealth },
  catalog: Catalog,
  wanted: { model: CatalogModel; group: string; capability: Capability },
): Channel[] {
  const { model, group, capability } = wanted;
  const channels = channelsFor(catalog, { model: model.id, group });
  if (channels.length === 0) throw noLine(model.id, health.retryAfterSeconds([]));
  const able = upstreams.serving(channels, capability);
  if (able.length === 0) throw noChannelHere(model.id, group);
  const free = health.candidates(able);
  if (free.length === 0) throw noLine(model.id, health.retryAfterSeconds(able));
  return free;
}

export function noLine(model: string, retryAfterSeconds: number): ApiError {
  const message = `No line for ${model} is free at the moment. Nothing was charged; please retry.`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds });
}

/** The name under which a channel's vendor knows a model. */
export function upstreamModel(channel: Channel, model: CatalogModel): string {
  return channel.models.get(model.id) ?? model.id;
}

/** A refusal in an upstream's words, in which its own name of the model is the name that the client used. */
export function inClientsName<T extends { kind: string }>(
  outcome: T,
  channel: Channel,
  model: CatalogModel,
): T {
  const theirs = upstreamModel(channel, model);
  if (outcome.kind !== 'refused' || theirs === model.id || !('message' in outcome)) return outcome;
  return { ...outcome, message: String(outcome.message).replaceAll(theirs, model.id) };
}
