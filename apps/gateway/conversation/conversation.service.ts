import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Catalog, CatalogModel, Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { formatAmount, nanos } from '#money/amount.js';
import type { Clock } from '#platform/clock.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/channel-health.js';
import type { StreamAnswer, StreamKind, StreamOutcome, StreamRequest } from '#upstream/outcomes.js';
import { UsageMeter } from '#upstream/usage-meter.js';
import type { ChargedCalls } from '../charging/charged-call.js';
import type { Hold } from '../charging/charge.service.js';
import { inClientsName, type Line, linesFor, noLine, upstreamModel, workOf } from '../charging/lines.js';
import { deadlineAfter, type ResolutionPost } from '../charging/resolution.post.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { GatewayMetrics } from '../gateway.metrics.js';
import { type Body, requiredText } from '../http/fields.js';
import { MAX_MODEL_CHARS } from '../http/limits.js';
import { internalError } from '#platform/http/refusal.js';
import { modelForGroup, notSupportedHere, refuseOtherFamily } from '../http/model-access.js';
import type { PictureReader } from '../images/picture.reader.js';
import { refuseBeyondLimits } from '../http/model-limits.js';
import { type Ending, relayAnswer } from './answer.relay.js';
import type { ClientStream } from './client-stream.js';
import { dearestInput } from './cache-writes.js';
import { type Delivery, deliveryOf, type Estimated, mostTokens, unitsOf } from './conversation.delivery.js';
import { measuresOf, refuseUnmeasured } from './conversation-limits.js';
import { type Conversation, readConversation, withModelsLimit } from './conversation-request.js';
import { picturesOf } from './conversation-pictures.js';
import { Drains } from './drains.js';
import { faultEvent } from './stream-fault.js';
import { estimateInput, estimateOutput, speechOf } from './token-estimate.js';

export interface ConversationCall {
  caller: Caller;
  kind: StreamKind;
  body: Body;
  headers: StreamRequest['headers'];
  requestId: string;
}

/** A call that may be made: what it is and who may do it. */
interface Prepared extends ConversationCall, Estimated {
  channels: readonly Channel[];
  limitAtMs: number;
}

/** A call whose money is held. */
interface Held extends Prepared {
  hold: Hold;
  line: Line;
  startedAt: number;
  /** Breaks the upstream call off: at the limit, or when the client has left. */
  stop: AbortSignal;
}

type Failure = Exclude<StreamOutcome, StreamAnswer> & { channel: string | null };
/** `model`: how the channel's vendor names it. */
type Opened = StreamAnswer & { channel: string; model: string };

export interface ConversationParts {
  catalog: CatalogCache;
  calls: ChargedCalls;
  reader: PictureReader;
  post: ResolutionPost;
  upstreams: Upstreams;
  health: ChannelHealth;
  config: GatewayConfig;
  clock: Clock;
  metrics: GatewayMetrics;
  log: Logger;
}

/**
 * Chats, responses, messages and speech pass through: hold by an estimate, upstream, settle by what was used, and only
 * then the end of the answer (design.md 3). Whatever breaks in between, the charge is resolved once.
 */
export class ConversationService {
  private readonly open = new Set<Promise<void>>();

  private readonly drains: Drains;

  constructor(private readonly parts: ConversationParts) {
    const { streamDrainMs: drainMs, streamDrainsPerAccount: perAccount } = parts.config;
    this.drains = new Drains({ drainMs, perAccount });
  }

  /** Answers the client, whole or as a stream. @throws ApiError, after the release, while nothing has been sent */
  converse(call: ConversationCall, client: ClientStream): Promise<void> {
    const work = this.run(call, client);
    const open = work
      .catch(() => undefined)
      .finally(() => {
        this.open.delete(open);
      });
    this.open.add(open);
    return work;
  }

