import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { Using } from '#platform/wiring.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { AnsweredPost, CallerOf, type ClientExchange, ExchangeOf, RouteRules } from '../http/caller.js';
import { IMAGES_BODY_BYTES } from '../http/limits.js';
import { asBody } from '../http/fields.js';
import { ImageLoader } from '../images/image.loader.js';
import { publicOrigin } from '../http/public-origin.js';
import type { DryRun } from '../routing/dry-run.js';
import { noOtherModel, readModelChoice } from '../routing/model-choice.js';
import { answerTask } from '../tasks/task-answer.js';
import { TaskCreator } from '../tasks/task.creation.js';
import { readAssetCreation } from './asset-request.js';
import { AssetOrders } from './asset.orders.js';
import { AssetLibrary } from './asset.library.js';
import type { AssetView } from './asset.view.js';
import { createAssetOperation, downloadAssetOperation, retrieveAssetOperation } from './assets.openapi.js';

/** 3D assets: drafts, and textures of finished drafts. */
@Controller('v1/3d')
export class AssetsController extends Using({
  creator: TaskCreator,
  loader: ImageLoader,
  orders: AssetOrders,
  library: AssetLibrary,
  config: GATEWAY_CONFIG,
}) {
  @AnsweredPost('', { bodyLimit: IMAGES_BODY_BYTES, doc: createAssetOperation })
  async create(@ExchangeOf('returns') exchange: ClientExchange): Promise<AssetView | DryRun> {
    const { caller, request } = exchange;
    const { body, ...chosen } = readModelChoice(asBody(request.body), caller);
    const asked = readAssetCreation({ ...body, model: chosen.models[0] });
    const isTexture = asked.mode === 'texture';
    if (isTexture && chosen.named > 1) throw noOtherModel('draft');
    const { id: requestId, memory } = request;
    const inputs = { images: asked.images, mask: undefined };
    const loaded = this.loader.once(inputs, { requestId, accountId: caller.accountId, memory });
    return answerTask(this.creator, exchange, {
      choice: isTexture ? { ...chosen, models: [asked.model] } : chosen,
      orderOf: (model) => this.orders.orderOf({ caller, asked: { ...asked, model }, requestId, loaded }),
      view: (task) => this.library.view(task, this.originOf(request)),
    });
  }

  /** Never charges. If the upstream is down, the task shows its last known state. */
  @Get(':id')
  @RouteRules({ doc: retrieveAssetOperation })
  async retrieve(
    @CallerOf() caller: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<AssetView> {
    return this.library.view(await this.library.find(caller.accountId, id), this.originOf(request));
  }

  @Get(':id/content')
  @RouteRules({ access: 'signed', doc: downloadAssetOperation })
  async content(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.library.send(await this.library.requested(request), { request, reply });
  }

  private originOf(request: FastifyRequest): () => string {
    return () => publicOrigin(request, this.config);
  }
}
