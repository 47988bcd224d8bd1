import { Controller } from '@nestjs/common';
import { Using } from '#platform/wiring.js';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { AnsweredPost, type ClientExchange, ExchangeOf } from '../http/caller.js';
import { VIDEO_BODY } from '../http/limits.js';
import { anyBody } from '../http/multipart-body.js';
import { pathPart } from '../http/path-part.js';
import { publicOrigin } from '../http/public-origin.js';
import type { DryRun } from '../routing/dry-run.js';
import { FORM_CHOICE } from '../routing/model-choice.js';
import { answerTask, earlierAnswer } from '../tasks/task-answer.js';
import type { ViewedTask } from '../tasks/task.view.js';
import { TaskCreator } from '../tasks/task.creation.js';
import { VideoLibrary } from './video.library.js';
import { readRemix } from './video-request.js';
import { RemixOrders } from './remix.orders.js';
import type { VideoView } from './video.view.js';
import { remixVideoOperation } from './videos.openapi.js';

/** OpenAI's way to remix a finished video. The result is a video like any other. */
@Controller('v1/videos/:id/remix')
export class RemixesController extends Using({
  creator: TaskCreator,
  orders: RemixOrders,
  library: VideoLibrary,
  config: GATEWAY_CONFIG,
}) {
  @AnsweredPost('', { ...VIDEO_BODY, doc: remixVideoOperation })
  async remix(@ExchangeOf('returns') exchange: ClientExchange): Promise<VideoView | DryRun> {
    const { caller, request, reply } = exchange;
    const { prompt, dryRun } = readRemix(await anyBody(request, FORM_CHOICE));
    const view = (task: ViewedTask) => this.library.view(task, () => publicOrigin(request, this.config));
    // Its source may have been deleted since.
    const earlier = earlierAnswer({ request, reply }, view);
    if (earlier) return earlier;
    const id = pathPart(request, 'id');
    const order = await this.orders.orderOf({ caller, id, prompt, requestId: request.id });
    return answerTask(this.creator, exchange, {
      choice: { models: [order.model.id], named: 1, dryRun },
      orderOf: () => Promise.resolve(order),
      view,
    });
  }
}