  /** Waits until every conversation is resolved; their connections are closed by then, so that is soon. */
  async finished(): Promise<void> {
    const patience = setTimeout(() => this.drains.stopAll(), DRAINS_AT_SHUTDOWN_MS);
    await Promise.all(this.open);
    clearTimeout(patience);
  }

  private async run(call: ConversationCall, client: ClientStream): Promise<void> {
    const prepared = await this.prepare(call);
    const { model, caller, channels } = prepared;
    const { calls, clock, config } = this.parts;
    const waitMs = Math.min(config.channelWaitMs, prepared.limitAtMs - clock.nowMs());
    await calls.onLine(channels, { model, caller, waitMs }, async (line) => {
      const hold = await this.hold(prepared);
      await this.runHeld({ ...prepared, line, hold }, client);
    });
  }

  private async runHeld(
    prepared: Prepared & Pick<Held, 'line' | 'hold'>,
    client: ClientStream,
  ): Promise<void> {
    const stop = new AbortController();
    const limit = setTimeout(() => stop.abort(), prepared.limitAtMs - this.parts.clock.nowMs());
    // An answer that nobody can see grow is finished for a client that left, as an image is.
    const watched = isGradual(prepared.asked)
      ? this.drains.watch(prepared.caller.accountId, client.left, stop)
      : undefined;
    const held: Held = { ...prepared, stop: stop.signal, startedAt: performance.now() };
    const { kind } = prepared;
    this.parts.metrics.openConversations.inc({ kind });
    try {
      await this.answer(held, client);
    } finally {
      clearTimeout(limit);
      watched?.();
      this.parts.metrics.openConversations.dec({ kind });
    }
  }

  private async prepare(call: ConversationCall): Promise<Prepared> {
    const { catalog, clock, config } = this.parts;
    const limitAtMs = clock.nowMs() + config.streamLimitMs;
    const current = await catalog.get();
    const { kind, caller, body } = call;
    const model = modelFor(current, call);
    refuseOtherFamily(model, kind === 'speech' ? 'speech' : 'chat');
    const channels = linesFor(this.parts, current, { model, caller, capability: kind });
    const asked = withModelsLimit(readConversation(kind, body), model.limits);
    const input = estimateInput(asked.body, model.limits);
    const output = estimateOutput(asked, model.limits);
    refuseBeyondLimits(model, measuresOf(asked, input, speechOf(asked, model.limits)));
    refuseUnmeasured(model, asked, input);
    const priced = { catalog: current, model, group: caller.group, atMs: clock.nowMs() };
    const dearest = dearestInput(asked, priced);
    await this.parts.reader.check(caller.accountId, picturesOf(asked.body), caller.left);
    return { ...call, asked, model, channels, limitAtMs, input, output, dearest };
  }

  private hold(prepared: Prepared): Promise<Hold> {
    const { calls, config } = this.parts;
    const { caller, model, requestId, limitAtMs } = prepared;
    return calls.hold({
      chargeId: requestId,
      caller,
      model,
      units: unitsOf(prepared),
      ...(model.unit === 'token' && { tokens: mostTokens(prepared) }),
      deadlineMs: deadlineAfter(limitAtMs, config),
      taskId: null,
      requestId,
    });
  }

