import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { Dialect } from '#tasks/task-state.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import { videoRequestOf } from '#upstream/video-request.js';
import { channelsFree } from '../charging/channel-entry.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import type { TaskCreator } from '../tasks/task.creation.js';
import type { ViewedTask } from '../tasks/task.view.js';
import { fitToModel, taskRequestOf, type VideoCreation } from './video-request.js';

export interface VideoCall {
  caller: Caller;
  asked: VideoCreation;
  dialect: Dialect;
  requestId: string;
}

/** Checks a video against its model, and creates the task. */
export class VideoCreator {
  constructor(
    private readonly parts: {
      catalog: CatalogCache;
      upstreams: Upstreams;
      health: ChannelHealth;
      creator: TaskCreator;
    },
  ) {}

  /** @throws ApiError, without a charge */
  async create({ caller, asked, dialect, requestId }: VideoCall): Promise<ViewedTask> {
    const { catalog, upstreams, creator } = this.parts;
    const current = await catalog.get();
    const model = modelForGroup(current, asked.model, caller.group);
    refuseOtherFamily(model, 'video');
    const fitted = fitToModel(asked, model);
    const request = taskRequestOf(asked, fitted);
    return creator.create({
      kind: 'video',
      caller,
      requestId,
      dialect,
      model,
      units: fitted.seconds,
      dimensions: { resolution: fitted.resolution },
      request,
      channels: channelsFree(this.parts, current, { model, caller, capability: 'videos' }),
      create: (channel, upstreamModel, options) =>
        upstreams
          .adapterFor(channel.protocol)
          .createVideo(channel, videoRequestOf({ request, seconds: fitted.seconds, upstreamModel }), options),
    });
  }
}
