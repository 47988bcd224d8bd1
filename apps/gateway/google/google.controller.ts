import { Controller, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { VIDEO_BODY_BYTES } from '../http/limits.js';
import { noSuchModel } from '../http/model-access.js';
import { ImageService } from '../images/image.service.js';
import { VideoCreator } from '../videos/video.creation.js';
import {
  inNativeNames,
  NATIVE,
  NATIVE_CALLS,
  noSuchCall,
  readPredict,
  readPredictLongRunning,
  readTarget,
} from './google-request.js';
import { predictOperation, predictLongRunningOperation } from './google.openapi.js';
import { operationName } from './operation.view.js';

/** In the order of the instances. A failed instance has its reason instead. */
interface Predictions {
  predictions: ({ mimeType: string; bytesBase64Encoded: string } | { raiFilteredReason: string })[];
}

/** The native style of Google's clients. Its paths are read here because a router would take the colons for parameters. */
@Controller('v1beta')
export class GoogleController {
  constructor(
    @Inject(ImageService) private readonly images: ImageService,
    @Inject(VideoCreator) private readonly creator: VideoCreator,
  ) {}

  @Post('models/:target')
  @HttpCode(200)
  @RouteRules({ bodyLimit: VIDEO_BODY_BYTES, doc: [predictOperation, predictLongRunningOperation] })
  async call(
    @CallerOf() caller: Caller,
    @Param('target') target: string,
    @Req() request: FastifyRequest,
  ): Promise<Predictions | { name: string }> {
    const { body } = request;
    const read = readTarget(target, NATIVE_CALLS);
    if (read === null) throw noSuchCall(target);
    const { model, call } = read;
    if (!NATIVE[call].name.test(model)) throw noSuchModel(model, caller.group);
    return inNativeNames<Predictions | { name: string }>(() =>
      call === 'predict'
        ? this.predict({ caller, model, body, request })
        : this.predictLongRunning({ caller, model, body, requestId: request.id }),
    );
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
