import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { ImageStreamKind } from '#upstream/outcomes.js';
import { Using } from '#platform/wiring.js';
import { ClientStream } from '../conversation/client-stream.js';
import { ConversationService } from '../conversation/conversation.service.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { AnsweredPost, CallerOf, type ClientExchange, ExchangeOf, RouteRules } from '../http/caller.js';
import { IMAGES_BODY_BYTES, IMAGES_FORM } from '../http/limits.js';
import { asBody, type Body } from '../http/fields.js';
import { publicOrigin } from '../http/public-origin.js';
import { type ModelChoice, readModelChoice } from '../routing/model-choice.js';
import { answerImages } from './image-answer.js';
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
import { ImageLoader } from './image.loader.js';

@Controller()
export class ImagesController extends Using({
  conversations: ConversationService,
  kept: KeptImages,
  loader: ImageLoader,
  images: ImageService,
  files: ImageFiles,
  config: GATEWAY_CONFIG,
}) {
  @AnsweredPost(['v1/images/generations', 'vendora/v1/images/generations'], { doc: generateImagesOperation })
  async generate(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    const { caller, request } = exchange;
    const choice = readModelChoice(asBody(request.body), caller);
    const asked = readImageGeneration({ ...choice.body, model: choice.models[0] });
    if (asked.partialImages !== undefined)
      return this.stream('imageStream', exchange, { asked, inputImages: 0 });
    return this.answer(choice, exchange, { asked });
  }

  /** As a form or JSON. An edit is billed by the images it makes. */
  @AnsweredPost(['v1/images/edits', 'vendora/v1/images/edits'], {
    bodyLimit: IMAGES_BODY_BYTES,
    multipart: IMAGES_FORM,
    doc: editImagesOperation,
  })
  async edit(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    const { caller, request } = exchange;
    const { edit, choice, sent } = await readImageEdit(request, caller);
    const { inputs, ...asked } = edit;
    const { id: requestId, memory } = request;
    const loaded = this.loader.once(inputs, { requestId, accountId: caller.accountId, memory });
    if (asked.partialImages !== undefined) {
      const image = { asked, inputImages: inputs.images.length, inputs: loaded };
      return this.stream('editStream', exchange, { ...image, sent });
    }
    return this.answer(choice, exchange, { asked, inputs, loaded });
  }

  private async answer(
    choice: ModelChoice,
    exchange: ClientExchange,
    call: Pick<ImageCall, 'asked' | 'inputs' | 'loaded'>,
  ): Promise<void> {
    const answer = await answerImages(this.images, exchange, {
      choice,
      call: { ...call, origin: this.originOf(call.asked, exchange.request) },
      view: (result, model) => (choice.named === 1 ? result : { ...result, model }),
    });
    await exchange.reply.send(answer);
  }

  /** A streamed image passes through like a conversation. */
  private stream(
    kind: ImageStreamKind,
    { caller, request, reply }: ClientExchange,
    { sent = asBody(request.body), ...image }: StreamedImage & { sent?: Body },
  ): Promise<void> {
    const { headers, id: requestId } = request;
    const client = new ClientStream(reply);
    return this.conversations.converse({ caller, kind, headers, requestId, body: sent, image }, client);
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
