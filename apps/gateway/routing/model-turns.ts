import { chargeIdOf } from '#ledger/charges/charge-ids.js';
import type { Clock } from '#platform/clock.js';
import { ApiError, type ErrorCode } from '#platform/errors.js';
import { ModelBusy, ModelWithoutChannel } from './model-busy.js';
import type { ModelChoice } from './model-choice.js';

/** A model that did not serve a request, and why. */
export interface Miss {
  readonly model: string;
  readonly error: ApiError;
}

/** Faults of a model in a list after which the next one is tried. */
const OF_ONE_MODEL: readonly ErrorCode[] = [
  'model_not_found',
  'model_not_allowed',
  'model_not_supported_here',
];

/**
 * Refusals of a request by what a model takes or costs, all from before its hold: what an upstream refuses has other codes. Of a
 * model that the client named they are final.
 */
const BEFORE_HOLD: readonly ErrorCode[] = [
  'invalid_value',
  'missing_required_parameter',
  'insufficient_user_quota',
  'key_limit_exceeded',
  'account_limit_exceeded',
];

/** Text that a header can contain as it is. Any other text is from the client, of any length. */
const MODEL_ID = /^[\w.:/@-]{1,100}$/;

/**
 * Takes one request through its models, one after the other, as long as each provably has not accepted the work. Each that
 * gets as far as a hold has a charge of its own, which is released before the next model is asked: what is charged is the
 * price of the model that served, held as such.
 */
export class ModelTurns {
  private readonly misses: Miss[] = [];
  private charges = 0;
  private limits: Record<string, string> = {};

  constructor(
    private readonly request: {
      id: string;
      models: readonly string[];
      /** The number of models named by the client. The others are its key's fallbacks. Absent means all. */
      named?: number;
      /** By the elapsed time, like every limit of a request. */
      limitAtMs: number;
      clock: Clock;
      /** Aborted when the client has left, so that no further model begins work. */
      left?: AbortSignal | undefined;
    },
  ) {}

  get models(): readonly string[] {
    return this.request.models;
  }

  get limitAtMs(): number {
    return this.request.limitAtMs;
  }

  /** For a hold that is about to be requested. */
  nextChargeId(): string {
    const ordinal = this.charges;
    this.charges += 1;
    return chargeIdOf(this.request.id, ordinal);
  }

  /** The headers about the model that serves and those before it. Names that no model can have are not repeated. */
  headersFor(model: string): Record<string, string> {
    const failed = this.misses.map(
      (miss) => `${MODEL_ID.test(miss.model) ? miss.model : 'unknown'}=${miss.error.code}`,
    );
    const tried = failed.length > 0 && { 'x-failed-models': failed.join(', ') };
    return { 'x-served-model': model, ...tried, ...this.limits };
  }

  /** The remainder of the limits that the request counted against. */
  noteLimits(headers: Record<string, string>): void {
    this.limits = headers;
  }

  /** Nobody is waiting for another model: the client has left, or the request has timed out. */
  get isOver(): boolean {
    const { left, clock } = this.request;
    return left?.aborted === true || clock.elapsedMs() >= this.limitAtMs;
  }

  /**
   * Whether the model in this place can be tried after these misses. The key's models replace a model that is busy, failing or
   * without a channel. A wrong or forbidden name is for the client to fix.
   */
  mayAsk(place: number, misses: readonly Miss[] = this.misses): boolean {
    const { models, named = models.length } = this.request;
    const isFailing = ({ error }: Miss) => error instanceof ModelBusy || error instanceof ModelWithoutChannel;
    return place < named || misses.some(isFailing);
  }

  /**
   * Whether this error skips the model in this place. A model of the key is also skipped if the request is too large for it: the
   * client did not name it, and should get the answer of the model that it named.
   */
  isMiss(place: number, error: unknown): error is ApiError {
    if (isFaultOfModel(error)) return true;
    const { models, named = models.length } = this.request;
    return place >= named && error instanceof ApiError && BEFORE_HOLD.includes(error.code);
  }

  /** @throws ApiError the first model's if none has served; immediately if it is not a model's fault */
  async serve<T>(attempt: (model: string) => Promise<T>): Promise<T> {
    for (const [place, model] of this.models.entries()) {
      if (!this.mayAsk(place)) break;
      try {
        return await attempt(model);
      } catch (error) {
        if (!this.isMiss(place, error)) throw error;
        this.misses.push({ model, error });
        if (this.isOver) break;
      }
    }
    throw refusalOf(this.misses);
  }
}

/** Starts the turns of requests that have this long for all of their models. */
export function turnsWithin(limitMs: number, clock: Clock) {
  return (
    id: string,
    { models, named }: Pick<ModelChoice, 'models' | 'named'>,
    left?: AbortSignal,
  ): ModelTurns => new ModelTurns({ id, models, named, limitAtMs: clock.elapsedMs() + limitMs, clock, left });
}

/** Whether another model of the list can still serve the request. */
function isFaultOfModel(error: unknown): error is ApiError {
  return error instanceof ModelBusy || (error instanceof ApiError && OF_ONE_MODEL.includes(error.code));
}

/**
 * The error for the client if none has served. If a model was busy, the request is worth repeating, whatever the others said.
 */
export function refusalOf(misses: readonly Miss[]): ApiError {
  const { error } = misses.find((miss) => miss.error instanceof ModelBusy) ?? misses[0]!;
  if (misses.length === 1) return error;
  const tried = misses.map(({ model }) => model).join(', ');
  return new ApiError(
    error.code,
    `None of the models accepted the request: ${tried}. ${error.message}`,
    error,
  );
}
