import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Catalog, CatalogModel, Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { Dialect } from '#tasks/task-state.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import { videoRequestOf } from '#upstream/video-request.js';
import { channelsFree } from '../charging/channel-entry.js';
import { invalid } from '../http/fields.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import type { TaskOrder } from '../tasks/task-order.js';
import { ModelWithoutChannel } from '../routing/model-busy.js';
import { fitToModel, taskRequestOf, type VideoCreation, videoDimensions } from './video-request.js';

interface VideoCall {
  caller: Caller;
  asked: VideoCreation;
  dialect: Dialect;
  requestId: string;
}

/** Checks videos against their models. */
export class VideoOrders {
  constructor(
    private readonly parts: {
      catalog: CatalogCache;
      upstreams: Upstreams;
      health: ChannelHealth;
    },
  ) {}

  /** @throws ApiError if the model cannot make it now */
  async orderOf({ caller, asked, dialect, requestId }: VideoCall): Promise<TaskOrder> {
    const { catalog, upstreams } = this.parts;
    const current = await catalog.get();
    const model = modelForGroup(current, asked.model, caller.group);
    refuseOtherFamily(model, 'video');
    const fitted = fitToModel(asked, model);
    const request = taskRequestOf(asked, fitted);
    const { seconds } = fitted;
    return {
      kind: 'video',
      caller,
      requestId,
      dialect,
      model,
      units: seconds,
      dimensions: videoDimensions(request),
      request,
      channels: this.channelsFor(current, { model, caller, audio: fitted.audio }),
      create: videosBy(upstreams, seconds),
    };
  }

  /** @throws ApiError, also if no vendor of the model makes it without sound */
  private channelsFor(
    current: Catalog,
    { audio, ...wanted }: { model: CatalogModel; caller: Caller; audio: boolean | undefined },
  ): Channel[] {
    const channels = channelsFree(this.parts, current, { ...wanted, capability: 'videos' });
    if (audio !== false) return channels;
    try {
      return channelsFree(this.parts, current, { ...wanted, capability: 'silentVideos' });
    } catch (error) {
      if (!(error instanceof ModelWithoutChannel)) throw error;
      const { id } = wanted.model;
      const rule = `must be true or absent for ${id}: none of its channels makes videos without sound. Nothing was charged`;
      throw invalid('generate_audio', rule);
    }
  }
}

/** Makes a video of these seconds. */
export function videosBy(upstreams: Upstreams, seconds: number): TaskOrder['create'] {
  return (channel, task, options) =>
    upstreams
      .adapterFor(channel.protocol)
      .createVideo(channel, videoRequestOf({ ...task, seconds }), options);
}
