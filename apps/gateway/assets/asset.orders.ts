import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import type { Task, TaskRequest } from '#tasks/task.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import { assetRequestOf } from '#upstream/asset-request.js';
import type { InputImage } from '#upstream/outcomes.js';
import { channelsFree, makerFree } from '../charging/channel-entry.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import type { EditImages } from '../images/image.loader.js';
import type { TaskOrder } from '../tasks/task-order.js';
import type { AssetLibrary } from './asset.library.js';
import type { AssetCreation } from './asset-request.js';

interface AssetCall {
  caller: Caller;
  asked: AssetCreation;
  requestId: string;
  /** Reads its images once, for all models of the request. @throws ApiError */
  loaded: () => Promise<EditImages<InputImage>>;
}

interface AssetOrdersParts {
  catalog: CatalogCache;
  upstreams: Upstreams;
  health: ChannelHealth;
  library: AssetLibrary;
}

/** Checks assets against their models and drafts. An asset is billed as one call. */
export class AssetOrders {
  constructor(private readonly parts: AssetOrdersParts) {}

  /** @throws ApiError if the model cannot make it now */
  async orderOf({ caller, asked, requestId, loaded }: AssetCall): Promise<TaskOrder> {
    const { catalog, upstreams } = this.parts;
    const current = await catalog.get();
    const model = modelForGroup(current, asked.model, caller.group);
    refuseOtherFamily(model, '3d');
    const wanted = { model, caller, capability: 'assets3d' as const };
    const channels = channelsFree(this.parts, current, wanted);
    const draft = asked.draftId === undefined ? null : await this.finishedDraft(caller, asked.draftId);
    const request = taskRequestOf(asked, draft);
    const holders = draft === null ? channels : makerFree(this.parts, current, { ...wanted, task: draft });
    if (holders.length === 0) throw noMaker();
    return {
      kind: '3d',
      caller,
      requestId,
      dialect: 'openai',
      model,
      units: 1,
      dimensions: { mode: asked.mode, input: asked.images.length > 0 ? 'image' : undefined },
      request,
      channels: holders,
      load: loaded,
      create: assetsBy(upstreams, loaded),
    };
  }

  private async finishedDraft(caller: Caller, draftId: string): Promise<Task> {
    const draft = await this.findDraft(caller, draftId);
    const refuse = (code: 'not_a_draft' | 'draft_failed' | 'draft_not_finished', message: string) =>
      new ApiError(code, message, { param: 'draft_id' });
    if (draft.request.asset?.mode !== 'draft')
      throw refuse('not_a_draft', 'draft_id names a texture, not a draft.');
    if (draft.state === 'failed')
      throw refuse('draft_failed', 'The draft failed, so there is nothing to texture.');
    if (draft.state !== 'completed')
      throw refuse('draft_not_finished', 'The draft is not finished yet. Poll it until it is.');
    return draft;
  }

  private async findDraft(caller: Caller, draftId: string): Promise<Task> {
    try {
      return await this.parts.library.find(caller.accountId, draftId);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError('draft_not_found', 'There is no such draft.', { param: 'draft_id' });
    }
  }
}

function assetsBy(upstreams: Upstreams, loaded: AssetCall['loaded']): TaskOrder['create'] {
  return async (channel, task, options) => {
    const { images } = await loaded();
    return upstreams.adapterFor(channel.protocol).createAsset(channel, assetRequestOf(task, images), options);
  };
}

function noMaker(): ApiError {
  const message = 'What made this draft is no longer offered. Nothing was charged; make a new draft.';
  return new ApiError('draft_not_found', message, { param: 'draft_id' });
}

function taskRequestOf(asked: AssetCreation, draft: Task | null): TaskRequest {
  const { prompt, mode, images, pbr, faceLimit, seed } = asked;
  return {
    prompt,
    asset: {
      mode,
      format: 'glb',
      pictures: images.length,
      ...(draft === null ? {} : { draftId: draft.id }),
      ...(draft?.upstreamId == null ? {} : { upstreamDraftId: draft.upstreamId }),
      ...(pbr === undefined ? {} : { pbr }),
      ...(faceLimit === undefined ? {} : { faceLimit }),
      ...(seed === undefined ? {} : { seed }),
    },
  };
}
