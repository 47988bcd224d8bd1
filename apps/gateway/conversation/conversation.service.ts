import { crashPoint } from '#platform/crash-points.js';
import type { ApiError } from '#platform/errors.js';
import { traced } from '#platform/tracing.js';
import { internalError } from '#platform/http/refusal.js';
import { UsageMeter } from '#upstream/usage-meter.js';
import type { Hold, PricedOrder } from '../charging/charge.service.js';
import { deadlineAfter } from '../charging/resolution.post.js';
import { dryRunOf, type RoutedQuote } from '../routing/dry-run.js';
import { readModelChoice } from '../routing/model-choice.js';
import { turnsWithin } from '../routing/model-turns.js';
import { type Ending, relayAnswer } from './answer.relay.js';
import type { ClientStream } from './client-stream.js';
import type {
  ConversationCall,
  ConversationParts,
  ConversationFailure,
  Held,
  ModelCall,
  Opened,
  Prepared,
} from './conversation.call.js';
import { mostTokens, unitsOf } from './conversation.delivery.js';
import { imagesIn } from './conversation-images.js';
import { ConversationOpening } from './conversation.opening.js';
import { prepare } from './conversation.preparation.js';
import { isGradual, isOfImages } from './conversation-request.js';
import { ConversationSettlement } from './conversation.settlement.js';
import { Drains } from './drains.js';
import { faultEvent } from './stream-fault.js';

/**
 * Pass-through calls: chats, responses, messages, Google's contents, embeddings, speech, transcriptions and translations. Each
 * is held by estimate, sent upstream, settled by usage, and only then ended for its client. Whatever fails in between, the
 * charge is resolved once.
 */
export class ConversationService {
  private readonly open = new Set<Promise<void>>();

  private readonly drains: Drains;
  private readonly opening: ConversationOpening;
  private readonly settlement: ConversationSettlement;
  private readonly turnsOf: ReturnType<typeof turnsWithin>;

  constructor(private readonly parts: ConversationParts) {
    const { streamDrainMs: drainMs, streamDrainsPerAccount: perAccount, streamLimitMs } = parts.config;
    this.turnsOf = turnsWithin(streamLimitMs, parts.clock);
    this.drains = new Drains({ drainMs, perAccount });
    this.settlement = new ConversationSettlement(parts);
    const noteFailure = (held: Held, failure: ConversationFailure) =>
      this.settlement.report(held, failure, failure);
    this.opening = new ConversationOpening({ ...parts, noteFailure });
  }

  /** Answers the client, completely or as a stream. @throws ApiError after the release, as long as nothing has been sent */
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

  /** Waits until every conversation is resolved, which is soon because their connections are already closed. */
  async finished(): Promise<void> {
    const patience = setTimeout(() => this.drains.stopAll(), DRAINS_AT_SHUTDOWN_MS);
    await Promise.all(this.open);
    clearTimeout(patience);
  }

  private async run(call: ConversationCall, client: ClientStream): Promise<void> {
    const { dryRun, body, ...choice } = readModelChoice(call.body, call.caller);
    const turns = this.turnsOf(call.requestId, choice, client.left);
    const checkImages = this.imageCheckOf(call);
    const callOf = (model: string): ModelCall => ({
      ...call,
      body: { ...body, model },
      turns,
      checkImages,
    });
    if (dryRun) {
      const answer = await dryRunOf(turns, (model) => this.quote(callOf(model)));
      return client.sendWhole(Buffer.from(JSON.stringify(answer)), JSON_TYPE);
    }
    await turns.serve((model) => this.serve(callOf(model), client));
  }

  /** Reads the images once for all models, because it takes long and the result is the same. */
  private imageCheckOf({ caller, body }: ConversationCall): () => Promise<void> {
    let check: Promise<void> | undefined;
    return () => (check ??= this.parts.reader.check(caller.accountId, imagesIn(body), caller.left));
  }

  /** The amount that would be held for the call. The images of an edit are not read for it. @throws ApiError if it is not possible */
  private async quote({ image, ...call }: ModelCall): Promise<RoutedQuote> {
    const unread = image && { ...image, inputs: undefined };
    const prepared = await prepare(this.parts, { ...call, image: unread });
    const { caller, model } = prepared;
    const quote = await this.parts.calls.quote({ ...priceOf(prepared), caller, model });
    return { quote, routing: model.routing };
  }

  private async serve(call: ModelCall, client: ClientStream): Promise<void> {
    const prepared = await traced('route', {}, () => prepare(this.parts, call));
    const { model, caller, channels } = prepared;
    const { calls, clock, config } = this.parts;
    const waitMs = Math.min(config.channelWaitMs, prepared.limitAtMs - clock.elapsedMs());
    await calls.withChannel(channels, { model, caller, waitMs }, async (entry) => {
      const hold = await this.hold(prepared);
      await this.runHeld({ ...prepared, entry, hold }, client);
    });
  }

