import type { CatalogModel } from '#catalog/catalog.js';
import type { CatalogCache } from '#catalog/catalog.cache.js';
import { refuseBeyondLimits } from '#catalog/model-limits.js';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import type { Task, TaskRequest } from '#tasks/task.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import { makerFree } from '../charging/channel-entry.js';
import { upstreamModel } from '../charging/vendor-model.js';
import { modelForGroup } from '../http/model-access.js';
import type { TaskOrder } from '../tasks/task-order.js';
import { videosBy } from './video.orders.js';
import type { VideoLibrary } from './video.library.js';
import { videoDimensions } from './video-request.js';

interface RemixCall {
  caller: Caller;
  /** Of the finished video. */
  id: string;
  prompt: string;
  requestId: string;
}

/** Checks remixes: a finished video with another prompt, by the vendor and the key that made it. */
export class RemixOrders {
  constructor(
    private readonly parts: {
      catalog: CatalogCache;
      upstreams: Upstreams;
      health: ChannelHealth;
      library: VideoLibrary;
    },
  ) {}

  /** @throws ApiError if it cannot be remixed now */
  async orderOf({ caller, id, prompt, requestId }: RemixCall): Promise<TaskOrder> {
    const { catalog, upstreams } = this.parts;
    const source = await this.finished(caller.accountId, id);
    const current = await catalog.get();
    const model = modelForGroup(current, source.requestedModel, caller.group);
    const wanted = { task: source, model, caller, capability: 'videoRemixes' as const };
    const channels = makerFree(this.parts, current, wanted).filter(
      // The vendor uses and bills the model of the source, even if the channel has renamed it.
      (channel) => upstreamModel(channel, model) === source.upstreamModel,
    );
    const request = remixOf(source, prompt);
    if (channels.length === 0 || request === null) throw notRemixable();
    const { seconds } = source;
    refuseUnlessMade(model, source);
    return {
      kind: 'video',
      caller,
      requestId,
      dialect: 'openai',
      model,
      units: seconds,
      dimensions: videoDimensions(request),
      request,
      channels,
      create: videosBy(upstreams, seconds),
    };
  }

  private async finished(accountId: string, id: string): Promise<Task> {
    const source = await this.parts.library.find(accountId, id);
    if (source.state === 'failed')
      throw new ApiError('video_failed', 'The video failed, so there is nothing to remix.');
    if (source.state !== 'completed') throw new ApiError('video_not_ready', 'The video is not finished yet.');
    return source;
  }
}

/** The same video, but for the prompt; null for one whose vendor's id is not known. */
function remixOf({ id, upstreamId, request }: Task, prompt: string): TaskRequest | null {
  return upstreamId === null ? null : { ...request, prompt, remix: { videoId: id, upstreamId } };
}

/** Limits may have changed since the source was made, and the prices with them. @throws ApiError */
function refuseUnlessMade(model: CatalogModel, { seconds, request }: Task): void {
  const param = 'id';
  const { size, resolution, aspectRatio } = request;
  const measure = (value: string | undefined) => (value === undefined ? undefined : { value, param });
  try {
    refuseBeyondLimits(model, {
      seconds: { value: seconds, param },
      size: measure(size),
      resolution: measure(resolution),
      aspectRatio: measure(aspectRatio),
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = `${model.id} no longer makes videos of this length, size or shape. Nothing was charged.`;
    throw new ApiError('video_not_remixable', message, { cause: error });
  }
}

function notRemixable(): ApiError {
  const message = 'What made this video does not remix videos, or is no longer offered. Nothing was charged.';
  return new ApiError('video_not_remixable', message);
}
