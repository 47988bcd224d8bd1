import { Controller } from '@nestjs/common';
import { Using } from '#platform/wiring.js';
import { AnsweredPost, type ClientExchange, ExchangeOf } from '../http/caller.js';
import { VIDEO_BODY_BYTES } from '../http/limits.js';
import { noSuchModel } from '../http/model-access.js';
import { pathPart } from '../http/path-part.js';
import type { ImageRecord } from '../images/image.records.js';
import { answerImages } from '../images/image-answer.js';
import { ImageService } from '../images/image.service.js';
import type { DryRun } from '../routing/dry-run.js';
import { answerTask } from '../tasks/task-answer.js';
import { TaskCreator } from '../tasks/task.creation.js';
import { VideoOrders } from '../videos/video.orders.js';
import {
  inNativeNames,
  NATIVE,
  NATIVE_CALLS,
  noSuchCall,
  readNativeChoice,
  readPredict,
  readPredictLongRunning,
  readTarget,
} from './google-request.js';
import { predictOperation, predictLongRunningOperation } from './google.openapi.js';
import { operationName } from './operation.view.js';

/** In the order of the instances. A failed instance has its reason instead. */
interface Predictions {
  predictions: PredictionView[];
}

type PredictionView = { mimeType: string; bytesBase64Encoded: string } | { raiFilteredReason: string };

/** The native style of Google's clients. Its paths are read here because a router would take the colons for parameters. */
@Controller('v1beta')
export class GoogleController extends Using({
  images: ImageService,
  videos: VideoOrders,
  creator: TaskCreator,
}) {
  @AnsweredPost('models/:target', {
    bodyLimit: VIDEO_BODY_BYTES,
    doc: [predictOperation, predictLongRunningOperation],
  })
  async call(
    @ExchangeOf('returns') exchange: ClientExchange,
  ): Promise<Predictions | { name: string } | DryRun> {
    const target = pathPart(exchange.request, 'target');
    const read = readTarget(target, NATIVE_CALLS);
    if (read === null) throw noSuchCall(target);
    const { model, call } = read;
    if (!NATIVE[call].name.test(model)) throw noSuchModel(model, exchange.caller.group);
    return inNativeNames<Predictions | { name: string } | DryRun>(() =>
      call === 'predict' ? this.predict(model, exchange) : this.predictLongRunning(model, exchange),
    );
  }

  private predict(named: string, exchange: ClientExchange): Promise<Predictions | DryRun> {
    const choice = readNativeChoice(exchange.request.body, named, exchange.caller);
    return answerImages(this.images, exchange, {
      choice,
      call: { ...readPredict(choice.body, named), origin: null },
      view: ({ data }) => ({ predictions: data.map(predictionOf) }),
    });
  }

  private predictLongRunning(named: string, exchange: ClientExchange): Promise<{ name: string } | DryRun> {
    const { caller, request } = exchange;
    const choice = readNativeChoice(request.body, named, caller);
    const asked = readPredictLongRunning(choice.body, named);
    const call = { caller, dialect: 'google' as const, requestId: request.id };
    return answerTask(this.creator, exchange, {
      choice,
      orderOf: (model) => this.videos.orderOf({ ...call, asked: { ...asked, model } }),
      view: (task) => ({ name: operationName(task) }),
    });
  }
}

function predictionOf({ mime_type = '', b64_json = '', withheld }: ImageRecord): PredictionView {
  return withheld === undefined
    ? { mimeType: mime_type, bytesBase64Encoded: b64_json }
    : { raiFilteredReason: withheld };
}
