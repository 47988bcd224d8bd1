import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { FileStore } from '#storage/file-store.js';
import type { GatewayConfig } from '../gateway.config.js';
import { CONFIG } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { isMissingFile, sendFile } from '../http/file-answer.js';
import { PICTURES_BODY_BYTES, PICTURES_FORM } from '../http/limits.js';
import { publicOrigin } from '../http/public-origin.js';
import { ImageFiles } from './image.files.js';
import { type ImageGeneration, readImageEdit, readImageGeneration } from './image-request.js';
import { type ImageResult, ImageService } from './image.service.js';
import { editImages, fetchImage, generateImages } from './images.openapi.js';

@Controller()
export class ImagesController {
  constructor(
    @Inject(ImageService) private readonly images: ImageService,
    @Inject(ImageFiles) private readonly files: ImageFiles,
    @Inject(FileStore) private readonly store: FileStore,
    @Inject(CONFIG) private readonly config: GatewayConfig,
  ) {}

  @Post(['v1/images/generations', 'vendora/v1/images/generations'])
  @HttpCode(200)
  @RouteRules({ doc: generateImages })
  generate(
    @CallerOf() caller: Caller,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
  ): Promise<ImageResult> {
    const asked = readImageGeneration(body);
    const origin = this.originOf(asked, request);
    return this.images.generate({ caller, asked, requestId: request.id, origin });
  }

  /** By form or JSON; an edit is billed as what it makes. */
  @Post(['v1/images/edits', 'vendora/v1/images/edits'])
  @HttpCode(200)
  @RouteRules({ bodyLimit: PICTURES_BODY_BYTES, multipart: PICTURES_FORM, doc: editImages })
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
  @RouteRules({ access: 'open', doc: fetchImage })
  async file(
    @Param('name') name: string,
    @Query() signature: { exp?: string; sig?: string },
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const file = await this.files.find(name, signature);
    if (!file) throw gone();
    try {
      await sendFile(request, reply, { store: this.store, file });
    } catch (error) {
      throw isMissingFile(error) ? gone() : error;
    }
  }
}

function gone(): ApiError {
  return new ApiError('file_not_found', 'There is no such image, or its link is over.');
}
