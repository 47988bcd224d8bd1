import type { ClientExchange } from '../http/caller.js';
import { answerInTurn } from '../routing/answer-in-turn.js';
import type { DryRun } from '../routing/dry-run.js';
import type { ModelChoice } from '../routing/model-choice.js';
import type { TaskCreator } from './task.creation.js';
import type { TaskOrder } from './task-order.js';
import type { ViewedTask } from './task.view.js';

interface AskedTask<T> {
  readonly choice: Pick<ModelChoice, 'models' | 'named' | 'dryRun'>;
  /** @throws ApiError if the model cannot make it */
  readonly orderOf: (model: string) => Promise<TaskOrder>;
  readonly view: (task: ViewedTask) => T;
}

/** The answer to a repeat after a dead gateway: the task of that gateway. Undefined for any other request. */
export function earlierAnswer<T>(
  { request, reply }: Pick<ClientExchange, 'request' | 'reply'>,
  view: (task: ViewedTask) => T,
): T | undefined {
  const { earlierTask } = request;
  if (!earlierTask) return undefined;
  void reply.header('x-served-model', earlierTask.requestedModel);
  return view(earlierTask);
}

/**
 * Creates the task with the first of the models that an upstream accepts it for; for a dry run, says what would happen.
 * @throws ApiError, without a charge
 */
export async function answerTask<T>(
  creator: TaskCreator,
  { caller, request, reply }: ClientExchange,
  { choice, orderOf, view }: AskedTask<T>,
): Promise<T | DryRun> {
  const earlier = earlierAnswer({ request, reply }, view);
  if (earlier !== undefined) return earlier;
  const turns = creator.turnsOf(request.id, choice, caller.left);
  return answerInTurn(turns, reply, {
    dryRun: choice.dryRun,
    quote: async (model) => creator.quote(await orderOf(model)),
    serve: async (model) => view(await creator.create(await orderOf(model), turns)),
  });
}
