import type { CatalogModel, Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { crashPoint } from '#platform/crash-points.js';
import type { ImageOutcome, ImageRequest, ImagesDelivered, InputImage } from '#upstream/outcomes.js';
import type { Failed, ServingParts } from '../charging/charged-call.js';
import type { Hold } from '../charging/charge.service.js';
import { enterChannel, type ChannelEntry, workOf } from '../charging/channel-entry.js';
import { inClientsName, upstreamModel } from '../charging/vendor-model.js';
import { callUpstream, UPSTREAM_CALL_FAULT } from '../charging/upstream-call.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { ImageGeneration } from './image-request.js';
import type { EditImages } from './image.loader.js';

/** Everything about one upstream call once its hold exists. */
export interface HeldWork {
  caller: Caller;
  asked: ImageGeneration;
  requestId: string;
  hold: Hold;
  inputs: EditImages<InputImage> | undefined;
  model: CatalogModel;
  entry: ChannelEntry;
  limitAtMs: number;
}

export type ImageFailure = Exclude<ImageOutcome, ImagesDelivered> & { channel: string | null };
export type Success = ImagesDelivered & { channel: Channel };

/** Requests images with a hold from upstreams. */
export class ImageCalls {
  constructor(private readonly parts: ServingParts) {}

  /**
   * Requests the images of each prompt in turn, so that a call takes one place at a time. After a refused prompt the others
   * continue; after any other failure no more are requested. The channel that made the first images makes all of them, because
   * a charge names one channel.
   */
  async askForEach(held: HeldWork, prompts: readonly string[]): Promise<(Success | ImageFailure)[]> {
    const results: (Success | ImageFailure)[] = [];
    let channels = held.entry.channels;
    for (const prompt of prompts) {
      const entry = results.length === 0 ? held.entry : await this.nextEntry(held, channels);
      if (!entry) break;
      const asked = { ...held.asked, prompt };
      const result = await this.askUpstreams({ ...held, asked, entry }).finally(() => entry.place.leave());
      results.push(result);
      if (result.kind === 'delivered') channels = [result.channel];
      else if (result.kind !== 'refused') break;
    }
    return [...results, ...prompts.slice(results.length).map(() => notInTime)];
  }

  /** A place for one more call, or null if there is none within the limits. */
  private async nextEntry(held: HeldWork, channels: readonly Channel[]): Promise<ChannelEntry | null> {
    const { health, config, clock } = this.parts;
    const { model, caller, limitAtMs } = held;
    const waitMs = Math.min(config.channelWaitMs, limitAtMs - clock.elapsedMs());
    if (waitMs <= 0) return null;
    return enterChannel(health, channels, { model, caller, waitMs }).catch(() => null);
  }

  private async askUpstreams(held: HeldWork): Promise<Success | ImageFailure> {
    const { config, clock } = this.parts;
    const leftMs = () => held.limitAtMs - fetchReserveMs(config) - clock.elapsedMs();
    const { last } = await this.parts.calls.askInTurn<ImageOutcome, 'delivered'>(held.entry, {
      work: workOf(held.caller, held.model),
      asked: { operation: held.inputs ? 'edits' : 'images', model: held.model },
      taken: 'delivered',
      mayAsk: () => leftMs() > 0,
      ask: (channel) => this.askUpstream(held, channel, leftMs()),
      onFailure: (failure, channel) => this.report(held, failure, channel),
    });
    if (!last) return notInTime;
    const { outcome, channel } = last;
    return outcome.kind === 'delivered' ? { ...outcome, channel } : { ...outcome, channel: channel.id };
  }

  private async askUpstream(held: HeldWork, channel: Channel, leftMs: number): Promise<ImageOutcome> {
    const { upstreams, metrics, log } = this.parts;
    const { inputs, hold, requestId } = held;
    const operation = inputs ? 'edits' : 'images';
    const stop = metrics.upstreamSeconds.startTimer({ channel: channel.id, operation });
    crashPoint('upstream.before');
    const call = async (signal: AbortSignal): Promise<ImageOutcome> => {
      const adapter = upstreams.adapterFor(channel.protocol);
      const request = upstreamRequest(held, channel);
      if (inputs) return adapter.editImages(channel, { ...request, ...inputs }, signal);
      return adapter.generateImages(channel, request, signal);
    };
    const outcome = await callUpstream(call, {
      limitMs: leftMs,
      onEnd: ({ kind }) => stop({ outcome: kind }),
      onFault: (error) =>
        log.error(
          { err: error, chargeId: hold.chargeId, requestId, channel: channel.id },
          UPSTREAM_CALL_FAULT,
        ),
    });
    return inClientsName(outcome, channel, held.model);
  }

  private report(held: HeldWork, failure: Failed<ImageOutcome, 'delivered'>, { id: channel }: Channel): void {
    const { hold, requestId, model } = held;
    const { kind, upstreamStatus } = failure;
    const reason = failure.kind === 'refused' ? failure.code : failure.reason;
    const facts = {
      requestId,
      chargeId: hold.chargeId,
      model: model.id,
      channel,
      kind,
      upstreamStatus,
      reason,
    };
    this.parts.log.warn(facts, 'an upstream did not deliver images');
  }
}

/** Of the request's limit: what an upstream made at the last moment has still to be fetched, or it was made for nothing. */
function fetchReserveMs({ imageRequestLimitMs }: GatewayConfig): number {
  return Math.min(10_000, imageRequestLimitMs / 10);
}

const notInTime: ImageFailure = {
  kind: 'not_accepted',
  reason: 'no time was left',
  upstreamStatus: null,
  channel: null,
};

/**
 * Always bytes, whatever the client requests: an upstream's URL must not reach a client, and fetching it would need a second
 * call.
 */
export function upstreamRequest(
  { asked, model, hold }: Pick<HeldWork, 'asked' | 'model' | 'hold'>,
  channel: Channel,
): ImageRequest {
  const { ratedBy } = hold;
  // Values without a rate would be made at the price of another value.
  const isResolutionPaid = ratedBy.length === 0 || ratedBy.includes('resolution');
  return {
    model: upstreamModel(channel, model),
    prompt: asked.prompt,
    n: asked.count,
    size: asked.size,
    // A size is the shape that is priced.
    aspectRatio: asked.size === undefined ? asked.aspectRatio : undefined,
    resolution: isResolutionPaid ? asked.resolution : undefined,
    responseFormat: 'b64_json',
    // Elsewhere it costs nothing, and vendors that do not know it would refuse it. Tokens are paid as they are used.
    ...((ratedBy.includes('quality') || model.unit === 'token') && { extras: { quality: asked.quality } }),
  };
}
