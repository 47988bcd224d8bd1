import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { CatalogModel, Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import type { Work } from '#upstream/health/channel-health.js';
import type { CountedKind, CountOutcome, CountRequest, StreamRequest } from '#upstream/outcomes.js';
import type { ServingParts } from '../charging/charged-call.js';
import { channelsFree, noChannelFree } from '../charging/channel-entry.js';
import { callUpstream, UPSTREAM_CALL_FAULT } from '../charging/upstream-call.js';
import { inClientsName, refusalOfUpstream, upstreamModel } from '../charging/vendor-model.js';
import { INPUT_FIELD, pricedFields } from '../conversation/conversation-fields.js';
import { MODEL } from '../http/declared-body.js';
import type { Body } from '../http/fields.js';
import { modelForGroup, refuseOtherFamily, refuseOtherModels } from '../http/model-access.js';

/** A message, or contents, to be counted as it would be sent. */
export interface CountCall {
  kind: CountedKind;
  caller: Caller;
  body: Body;
  headers: StreamRequest['headers'];
}

interface WantedCount {
  model: CatalogModel;
  channels: Channel[];
  counted: Body;
}

interface TokenCounterParts extends Omit<ServingParts, 'metrics'> {
  catalog: CatalogCache;
}

/** Fields about the answer are not counted, and the vendor does not accept them. */
const OF_ANSWERS: Record<CountedKind, readonly string[]> = {
  messages: ['max_tokens', 'stream', 'stop_sequences', 'temperature', 'top_k', 'top_p', 'metadata'],
  contents: ['stream', 'generationConfig', 'safetySettings'],
};
/** Counting takes a moment. */
const LIMIT_MS = 30_000;

/**
 * Asks a vendor what a message or contents would be counted as. It costs nothing, so nothing is held; it takes a place on a channel as
 * any call does, and a key asks for no more models than it may call.
 */
export class TokenCounter {
  constructor(private readonly parts: TokenCounterParts) {}

  /** @returns tokens of input. @throws ApiError */
  async count(call: CountCall): Promise<number> {
    const wanted = await this.planned(call);
    const { model, channels } = wanted;
    const outcome = await this.ask(call, wanted);
    if (outcome?.kind === 'counted') return outcome.tokens;
    if (outcome?.kind === 'refused') throw refusalOfUpstream(outcome);
    // A count can be repeated, whatever happened to the first one.
    throw noChannelFree(model.id, this.parts.health.retryAfterSeconds(channels, workOf(call.caller).model));
  }

  /** What is counted and who could do it, for a key that may call the model. @throws ApiError */
  private async planned({ kind, caller, body }: CountCall): Promise<WantedCount> {
    const catalog = await this.parts.catalog.get();
    const model = modelForGroup(catalog, MODEL.read(body, 'model'), caller.group);
    refuseOtherModels(caller, model);
    refuseOtherFamily(model, 'chat');
    const counted = countedFields(kind, body);
    const wanted = { model, caller, capability: `${kind}Count` as const, work: workOf(caller) };
    const channels = channelsFree(this.parts, catalog, wanted);
    return { model, channels, counted };
  }

  private async ask(
    { kind, caller, headers }: CountCall,
    { model, channels, counted }: WantedCount,
  ): Promise<CountOutcome | undefined> {
    const { calls, clock, config } = this.parts;
    const limitAtMs = clock.elapsedMs() + LIMIT_MS;
    const waitMs = Math.min(config.channelWaitMs, LIMIT_MS);
    const work = workOf(caller);
    return calls.withChannel(channels, { model, caller, waitMs, work }, async (entry) => {
      const { last } = await calls.askInTurn<CountOutcome, 'counted'>(entry, {
        work,
        asked: { operation: 'count', model },
        taken: 'counted',
        mayAsk: () => clock.elapsedMs() < limitAtMs,
        ask: async (channel) => {
          const request = { kind, headers, body: counted, model: upstreamModel(channel, model) };
          return inClientsName(await this.askOne(channel, request, limitAtMs), channel, model);
        },
        onFailure: () => undefined,
      });
      return last?.outcome;
    });
  }

  private askOne(channel: Channel, request: CountRequest, limitAtMs: number): Promise<CountOutcome> {
    const { upstreams, clock, log } = this.parts;
    return callUpstream<CountOutcome>(
      (signal) => upstreams.adapterFor(channel.protocol).countTokens(channel, request, signal),
      {
        limitMs: Math.max(1, limitAtMs - clock.elapsedMs()),
        onEnd: () => undefined,
        onFault: (error) => log.error({ err: error, channel: channel.id }, UPSTREAM_CALL_FAULT),
      },
    );
  }
}

/** Vendors limit counts apart from messages, so a count says nothing about a model: anyone can have many refused, for free. */
function workOf({ accountId }: Pick<Caller, 'accountId'>): Work {
  return { accountId, model: null };
}

/** Checked as the request itself, of which it must be true. */
function countedFields(kind: CountedKind, body: Body): Body {
  const param = INPUT_FIELD[kind];
  const input = body[param];
  if (!Array.isArray(input) || input.length === 0)
    throw new ApiError('missing_required_parameter', `${param} is required.`, { param });
  const known = pricedFields(kind, body);
  return Object.fromEntries(Object.entries(known).filter(([name]) => !OF_ANSWERS[kind].includes(name)));
}
