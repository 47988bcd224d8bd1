import type { ClientExchange } from '../http/caller.js';
import { answerInTurn } from '../routing/answer-in-turn.js';
import type { DryRun } from '../routing/dry-run.js';
import type { ModelChoice } from '../routing/model-choice.js';
import type { ImageCall, ImageResult, ImageService } from './image.service.js';

interface AskedImages<T> {
  readonly choice: Pick<ModelChoice, 'models' | 'named' | 'dryRun'>;
  readonly call: Omit<ImageCall, 'caller' | 'requestId'>;
  readonly view: (result: ImageResult, model: string) => T;
}

/** Makes the images with the first of the models that serves them; for a dry run, says what would happen. @throws ApiError */
export function answerImages<T>(
  images: ImageService,
  { caller, request, reply }: ClientExchange,
  { choice, call, view }: AskedImages<T>,
): Promise<T | DryRun> {
  const turns = images.turnsOf(request.id, choice, caller.left);
  const callOf = (model: string): ImageCall => {
    return { ...call, caller, requestId: request.id, asked: { ...call.asked, model } };
  };
  return answerInTurn(turns, reply, {
    dryRun: choice.dryRun,
    quote: (model) => images.quote(callOf(model)),
    serve: async (model) => view(await images.generate(callOf(model), turns), model),
  });
}
