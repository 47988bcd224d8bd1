import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { GatewayConfig } from '../gateway.config.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { PICTURES_BODY_BYTES, PICTURES_FORM } from '../http/limits.js';
import { asBody } from '../http/fields.js';
import { publicOrigin } from '../http/public-origin.js';
import { type DryRun, dryRunOf } from '../routing/dry-run.js';
import { readModelChoice } from '../routing/model-choice.js';
import { ImageFiles } from './image.files.js';
import { type ImageGeneration, readImageEdit, readImageGeneration } from './image-request.js';
import { type ImageCall, type ImageResult, ImageService } from './image.service.js';
import { editImagesOperation, fetchImageOperation, generateImagesOperation } from './images.openapi.js';

@Controller()
export class ImagesController {
  constructor(
    @Inject(ImageService) private readonly images: ImageService,
    @Inject(ImageFiles) private readonly files: ImageFiles,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  @Post(['v1/images/generations', 'vendora/v1/images/generations'])
  @HttpCode(200)
  @RouteRules({ doc: generateImagesOperation })
  async generate(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ImageResult | DryRun> {
    const { models, named, dryRun, body } = readModelChoice(asBody(request.body), caller);
    const asked = readImageGeneration({ ...body, model: models[0] });
    const { id: requestId } = request;
    const callOf = (model: string): ImageCall => {
      return { caller, asked: { ...asked, model }, requestId, origin: this.originOf(asked, request) };
    };
    const turns = this.images.turnsOf(requestId, { models, named }, caller.left);
    if (dryRun) return dryRunOf(turns, (model) => this.images.quote(callOf(model)));
    return turns.serve(async (model) => {
      const result = await this.images.generate(callOf(model), turns);
      void reply.headers(turns.headersFor(model));
      return named === 1 ? result : { ...result, model };
    });
  }

  /** By form or JSON; an edit is billed as what it makes. */
  @Post(['v1/images/edits', 'vendora/v1/images/edits'])
  @HttpCode(200)
  @RouteRules({ bodyLimit: PICTURES_BODY_BYTES, multipart: PICTURES_FORM, doc: editImagesOperation })
  async edit(@CallerOf() caller: Caller, @Req() request: FastifyRequest): Promise<ImageResult> {
    const { pictures, ...asked } = await readImageEdit(request);
    const origin = this.originOf(asked, request);
    const { id: requestId, memory } = request;
    return this.images.generate({ caller, asked, pictures, memory, requestId, origin });
  }

  /** Null where no link is answered. */
  private originOf({ format }: Pick<ImageGeneration, 'format'>, request: FastifyRequest): string | null {
    return format === 'b64_json' ? null : publicOrigin(request, this.config);
  }

  /** Fetched without a key: the signature in the address is the permission. */
  @Get('v1/images/files/:name')
  @RouteRules({ access: 'open', doc: fetchImageOperation })
  async file(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.files.send(name, request, reply);
  }
}
