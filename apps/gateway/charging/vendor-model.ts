import type { CatalogModel, Channel } from '#catalog/catalog.js';
import { ApiError } from '#platform/errors.js';
import type { Refused } from '#upstream/outcomes.js';

/** The name under which a channel's vendor knows a model. */
export function upstreamModel(channel: Channel, model: CatalogModel): string {
  return channel.models.get(model.id) ?? model.id;
}

/** A refusal in the upstream's words, with its name of the model replaced by the client's. */
export function inClientsName<T extends { kind: string }>(
  outcome: T,
  channel: Channel,
  model: CatalogModel,
): T {
  const theirs = upstreamModel(channel, model);
  if (outcome.kind !== 'refused' || theirs === model.id || !('message' in outcome)) return outcome;
  return { ...outcome, message: String(outcome.message).replaceAll(theirs, model.id) };
}

/** An upstream's refusal is the caller's fault: always 400, because no SDK retries these statuses. */
export function refusalOfUpstream({ code, message }: Refused): ApiError {
  return new ApiError(code === 'content_policy_violation' ? code : 'upstream_rejected', message);
}