  private async answer(held: Held, client: ClientStream): Promise<void> {
    const opened = await this.askUpstreams(held, client).catch(async (error: unknown) => {
      await this.release(held, { channel: null, upstreamStatus: null, error: internalError() });
      throw error;
    });
    if (opened.kind !== 'answer') {
      const isGone = client.left.aborted && isGradual(held.asked);
      // The upstream took the work and was not heard of in the time that it had after the client left.
      if (isGone && opened.kind === 'unknown' && held.stop.aborted) {
        const delivery = this.deliveryOf(held, { how: 'left' }, new UsageMeter(held.kind));
        if (delivery) return this.settle(held, { ...opened, status: opened.upstreamStatus }, delivery);
      }
      const error = isGone ? null : this.errorFor(held, opened);
      await this.release(held, { ...opened, error });
      if (error) throw error;
      return;
    }
    crashPoint('upstream.accepted');
    const meter = new UsageMeter(held.kind, held.dearest === 'cacheWrite1h');
    const clientsModel = opened.model === held.model.id ? null : held.model.id;
    const { asked, stop } = held;
    const ending = await relayAnswer(opened, { ...asked, meter, client, stop, clientsModel });
    const delivery = this.deliveryOf(held, ending, meter);
    const fault = this.faultOf(held, ending, delivery);
    if (delivery) await this.settle(held, opened, delivery);
    else await this.release(held, { channel: opened.channel, upstreamStatus: opened.status, error: fault });
    if (fault && !client.left.aborted) this.report(held, opened, ending);
    await this.finish(held, { ending, client, fault });
  }

  private async askUpstreams(held: Held, client: ClientStream): Promise<Opened | Failure> {
    const { left } = client;
    const { last } = await this.parts.calls.askInTurn<StreamOutcome, 'answer'>(held.line, {
      work: workOf(held.caller, held.model),
      taken: 'answer',
      mayAsk: () => !held.stop.aborted && !(left.aborted && isGradual(held.asked)),
      ask: (channel) => this.askUpstream(held, channel),
      onFailure: (failure, { id: channel }) => {
        if (!left.aborted) this.report(held, { channel }, { ...failure, channel });
      },
      isGivenUp: () => held.stop.aborted && left.aborted,
    });
    if (!last) return notInTime;
    const { outcome, channel } = last;
    if (outcome.kind !== 'answer') return { ...outcome, channel: channel.id };
    return { ...outcome, channel: channel.id, model: upstreamModel(channel, held.model) };
  }

  private async askUpstream(held: Held, channel: Channel): Promise<StreamOutcome> {
    const { upstreams, metrics } = this.parts;
    const { kind, headers, asked, model, stop } = held;
    const timed = metrics.upstreamSeconds.startTimer({ channel: channel.id, operation: kind });
    crashPoint('upstream.before');
    const request = {
      kind,
      model: upstreamModel(channel, model),
      body: asked.body,
      ...(headers && { headers }),
    };
    const outcome = await upstreams.adapterFor(channel.protocol).openStream(channel, request, stop);
    timed({ outcome: outcome.kind });
    return inClientsName(outcome, channel, model);
  }

  /** What was delivered; what it used beyond the hold is logged, since the operator bears it. */
  private deliveryOf(held: Held, ending: Ending, meter: UsageMeter): Delivery | null {
    const { hold, model } = held;
    const delivery = deliveryOf(held, ending, meter);
    const excess = delivery?.tokens ? hold.excessOf(delivery.tokens) : 0n;
    if (excess > 0n) {
      const { chargeId, requestId, amount } = hold;
      const facts = { chargeId, requestId, model: model.id, held: formatAmount(amount) };
      this.parts.log.warn(
        { ...facts, excess: formatAmount(nanos(excess)) },
        'an answer used more than was held for it; the operator bears the excess',
      );
      this.parts.metrics.exceededHolds.inc({ model: model.id });
    }
    return delivery;
  }

  private async settle(
    held: Held,
    opened: Pick<Failure, 'channel'> & { status: number | null },
    { units, tokens }: Delivery,
  ): Promise<void> {
    const { hold, startedAt } = held;
    await this.parts.post.settle(hold, hold.accountId, {
      delivered: units,
      tokens,
      channel: opened.channel,
      upstreamStatus: opened.status,
      latencyMs: performance.now() - startedAt,
    });
  }

  private async release(
    { hold, startedAt }: Held,
    failed: { channel: string | null; upstreamStatus: number | null; error: ApiError | null },
  ): Promise<void> {
    const { channel, upstreamStatus, error } = failed;
    await this.parts.post.release(hold, hold.accountId, {
      delivered: null,
      channel,
      reason: error ? { code: error.code, message: error.message } : clientLeft,
      upstreamStatus,
      latencyMs: performance.now() - startedAt,
    });
  }

