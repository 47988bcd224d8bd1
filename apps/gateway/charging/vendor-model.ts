import type { CatalogModel, Channel } from '#catalog/catalog.js';

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
