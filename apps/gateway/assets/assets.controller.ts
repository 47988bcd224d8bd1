import { Body, Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { GatewayConfig } from '../gateway.config.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { PICTURES_BODY_BYTES } from '../http/limits.js';
import { publicOrigin } from '../http/public-origin.js';
import { readAssetCreation } from './asset-request.js';
import { AssetCreator } from './asset.creation.js';
import { AssetLibrary } from './asset.library.js';
import type { AssetView } from './asset.view.js';
import { createAssetOperation, downloadAssetOperation, retrieveAssetOperation } from './assets.openapi.js';

/** 3D assets: drafts, and textures of finished drafts. */
@Controller('v1/3d')
export class AssetsController {
  constructor(
    @Inject(AssetCreator) private readonly creator: AssetCreator,
    @Inject(AssetLibrary) private readonly library: AssetLibrary,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  @Post()
  @HttpCode(200)
  @RouteRules({ bodyLimit: PICTURES_BODY_BYTES, doc: createAssetOperation })
  async create(
    @CallerOf() caller: Caller,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
  ): Promise<AssetView> {
    const asked = readAssetCreation(body);
    const task = await this.creator.create({ caller, asked, requestId: request.id, memory: request.memory });
    return this.library.view(task, this.originOf(request));
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
