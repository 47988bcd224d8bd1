import { Controller, Get, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { Using } from '#platform/wiring.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { CallerOf, type ClientExchange, ExchangeOf, RouteRules } from '../http/caller.js';
import { pathPart } from '../http/path-part.js';
import { publicOrigin } from '../http/public-origin.js';
import { VideoLibrary } from '../videos/video.library.js';
import { noSuchCall } from './google-request.js';
import { downloadNativeFileOperation, retrieveLongRunningOperation } from './google.openapi.js';
import { type OperationView, operationView } from './operation.view.js';

const DOWNLOAD = /^([a-z0-9]{20,40}):download$/;

/** What became of the long-running calls of Google's clients, and the files that they made. */
@Controller('v1beta')
export class GoogleOperationsController extends Using({ library: VideoLibrary, config: GATEWAY_CONFIG }) {
  /** If the upstream is down, the task shows its last known state: these clients treat any other status as the end. */
  @Get('models/:model/operations/:id')
  @RouteRules({ doc: retrieveLongRunningOperation })
  async operation(
    @CallerOf() caller: Caller,
    @Param() { model, id }: { model: string; id: string },
    @Req() request: FastifyRequest,
  ): Promise<OperationView> {
    const task = await this.library.find(caller.accountId, id);
    // The model is part of the name, so there is no operation under another name.
    if (task.requestedModel !== model) throw noSuchOperation();
    return operationView(task, () => publicOrigin(request, this.config));
  }

  @Get('files/:target')
  @RouteRules({ doc: downloadNativeFileOperation })
  async file(@ExchangeOf('sends') { caller, request, reply }: ClientExchange): Promise<void> {
    const target = pathPart(request, 'target');
    const id = DOWNLOAD.exec(target)?.[1];
    if (id === undefined) throw noSuchCall(target);
    const task = await this.library.find(caller.accountId, id);
    await this.library.send(task, { request, reply });
  }
}

function noSuchOperation(): ApiError {
  return new ApiError('video_not_found', 'There is no such operation of this model.');
}