  private async runHeld(
    prepared: Prepared & Pick<Held, 'entry' | 'hold'>,
    client: ClientStream,
  ): Promise<void> {
    const stop = new AbortController();
    const limit = setTimeout(() => stop.abort(), prepared.limitAtMs - this.parts.clock.elapsedMs());
    // An answer without visible progress is completed for a client that left, like an image.
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

  private hold(prepared: Prepared): Promise<Hold> {
    const { calls, config } = this.parts;
    const { caller, model, requestId, limitAtMs, turns } = prepared;
    const order = {
      ...priceOf(prepared),
      chargeId: turns.nextChargeId(),
      caller,
      model,
      deadlineMs: deadlineAfter(limitAtMs, config),
      taskId: null,
      requestId,
    };
    const work = prepared.madeOf ? { images: 1n } : { tokens: tokensAsked(prepared) };
    const counted = { work, tell: turns.noteLimits.bind(turns) };
    return calls.hold(order, counted);
  }

  private async answer(held: Held, client: ClientStream): Promise<void> {
    const opened = await this.opening.open(held, client).catch(async (error: unknown) => {
      await this.settlement.release(held, { channel: null, upstreamStatus: null, error: internalError() });
      throw error;
    });
    if (opened.kind !== 'answer') return this.endUnanswered(held, opened, client);
    await this.relay(held, opened, client);
  }

  private async relay(held: Held, opened: Opened, client: ClientStream): Promise<void> {
    crashPoint('upstream.accepted');
    client.addHeaders(held.turns.headersFor(held.model.id));
    const meter = new UsageMeter(held.kind, held.dearest === 'cacheWrite1h');
    // Events of images name no model, and are long.
    const isNamed = opened.model === held.model.id || isOfImages(held.kind);
    const clientsModel = isNamed ? null : held.model.id;
    const { asked, stop } = held;
    const relaying = { ...asked, meter, client, stop, clientsModel };
    const ending = await traced('relay the answer', {}, () => relayAnswer(opened, relaying));
    const delivery = this.settlement.deliveryOf(held, ending, meter);
    const fault = this.settlement.faultOf(held, ending, delivery);
    if (delivery) await this.settlement.settle(held, opened, delivery);
    else
      await this.settlement.release(held, {
        channel: opened.channel,
        upstreamStatus: opened.status,
        error: fault,
      });
    if (fault && !client.left.aborted) this.settlement.report(held, opened, ending);
    await this.finish(held, { ending, client, fault });
  }

  private async endUnanswered(held: Held, opened: ConversationFailure, client: ClientStream): Promise<void> {
    const isGone = client.left.aborted && isGradual(held.asked);
    // The upstream accepted the work, but did not answer in the time that was left after the client had gone.
    if (isGone && opened.kind === 'unknown' && held.stop.aborted) {
      const delivery = this.settlement.deliveryOf(held, { how: 'left' }, new UsageMeter(held.kind));
      if (delivery)
        return this.settlement.settle(held, { ...opened, status: opened.upstreamStatus }, delivery);
    }
    const error = isGone ? null : this.settlement.errorFor(held, opened);
    const isUntaken = opened.kind !== 'unknown';
    const refusal = await this.settlement.release(held, { ...opened, error, isUntaken });
    if (refusal) throw refusal;
  }

  /** Ends the client's answer, now that it is paid: whole, or with a fault that it cannot overlook. */
  private async finish(
    held: Held,
    { ending, client, fault }: { ending: Ending; client: ClientStream; fault: ApiError | null },
  ): Promise<void> {
    const { asked, requestId } = held;
    if (ending.how === 'left') return client.break();
    if (ending.how === 'whole') {
      if (client.started) client.end(ending.last);
      else await client.sendWhole(ending.last ?? Buffer.alloc(0), ending.contentType);
      return;
    }
    if (!client.started && fault) {
      client.removeHeaders(held.turns.headersFor(held.model.id));
      throw fault;
    }
    if (asked.streamed && fault) {
      client.end(faultEvent(asked.kind, fault, { requestId, ordinal: ending.passed }));
    } else client.break();
  }
}

function priceOf(prepared: Prepared): Pick<PricedOrder, 'units' | 'tokens' | 'dimensions'> {
  const units = unitsOf(prepared);
  const wanted = prepared.madeOf ? { units, dimensions: prepared.madeOf.dimensions } : { units };
  return prepared.model.unit === 'token' ? { ...wanted, tokens: mostTokens(prepared) } : wanted;
}

/** The tokens that count against limits: the likely input and the requested output. */
function tokensAsked({ asked: { maxOutputTokens, choices }, input, output }: Prepared): bigint {
  const wanted = BigInt(maxOutputTokens?.value ?? 0) * BigInt(choices);
  return input.likely + (wanted < output.most ? wanted : output.most);
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers that are read on for clients that left, the longest at a shutdown. */
const DRAINS_AT_SHUTDOWN_MS = 2_000;
