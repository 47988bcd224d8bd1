import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { CatalogModel, Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { Clock } from '#platform/clock.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth, Place } from '#upstream/channel-health.js';
import type {
  ImageOutcome,
  ImageRequest,
  ImagesDelivered,
  InputImage,
  UpstreamImage,
} from '#upstream/outcomes.js';
import type { ChargeDesk, Hold } from '../charging/charge.desk.js';
import {
  enterLine,
  inClientsName,
  type Line,
  linesFor,
  noLine,
  upstreamModel,
  workOf,
} from '../charging/lines.js';
import { callUpstream, UPSTREAM_CALL_FAULT } from '../charging/upstream-call.js';
import { deadlineAfter, type ResolutionPost } from '../charging/resolution.post.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { GatewayMetrics } from '../gateway.metrics.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import { refuseBeyondLimits } from '../http/model-limits.js';
import type { PictureInput } from '../http/pictures.js';
import type { MemoryShare } from '../protection/body-memory.js';
import { type ImageFiles, imageTypeOf } from './image.files.js';
import type { ImageGeneration } from './image-request.js';
import type { PictureLoader, Pictures } from './picture.loader.js';

export interface ImageRecord {
  url?: string;
  b64_json?: string;
  revised_prompt?: string;
  mime_type?: string;
}

/** The answer of wire.md 1.1. */
export interface ImageResult {
  created: number;
  data: ImageRecord[];
  /** An integer of 1e-10 USD: the one amount that client schemas want as a number. */
  usage: { cost_in_usd_ticks: number };
}

export interface ImageCall {
  caller: Caller;
  asked: ImageGeneration;
  /** Makes the call an edit of them. */
  pictures?: Pictures<PictureInput>;
  /** Where fetched pictures are counted. */
  memory?: MemoryShare | null;
  requestId: string;
  /** Scheme and host that links are built on; null where the format has none. */
  origin: string | null;
}

/** Everything about one call once its money is held. */
interface HeldCall extends Omit<ImageCall, 'pictures'> {
  hold: Hold;
  pictures: Pictures<InputImage> | undefined;
  model: CatalogModel;
  line: Line;
  limitAtMs: number;
}

type Failure = Exclude<ImageOutcome, ImagesDelivered> & { channel: string | null };
type Success = ImagesDelivered & { channel: Channel };
type Attempt = { result: Success | Failure; latencyMs: number };

const TICKS_PER_NANO = 10n;

export interface ImageServiceParts {
  catalog: CatalogCache;
  desk: ChargeDesk;
  post: ResolutionPost;
  upstreams: Upstreams;
  health: ChannelHealth;
  files: ImageFiles;
  pictures: PictureLoader;
  config: GatewayConfig;
  clock: Clock;
  metrics: GatewayMetrics;
  log: Logger;
}

/**
 * Images are synchronous: hold, upstream, resolve, answer (design.md 3 and 4). Whatever happens, the charge is
 * resolved before the client hears of it, and a client that left pays for what was delivered.
 */
export class ImageService {
  constructor(private readonly parts: ImageServiceParts) {}

  /** @throws ApiError */
  async generate(call: ImageCall): Promise<ImageResult> {
    const { catalog, clock, config } = this.parts;
    const limitAtMs = clock.nowMs() + config.imageRequestLimitMs;
    const current = await catalog.get();
    const { caller, asked } = call;
    const model = modelForGroup(current, asked.model, caller.group);
    refuseOtherFamily(model, 'image');
    refuseBeyondLimits(model, {
      images: { value: asked.count, param: 'n' },
      inputImages: { value: call.pictures?.images.length ?? 0, param: 'image' },
    });
    const capability = call.pictures ? 'imageEdits' : 'images';
    const channels = linesFor(this.parts, current, { model, caller, capability });
    const pictures = call.pictures && (await this.loaded(call.pictures, call));
    const waitMs = Math.min(config.channelWaitMs, limitAtMs - clock.nowMs());
    const line = await enterLine(this.parts.health, channels, { model, caller, waitMs });
    try {
      const hold = await this.hold(call, model, limitAtMs);
      return await this.make({ ...call, model, line, limitAtMs, hold, pictures });
    } finally {
      line.place.leave();
    }
  }

  private async make(held: HeldCall): Promise<ImageResult> {
    const attempt = await this.askUpstreams(held);
    if (attempt.result.kind !== 'delivered')
      throw await this.giveBack(held, attempt.result, attempt.latencyMs);
    crashPoint('upstream.accepted');
    return this.deliver(held, attempt.result, attempt.latencyMs);
  }

  private loaded(
    pictures: Pictures<PictureInput>,
    { caller, requestId, memory = null }: ImageCall,
  ): Promise<Pictures<InputImage>> {
    return this.parts.pictures.load(pictures, { requestId, accountId: caller.accountId, memory });
  }

  private async hold(call: ImageCall, model: CatalogModel, limitAtMs: number): Promise<Hold> {
    const { config, desk, post } = this.parts;
    const { caller, asked, requestId } = call;
    const order = {
      chargeId: requestId,
      caller,
      model,
      units: BigInt(asked.count),
      deadlineMs: deadlineAfter(limitAtMs, config),
      taskId: null,
      requestId,
    };
    const outcome = await desk.hold(order);
    if (outcome.kind === 'held') return outcome.hold;
    if (outcome.kind === 'undecided') await post.abandon(order, caller.accountId);
    throw outcome.error;
  }

  /** One channel after the other, but only while each provably did not take the work. */
  private async askUpstreams(held: HeldCall): Promise<Attempt> {
    const startedAt = performance.now();
    let last: Failure = notInTime;
    const work = workOf(held.caller, held.model);
    let place: Place | undefined = held.line.place;
    for (const channel of held.line.channels) {
      const leftMs = held.limitAtMs - this.parts.clock.nowMs();
      if (leftMs <= 0) break;
      const ask = () => this.askUpstream(held, channel, leftMs);
      const outcome = await this.parts.health.run(channel, ask, { work, place });
      place = undefined;
      const latencyMs = performance.now() - startedAt;
      if (outcome.kind === 'delivered') return { result: { ...outcome, channel }, latencyMs };
      last = { ...outcome, channel: channel.id };
      this.report(held, last);
      if (outcome.kind !== 'not_accepted') break;
    }
    return { result: last, latencyMs: performance.now() - startedAt };
  }

  private async askUpstream(held: HeldCall, channel: Channel, leftMs: number): Promise<ImageOutcome> {
    const { upstreams, metrics, log } = this.parts;
    const { pictures, hold, requestId } = held;
    const operation = pictures ? 'edits' : 'images';
    const stop = metrics.upstreamSeconds.startTimer({ channel: channel.id, operation });
    crashPoint('upstream.before');
    const call = async (signal: AbortSignal): Promise<ImageOutcome> => {
      const adapter = upstreams.adapterFor(channel.protocol);
      const request = upstreamRequest(held, channel);
      if (pictures) return adapter.editImages(channel, { ...request, ...pictures }, signal);
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

  /** Pictures that cannot be handed over are not charged; what is handed over is settled before the answer. */
  private async deliver(held: HeldCall, delivered: Success, latencyMs: number): Promise<ImageResult> {
    const { channel, upstreamStatus } = delivered;
    const images = delivered.images.slice(0, held.asked.count);
    const records = await Promise.all(
      images.map((image, index) => this.record(held, channel, { image, index })),
    );
    const data = records.filter((record) => record !== null);
    if (data.length === 0) {
      const failure: Failure = {
        kind: 'unknown',
        reason: 'no usable image',
        upstreamStatus,
        channel: channel.id,
      };
      throw await this.giveBack(held, failure, latencyMs);
    }
    const count = BigInt(data.length);
    const { hold } = held;
    await this.parts.post.settle(hold, hold.accountId, {
      delivered: count,
      channel: channel.id,
      upstreamStatus,
      latencyMs,
    });
    return {
      created: Math.floor(this.parts.clock.nowMs() / 1000),
      data,
      usage: { cost_in_usd_ticks: Number(hold.amountOf(count) * TICKS_PER_NANO) },
    };
  }

  private async record(
    held: HeldCall,
    channel: Channel,
    { image, index }: { image: UpstreamImage; index: number },
  ): Promise<ImageRecord | null> {
    const { upstreams, files, log } = this.parts;
    const { format } = held.asked;
    const extras = image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt };
    try {
      if (format === 'b64_json' && image.b64 !== undefined) {
        const mime = imageTypeOf(image.b64);
        return mime === null ? null : { b64_json: image.b64, mime_type: mime, ...extras };
      }
      const signal = AbortSignal.timeout(Math.max(1, held.limitAtMs - this.parts.clock.nowMs()));
      const { bytes, mime, extension } = await upstreams.fetchImage(channel, image, signal);
      const inline = format === 'url' ? {} : { b64_json: image.b64 ?? bytes.toString('base64') };
      if (format === 'b64_json') return { ...inline, mime_type: mime, ...extras };
      const path = await files.keep(`${held.hold.chargeId}-${index}.${extension}`, bytes);
      return { url: (held.origin ?? '') + path, ...inline, mime_type: mime, ...extras };
    } catch (error) {
      const { hold, requestId } = held;
      log.error(
        { err: error, chargeId: hold.chargeId, requestId, channel: channel.id },
        'an image could not be kept',
      );
      return null;
    }
  }

  /** Releases the charge, then words the failure: a client that repeats finds its money. */
  private async giveBack(held: HeldCall, failure: Failure, latencyMs: number): Promise<ApiError> {
    const { hold, model, line, caller } = held;
    const seconds = this.parts.health.retryAfterSeconds(line.channels, workOf(caller, model).model);
    const error = errorFor(failure, model.id, seconds);
    const reason = { code: failure.kind === 'refused' ? failure.code : failure.kind, message: error.message };
    const { channel, upstreamStatus } = failure;
    await this.parts.post.release(hold, hold.accountId, {
      delivered: null,
      channel,
      reason,
      upstreamStatus,
      latencyMs,
    });
    return error;
  }

  private report(held: HeldCall, failure: Failure): void {
    const { hold, requestId, model } = held;
    const { kind, channel, upstreamStatus } = failure;
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

const notInTime: Failure = {
  kind: 'not_accepted',
  reason: 'no time was left',
  upstreamStatus: null,
  channel: null,
};

/**
 * Always bytes, whatever the client wants: an address of the upstream's must not reach a client, and would cost a
 * second call to fetch.
 */
function upstreamRequest({ asked, model }: HeldCall, channel: Channel): ImageRequest {
  return {
    model: upstreamModel(channel, model),
    prompt: asked.prompt,
    n: asked.count,
    size: asked.size,
    aspectRatio: asked.aspectRatio,
    resolution: asked.resolution,
    responseFormat: 'b64_json',
  };
}

function errorFor(failure: Failure, model: string, retryAfterSeconds: number): ApiError {
  switch (failure.kind) {
    case 'refused':
      return new ApiError(failure.code, failure.message, { status: failure.status });
    case 'not_accepted':
      return noLine(model, retryAfterSeconds);
    case 'unknown':
      return new ApiError('generation_failed', 'The images could not be generated. Nothing was charged.', {
        shouldRetry: false,
      });
  }
}
