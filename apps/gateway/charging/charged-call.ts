import type { Channel } from '#catalog/catalog.js';
import type { CallOutcome, ChannelHealth, Place, Work } from '#upstream/health/channel-health.js';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import { traced } from '#platform/tracing.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ApiError } from '#platform/errors.js';
import type { NotAccepted } from '#upstream/outcomes.js';
import type { Quote } from '#pricing/quote.js';
import type { ChargeOrder, ChargeService, Hold, PricedOrder } from './charge.service.js';
import { type AskedWork, attemptSpan, noteAnswer } from './attempt-trace.js';
import { enterChannel, type ChannelEntry } from './channel-entry.js';
import type { ChargeOutcome, ResolutionPost } from './resolution.post.js';
import type { MinuteWork, RequestLimiter } from '../protection/request-limiter.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { GatewayMetrics } from '../gateway.metrics.js';
import { refuseOtherModels } from '../http/model-access.js';
import { ModelBusy } from '../routing/model-busy.js';

export interface ChargedCallParts {
  readonly service: ChargeService;
  readonly post: ResolutionPost;
  readonly health: ChannelHealth;
  readonly limiter: Pick<RequestLimiter, 'takeWork'>;
  /** Called with a request whose hold was released and that no upstream started. */
  readonly onNothingTaken: (requestId: string) => void;
}

/** What a service that calls upstreams for a hold works with. */
export interface ServingParts {
  calls: ChargedCalls;
  upstreams: Upstreams;
  health: ChannelHealth;
  config: GatewayConfig;
  clock: Clock;
  metrics: GatewayMetrics;
  log: Logger;
}

/** The work that counts towards the limits per minute. */
export interface CountedWork {
  readonly work: MinuteWork;
  /** Called with the headers of these limits. */
  tell(headers: Record<string, string>): void;
}

/** What a channel answered. */
export interface ChannelAnswer<O> {
  readonly outcome: O | NotAccepted;
  readonly channel: Channel;
}

/** All outcomes that mean that a channel did not accept the work. */
export type Failed<O, K> = Exclude<O | NotAccepted, { kind: K }>;

export interface ChannelAttempts<O extends CallOutcome, K extends O['kind']> {
  readonly work: Work;
  /** What is requested, for observers of the call. */
  readonly asked: AskedWork;
  /** The outcome that means that a channel accepted the work. */
  readonly taken: K;
  ask(channel: Channel): Promise<O>;
  /** Called before each channel with the previous one's answer. False stops trying channels. */
  mayAsk(channel: Channel, before: ChannelAnswer<O> | null): boolean | Promise<boolean>;
  /** Called with every answer that did not accept the work. */
  onFailure(failure: Failed<O, K>, channel: Channel): void;
  /** Whether the caller has left, so that an answer says nothing about the channel. */
  readonly isGivenUp?: () => boolean;
}

/**
 * The steps of every paid call, in this order: a place on a channel, the hold, the channels in turn. What is requested of them,
 * and how it is delivered and resolved, depends on the type.
 */
export class ChargedCalls {
  constructor(private readonly parts: ChargedCallParts) {}

  /** Keeps capacity on one of the channels for as long as the work takes. @throws ApiError as `enterChannel` */
  async withChannel<T>(
    channels: readonly Channel[],
    wanted: Parameters<typeof enterChannel>[2],
    work: (entry: ChannelEntry) => Promise<T>,
  ): Promise<T> {
    const entry = await enterChannel(this.parts.health, channels, wanted);
    try {
      return await work(entry);
    } finally {
      entry.place.leave();
    }
  }

  /** The amount that would be held for a caller whose key allows the model. @throws ApiError */
  async quote(order: PricedOrder): Promise<Quote> {
    refuseOtherModels(order.caller, order.model);
    return this.parts.service.quote(order);
  }

  /**
   * Counts the work of a request, by its first model only, and holds credits for it.
   * @throws ApiError if nothing is held. A hold without an answer that still arrives is refused.
   */
  async hold(order: ChargeOrder, counted?: CountedWork): Promise<Hold> {
    const { service, post, limiter } = this.parts;
    if (counted && order.chargeId === order.requestId)
      counted.tell(await limiter.takeWork(order.caller, counted.work));
    const outcome = await service.hold(order);
    if (outcome.kind === 'held') return outcome.hold;
    if (outcome.kind === 'undecided') await post.abandon(order, order.caller.accountId);
    throw outcome.error;
  }

  /**
   * Releases the hold of work that failed with the error. @returns the error for the client, which lets another model take the
   * work only once the release is committed, so that a request never holds twice
   */
  async release(hold: Hold, failed: Omit<ChargeOutcome, 'delivered'>, error: ApiError): Promise<ApiError> {
    const { post, onNothingTaken } = this.parts;
    const isCommitted = await post.release(hold, hold.accountId, { ...failed, delivered: null });
    if (!(error instanceof ModelBusy)) return error;
    if (!isCommitted) return error.asFinal();
    onNothingTaken(hold.requestId);
    return error;
  }

  /** The same for a client that has left, if no upstream began the work: a repeat under its key then starts over. */
  async releaseUntaken(hold: Hold, failed: Omit<ChargeOutcome, 'delivered'>): Promise<void> {
    const { post, onNothingTaken } = this.parts;
    if (await post.release(hold, hold.accountId, { ...failed, delivered: null }))
      onNothingTaken(hold.requestId);
  }

  /**
   * Calls one channel after the other, as long as each provably did not accept the work.
   * @returns the last answer, or null if no channel was called; and whether `mayAsk` ended it
   */
  async askInTurn<O extends CallOutcome, K extends O['kind']>(
    entry: ChannelEntry,
    asking: ChannelAttempts<O, K>,
  ): Promise<{ last: ChannelAnswer<O> | null; isStopped: boolean }> {
    let last: ChannelAnswer<O> | null = null;
    let place: Place | undefined = entry.place;
    for (const channel of entry.channels) {
      if (!(await asking.mayAsk(channel, last))) return { last, isStopped: true };
      const outcome = await this.askOne(channel, asking, place);
      place = undefined;
      last = { outcome, channel };
      if (outcome.kind !== asking.taken) asking.onFailure(outcome as Failed<O, K>, channel);
      if (outcome.kind !== 'not_accepted') break;
    }
    return { last, isStopped: false };
  }

  private askOne<O extends CallOutcome, K extends O['kind']>(
    channel: Channel,
    asking: ChannelAttempts<O, K>,
    place: Place | undefined,
  ): Promise<O | NotAccepted> {
    const { work, taken, isGivenUp } = asking;
    const { name, ...plan } = attemptSpan(channel, asking.asked);
    return traced(name, plan, async (span) => {
      const outcome = await this.parts.health.run(channel, () => asking.ask(channel), {
        work,
        place,
        isGivenUp,
      });
      noteAnswer(span, outcome, outcome.kind === taken);
      return outcome;
    });
  }
}
