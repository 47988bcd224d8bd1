import {
  type Catalog,
  type CatalogModel,
  type Channel,
  channelsFor,
  withMarkedKey,
} from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { traced } from '#platform/tracing.js';
import type { Task } from '#tasks/task.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth, Place, Work } from '#upstream/health/channel-health.js';
import type { Capability } from '#upstream/protocol.js';
import { noChannelHere, noChannelOn } from '../http/model-access.js';
import { ModelBusy } from '../routing/model-busy.js';

/** Capacity on the first of the channels. The others can be tried after it. */
export interface ChannelEntry {
  readonly channels: readonly Channel[];
  readonly place: Place;
}

/**
 * The channels that would currently accept this work of a caller, best first; at least one. Called before the hold, so that
 * nothing is held while every channel is unhealthy. @throws ApiError 503 if there is none at the moment; 404 if none is
 * configured or none of the vendors offers this call, which a repeat cannot change. 400 is for models of another type, which
 * have their own path.
 */
export function channelsFree(
  { upstreams, health }: { upstreams: Upstreams; health: ChannelHealth },
  catalog: Catalog,
  wanted: {
    model: CatalogModel;
    caller: Pick<Caller, 'accountId' | 'group'>;
    capability: Capability;
    work?: Work;
  },
): Channel[] {
  const { model, caller, capability, work = workOf(caller, model) } = wanted;
  const { group } = caller;
  const latencyMs = (channelId: string, of: string) => health.latencyMs(channelId, of);
  const channels = channelsFor(catalog, { model: model.id, group, latencyMs });
  if (channels.length === 0) throw noChannelOn(model.id, group);
  const able = upstreams.serving(channels, capability);
  if (able.length === 0) throw noChannelHere(model.id, group);
  const healthy = health.candidates(able, work);
  if (healthy.length === 0) throw noChannelFree(model.id, health.retryAfterSeconds(able, work.model));
  return healthy;
}

/**
 * The channel that created a task, with the key that created it, because the vendor shows the task to no other key. Empty
 * if it is no longer available. @throws ApiError 503 while it accepts nothing
 */
export function makerFree(
  parts: Parameters<typeof channelsFree>[0],
  catalog: Catalog,
  wanted: Parameters<typeof channelsFree>[2] & { task: Pick<Task, 'channelId' | 'channelKey'> },
): Channel[] {
  const { task, model, caller, capability } = wanted;
  const made = { ...catalog, channels: catalog.channels.filter(({ id }) => id === task.channelId) };
  const offered = channelsFor(made, { model: model.id, group: caller.group });
  if (parts.upstreams.serving(offered, capability).length === 0) return [];
  return channelsFree(parts, made, wanted).map((channel) => withMarkedKey(channel, task.channelKey));
}

/**
 * Takes a place on one of the channels, waiting at most `waitMs` in turn with other accounts, before any credits are held.
 * @throws ApiError 429 if the caller's own calls use up its share of the places, 503 if others' calls do
 */
export async function enterChannel(
  health: ChannelHealth,
  channels: readonly Channel[],
  wanted: {
    model: CatalogModel;
    caller: Pick<Caller, 'accountId' | 'left'>;
    waitMs: number;
    work?: Work;
  },
): Promise<ChannelEntry> {
  const { model, caller, waitMs, work = workOf(caller, model) } = wanted;
  const enter = () => health.enterOne(channels, work, { waitMs, signal: caller.left });
  const entered = await traced('wait for a channel', {}, enter);
  if ('place' in entered) {
    const others = channels.filter((channel) => channel !== entered.channel);
    return { channels: [entered.channel, ...others], place: entered.place };
  }
  const { reason, retryAfterSeconds } = entered;
  if (reason !== 'over_share') throw noChannelFree(model.id, retryAfterSeconds);
  const message = `Your calls already use your share of the capacity of ${model.id}. Nothing was charged; send fewer at once.`;
  throw new ModelBusy('rate_limit_exceeded', message, { retryAfterSeconds });
}

/** The subject of a call for channel health: models with the same vendor name count as one. */
export function workOf({ accountId }: Pick<Caller, 'accountId'>, model: CatalogModel): Work {
  return { accountId, model: model.aliasOf ?? model.id };
}

export function noChannelFree(model: string, retryAfterSeconds: number): ModelBusy {
  const message = `${model} is unavailable at the moment. Nothing was charged; please retry.`;
  return new ModelBusy('service_unavailable', message, { retryAfterSeconds });
}
