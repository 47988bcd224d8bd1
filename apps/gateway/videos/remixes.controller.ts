import { Controller, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { GatewayConfig } from '../gateway.config.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { MULTIPART, VIDEO_BODY_BYTES } from '../http/limits.js';
import { anyBody } from '../http/multipart-body.js';
import { publicOrigin } from '../http/public-origin.js';
import { VideoLibrary } from './video.library.js';
import { readRemixPrompt } from './video-request.js';
import { VideoRemixer } from './video.remix.js';
import type { VideoView } from './video.view.js';
import { remixVideoOperation } from './videos.openapi.js';

/** OpenAI's way to remix a finished video. The result is a video like any other. */
@Controller('v1/videos/:id/remix')
export class RemixesController {
  constructor(
    @Inject(VideoRemixer) private readonly remixer: VideoRemixer,
    @Inject(VideoLibrary) private readonly library: VideoLibrary,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  @Post()
  @HttpCode(200)
  @RouteRules({ bodyLimit: VIDEO_BODY_BYTES, multipart: MULTIPART, doc: remixVideoOperation })
  async remix(
    @CallerOf() caller: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<VideoView> {
    const prompt = readRemixPrompt(await anyBody(request));
    const task = await this.remixer.remix({ caller, id, prompt, requestId: request.id });
    return this.library.view(task, () => publicOrigin(request, this.config));
  }
}
