import { Controller, Delete, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { Dialect } from '#tasks/task-state.js';
import { Using } from '#platform/wiring.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { AnsweredPost, CallerOf, type ClientExchange, ExchangeOf, RouteRules } from '../http/caller.js';
import { VIDEO_BODY } from '../http/limits.js';
import { anyBody } from '../http/multipart-body.js';
import { asBody } from '../http/fields.js';
import { pathPart } from '../http/path-part.js';
import { publicOrigin } from '../http/public-origin.js';
import type { DryRun } from '../routing/dry-run.js';
import { FORM_CHOICE, readModelChoice } from '../routing/model-choice.js';
import { answerTask } from '../tasks/task-answer.js';
import { TaskCreator } from '../tasks/task.creation.js';
import { VideoOrders } from './video.orders.js';
import { readVideoCreation } from './video-request.js';
import { VideoLibrary, type VideoPage } from './video.library.js';
import type { VideoView } from './video.view.js';
import {
  createVideoOperation,
  deleteVideoOperation,
  downloadVideoOperation,
  generateVideoOperation,
  listVideosOperation,
  retrieveVideoOperation,
} from './videos.openapi.js';

/** Read by the Python SDK's poll helper as its interval, in milliseconds. */
const POLL_AFTER_MS = '2000';

interface DeletedVideo {
  id: string;
  object: 'video.deleted';
  deleted: true;
}

@Controller()
export class VideosController extends Using({
  creator: TaskCreator,
  orders: VideoOrders,
  library: VideoLibrary,
  config: GATEWAY_CONFIG,
}) {
  /** OpenAI's path: its clients know queued, in_progress and completed. */
  @AnsweredPost('v1/videos', { ...VIDEO_BODY, doc: createVideoOperation })
  create(@ExchangeOf('returns') exchange: ClientExchange): Promise<VideoView | DryRun> {
    return this.createIn('openai', exchange);
  }

  /** xAI's paths: its clients know pending and done. */
  @AnsweredPost(['v1/videos/generations', 'vendora/v1/videos/generations'], {
    ...VIDEO_BODY,
    doc: generateVideoOperation,
  })
  generate(@ExchangeOf('returns') exchange: ClientExchange): Promise<VideoView | DryRun> {
    return this.createIn('xai', exchange);
  }

  @Get(['v1/videos', 'vendora/v1/videos'])
  @RouteRules({ doc: listVideosOperation })
  list(
    @CallerOf() caller: Caller,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
  ): Promise<VideoPage> {
    return this.library.page(caller.accountId, query, () => publicOrigin(request, this.config));
  }

  /** Deletes a finished video. Its cost stays on record. */
  @Delete(['v1/videos/:id', 'vendora/v1/videos/:id'])
  @RouteRules({ doc: deleteVideoOperation })
  async remove(@CallerOf() caller: Caller, @Param('id') id: string): Promise<DeletedVideo> {
    const task = await this.library.remove(caller.accountId, id);
    return { id: task.id, object: 'video.deleted', deleted: true };
  }

  /** Never charges. If the upstream is down, the task shows its last known state. */
  @Get(['v1/videos/:id', 'vendora/v1/videos/:id'])
  @RouteRules({ doc: retrieveVideoOperation })
  async retrieve(@ExchangeOf('returns') { caller, request, reply }: ClientExchange): Promise<VideoView> {
    const task = await this.library.find(caller.accountId, pathPart(request, 'id'));
    if (task.endedAtMs === null) void reply.header('openai-poll-after-ms', POLL_AFTER_MS);
    return this.library.view(task, () => publicOrigin(request, this.config));
  }

  @Get(['v1/videos/:id/content', 'vendora/v1/videos/:id/content'])
  @RouteRules({ access: 'signed', doc: downloadVideoOperation })
  async content(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.library.send(await this.library.requested(request), { request, reply });
  }

  private async createIn(dialect: Dialect, exchange: ClientExchange): Promise<VideoView | DryRun> {
    const { caller, request } = exchange;
    const choice = readModelChoice(asBody(await anyBody(request, FORM_CHOICE)), caller);
    const asked = readVideoCreation({ ...choice.body, model: choice.models[0] });
    const call = { caller, dialect, requestId: request.id };
    return answerTask(this.creator, exchange, {
      choice,
      orderOf: (model) => this.orders.orderOf({ ...call, asked: { ...asked, model } }),
      view: (task) => this.library.view(task, () => publicOrigin(request, this.config)),
    });
  }
}
