import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { ImageStreamKind } from '#upstream/outcomes.js';
import { ClientStream } from '../conversation/client-stream.js';
import { ConversationService } from '../conversation/conversation.service.js';
import type { GatewayConfig } from '../gateway.config.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { PICTURES_BODY_BYTES, PICTURES_FORM } from '../http/limits.js';
import { asBody } from '../http/fields.js';
import { publicOrigin } from '../http/public-origin.js';
import { answerInTurn } from '../routing/answer-in-turn.js';
import { readModelChoice } from '../routing/model-choice.js';
import { ImageFiles } from './image.files.js';
import { type ImageGeneration, readImageEdit, readImageGeneration } from './image-request.js';
import { type ImageCall, ImageService } from './image.service.js';
import type { StreamedImage } from './image-stream.js';
import {
  editImagesOperation,
  fetchImageOperation,
  generateImagesOperation,
  listChargeImagesOperation,
} from './images.openapi.js';
import { KeptImages } from './kept-images.js';

@Controller()
export class ImagesController {
  @Inject(ConversationService) private readonly conversations!: ConversationService;
  @Inject(KeptImages) private readonly kept!: KeptImages;

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
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { models, named, dryRun, body } = readModelChoice(asBody(request.body), caller);
    const asked = readImageGeneration({ ...body, model: models[0] });
    const { id: requestId } = request;
    if (asked.partialImages !== undefined)
      return this.stream('imageStream', { caller, request, reply, image: { asked, inputImages: 0 } });
    const callOf = (model: string): ImageCall => {
      return { caller, asked: { ...asked, model }, requestId, origin: this.originOf(asked, request) };
    };
    const turns = this.images.turnsOf(requestId, { models, named }, caller.left);
    const made = await answerInTurn(turns, reply, {
      dryRun,
      quote: (model) => this.images.quote(callOf(model)),
      serve: async (model) => {
        const result = await this.images.generate(callOf(model), turns);
        return { model, answer: named === 1 ? result : { ...result, model } };
      },
    });
    await answer(reply, made);
  }

  /** As a form or JSON. An edit is billed by the images it makes. */
  @Post(['v1/images/edits', 'vendora/v1/images/edits'])
  @HttpCode(200)
  @RouteRules({ bodyLimit: PICTURES_BODY_BYTES, multipart: PICTURES_FORM, doc: editImagesOperation })
  async edit(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { pictures, ...asked } = await readImageEdit(request);
    const origin = this.originOf(asked, request);
    const { id: requestId, memory } = request;
    const call = { caller, asked, pictures, memory, requestId, origin };
    if (asked.partialImages === undefined) return answer(reply, await this.images.generate(call));
    let loaded: ReturnType<ImageService['loaded']> | undefined;
    const load = () => (loaded ??= this.images.loaded(pictures, call));
    const image = { asked, inputImages: pictures.images.length, pictures: load };
    return this.stream('editStream', { caller, request, reply, image });
  }

  /** A streamed image passes through like a conversation. */
  private stream(
    kind: ImageStreamKind,
    call: { caller: Caller; request: FastifyRequest; reply: FastifyReply; image: StreamedImage },
  ): Promise<void> {
    const { caller, request, reply, image } = call;
    const { headers, id: requestId } = request;
    const body = kind === 'imageStream' ? asBody(request.body) : { model: image.asked.model };
    const client = new ClientStream(reply);
    return this.conversations.converse({ caller, kind, headers, requestId, body, image }, client);
  }

  /** Null if the answer has no links. */
  private originOf({ format }: Pick<ImageGeneration, 'format'>, request: FastifyRequest): string | null {
    return format === 'b64_json' ? null : publicOrigin(request, this.config);
  }

  /** `signed`: the console requests a file whose key may have been deleted. */
  @Get('v1/charges/:id/images')
  @RouteRules({ access: 'signed', counted: true, doc: listChargeImagesOperation })
  async ofCharge(@CallerOf() caller: Caller, @Param('id') id: string, @Req() request: FastifyRequest) {
    const images = await this.kept.of(caller.accountId, id);
    const origin = publicOrigin(request, this.config);
    const data = images.map(({ index, path, type, untilMs }) => {
      return { index, url: origin + path, mime_type: type, expires_at: Math.floor(untilMs / 1_000) };
    });
    return { object: 'list', data };
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

async function answer(reply: FastifyReply, body: object): Promise<void> {
  await reply.send(body);
}