  /** What the client is told of an answer that broke; null for a whole one, and for a client that is gone. */
  private faultOf({ limitAtMs, model }: Held, ending: Ending, delivery: Delivery | null): ApiError | null {
    if (ending.how !== 'broken') return null;
    const { clock, config } = this.parts;
    const isLate = clock.nowMs() >= limitAtMs;
    const what = isLate ? `took longer than ${config.streamLimitMs / 1000} seconds` : 'broke off';
    const cost = delivery ? 'Only what was sent of it is charged.' : 'Nothing was charged.';
    return new ApiError('generation_failed', `The answer of ${model.id} ${what}. ${cost}`, {
      shouldRetry: false,
    });
  }

  /** Ends the client's answer, now that it is paid: whole, or with a fault that it cannot overlook. */
  private async finish(
    { asked, requestId }: Held,
    { ending, client, fault }: { ending: Ending; client: ClientStream; fault: ApiError | null },
  ): Promise<void> {
    if (ending.how === 'left') return client.break();
    if (ending.how === 'whole') {
      if (client.started) client.end(ending.last);
      else await client.sendWhole(ending.last ?? Buffer.alloc(0), ending.contentType);
      return;
    }
    if (!client.started && fault) throw fault;
    if (asked.streamed && fault) {
      client.end(faultEvent(asked.kind, fault, { requestId, ordinal: ending.passed }));
    } else client.break();
  }

  /** An upstream's refusal is the caller's fault: always 400 here, since these are the statuses that no SDK repeats. */
  private errorFor({ model, caller, channels }: Held, failure: Failure): ApiError {
    switch (failure.kind) {
      case 'refused': {
        const isOfContent = failure.code === 'content_policy_violation';
        return new ApiError(isOfContent ? failure.code : 'upstream_rejected', failure.message);
      }
      case 'not_accepted':
        return noLine(model.id, this.parts.health.retryAfterSeconds(channels, workOf(caller, model).model));
      case 'unknown':
        return new ApiError('generation_failed', `${model.id} did not answer. Nothing was charged.`, {
          shouldRetry: false,
        });
    }
  }

  private report(
    { hold, model, kind }: Held,
    { channel }: { channel: string | null },
    what: Failure | Ending,
  ): void {
    const { chargeId, requestId } = hold;
    const facts = { requestId, chargeId, model: model.id, kind, channel };
    const why =
      'how' in what ? { reason: what.how === 'broken' ? what.reason : what.how } : failureFacts(what);
    this.parts.log.warn({ ...facts, ...why }, 'an upstream did not answer a conversation');
  }
}

/** Answers that are read on for clients that left, the longest at a shutdown. */
const DRAINS_AT_SHUTDOWN_MS = 2_000;

/** The client sees the answer grow, so that its leaving says something. */
function isGradual({ kind, streamed }: Conversation): boolean {
  return streamed || kind === 'speech';
}

/** A video model is refused by its name whatever the key's group (spec 4.3 rule 2). */
function modelFor(catalog: Catalog, { body, caller }: ConversationCall): CatalogModel {
  const id = requiredText(body, 'model', MAX_MODEL_CHARS);
  const named = catalog.models.get(id);
  if (named?.family === 'video') throw notSupportedHere(named);
  return modelForGroup(catalog, id, caller.group);
}

const notInTime: Failure = {
  kind: 'not_accepted',
  reason: 'no time was left',
  upstreamStatus: null,
  channel: null,
};
const clientLeft = { code: 'client_left', message: 'The client left before anything was produced.' };

function failureFacts(failure: Failure): object {
  const { kind, upstreamStatus } = failure;
  return { outcome: kind, upstreamStatus, reason: kind === 'refused' ? failure.code : failure.reason };
}
