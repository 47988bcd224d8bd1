import { Body, Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import type { GatewayConfig } from '../gateway.config.js';
import { CONFIG } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { MAX_MODEL_CHARS, VIDEO_BODY_BYTES } from '../http/limits.js';
import { noSuchModel } from '../http/model-access.js';
import { publicOrigin } from '../http/public-origin.js';
import { ImageService } from '../images/image.service.js';
import { VideoCreator } from '../videos/video.creation.js';
import { VideoLibrary } from '../videos/video.library.js';
import { inNativeNames, NATIVE, readPredict, readPredictLongRunning, readTarget } from './google-request.js';
import { downloadNativeFile, predict, predictLongRunning, retrieveOperation } from './google.openapi.js';
import { operationName, type OperationView, operationView } from './operation.view.js';

/** In the order of the instances; the reason stands where nothing was made of one. */
interface Predictions {
  predictions: ({ mimeType: string; bytesBase64Encoded: string } | { raiFilteredReason: string })[];
}

const DOWNLOAD = /^([a-z0-9]{20,40}):download$/;

/** The native style of Google's clients (spec 4.1, 4.3). A router would take the colons for parameters: read here. */
@Controller('v1beta')
export class GoogleController {
  constructor(
    @Inject(ImageService) private readonly images: ImageService,
    @Inject(VideoCreator) private readonly creator: VideoCreator,
    @Inject(VideoLibrary) private readonly library: VideoLibrary,
    @Inject(CONFIG) private readonly config: GatewayConfig,
  ) {}

  @Post('models/:target')
  @HttpCode(200)
  @RouteRules({ bodyLimit: VIDEO_BODY_BYTES, doc: [predict, predictLongRunning] })
  async call(
    @CallerOf() caller: Caller,
    @Param('target') target: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
  ): Promise<Predictions | { name: string }> {
    const read = readTarget(target);
    if (read === null) throw noSuchCall(target);
    const { model, call } = read;
    if (!model.startsWith(NATIVE[call].prefix)) throw noSuchModel(model, caller.group);
    return inNativeNames<Predictions | { name: string }>(() =>
      call === 'predict'
        ? this.predict({ caller, model, body, request })
        : this.predictLongRunning({ caller, model, body, requestId: request.id }),
    );
  }

  /** A task whose upstream is down shows its last known state: this client takes every other status for the end. */
  @Get('models/:model/operations/:id')
  @RouteRules({ doc: retrieveOperation })
  async operation(
    @CallerOf() caller: Caller,
    @Param('model') model: string,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<OperationView> {
    const task = await this.library.find(caller.accountId, id);
    // The model is part of the name, and there is no operation of another name.
    if (task.requestedModel !== model) throw noSuchOperation();
    return operationView(task, () => publicOrigin(request, this.config));
  }

  @Get('files/:target')
  @RouteRules({ doc: downloadNativeFile })
  async file(
    @CallerOf() caller: Caller,
    @Param('target') target: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const id = DOWNLOAD.exec(target)?.[1];
    if (id === undefined) throw noSuchCall(target);
    const task = await this.library.find(caller.accountId, id);
    await this.library.send(task, { variant: undefined, request, reply });
  }

  private async predict(call: {
    caller: Caller;
    model: string;
    body: unknown;
    request: FastifyRequest;
  }): Promise<Predictions> {
    const { caller, request } = call;
    const { asked, prompts } = readPredict(call.body, call.model);
    const wanted = { caller, asked, prompts, requestId: request.id, origin: null };
    const { data } = await this.images.generate(wanted);
    return {
      predictions: data.map(({ mime_type = '', b64_json = '', withheld }) =>
        withheld === undefined
          ? { mimeType: mime_type, bytesBase64Encoded: b64_json }
          : { raiFilteredReason: withheld },
      ),
    };
  }

  private async predictLongRunning(call: {
    caller: Caller;
    model: string;
    body: unknown;
    requestId: string;
  }): Promise<{ name: string }> {
    const { caller, requestId } = call;
    const asked = readPredictLongRunning(call.body, call.model);
    const task = await this.creator.create({ caller, asked, dialect: 'google', requestId });
    return { name: operationName(task) };
  }
}

function noSuchOperation(): ApiError {
  return new ApiError('video_not_found', 'There is no such operation of this model.');
}

function noSuchCall(target: string): ApiError {
  const offered = 'models/{imgmodel*}:predict, models/{vidmodel*}:predictLongRunning and files/{id}:download';
  return new ApiError('unknown_url', `There is no ${target.slice(0, MAX_MODEL_CHARS)} here, but ${offered}.`);
}
