import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { Clock } from '#platform/clock.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import { traced } from '#platform/tracing.js';
import type { Logger } from '#platform/logging.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import type { InputImage, UpstreamImage } from '#upstream/outcomes.js';
import type { Quote } from '#pricing/quote.js';
import type { ChargedCalls } from '../charging/charged-call.js';
import type { Hold, PricedOrder } from '../charging/charge.service.js';
import { channelsFree, noChannelFree, workOf } from '../charging/channel-entry.js';
import { deadlineAfter, type ResolutionPost } from '../charging/resolution.post.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { GatewayMetrics } from '../gateway.metrics.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import { refuseBeyondLimits } from '../http/model-limits.js';
import type { PictureInput } from '../http/pictures.js';
import type { MemoryShare } from '../protection/body-memory.js';
import type { ModelChoice } from '../routing/model-choice.js';
import { ModelTurns } from '../routing/model-turns.js';
import { type ImageFailure, type HeldWork, ImageCalls, type Success } from './image.calls.js';
import { type ImageFiles, imageTypeOf } from './image.files.js';
import { imageDimensions, type ImageGeneration } from './image-request.js';
import type { PictureLoader, Pictures } from './picture.loader.js';

export interface ImageRecord {
  url?: string;
  b64_json?: string;
  revised_prompt?: string;
  mime_type?: string;
  /** Of one of several prompts, why nothing was made of it; it costs nothing. */
  withheld?: string;
}

/** The answer, in OpenAI's shape. */
export interface ImageResult {
  created: number;
  data: ImageRecord[];
  /** An integer of 1e-10 USD: client schemas want this amount as a number. */
  usage: { cost_in_usd_ticks: number };
  /** The one of several that made them. */
  model?: string;
}

export interface ImageCall {
  caller: Caller;
  asked: ImageGeneration;
  /** Several in place of the one: `asked.count` images are made of each, for one charge. */
  prompts?: readonly string[];
  /** Makes the call an edit of them. */
  pictures?: Pictures<PictureInput>;
  /** Where fetched images are counted. */
  memory?: MemoryShare | null;
  requestId: string;
  /** Scheme and host that links are built on; null where the format has none. */
  origin: string | null;
}

/** Everything about one call once its money is held. */
interface HeldCall extends HeldWork {
  prompts: readonly string[];
  startedAt: number;
  /** Scheme and host that links are built on; null where the format has none. */
  origin: string | null;
}

/** What a call is priced by. */
type Wanted = Pick<PricedOrder, 'model' | 'units' | 'dimensions'>;

const TICKS_PER_NANO = 10n;

export interface ImageServiceParts {
  catalog: CatalogCache;
  calls: ChargedCalls;
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
 * Images are synchronous: hold, upstream, resolve, answer. Whatever happens, the charge is
 * resolved before the client hears of it, and a client that left pays for what was delivered.
 */
export class ImageService {
  private readonly images: ImageCalls;

  constructor(private readonly parts: ImageServiceParts) {
    this.images = new ImageCalls(parts);
  }

  /** The way of a request through the models that it names. */
  turnsOf(
    requestId: string,
    { models, named }: Pick<ModelChoice, 'models' | 'named'>,
    left?: AbortSignal,
  ): ModelTurns {
    const { clock, config } = this.parts;
    const limitAtMs = clock.nowMs() + config.imageRequestLimitMs;
    return new ModelTurns({ id: requestId, models, named, limitAtMs, clock, left });
  }

  /** @throws ApiError */
  async generate(
    call: ImageCall,
    turns = this.turnsOf(call.requestId, { models: [call.asked.model], named: 1 }),
  ): Promise<ImageResult> {
    const { clock, config } = this.parts;
    const { caller, asked, requestId, origin } = call;
    const { prompts = [asked.prompt] } = call;
    const { limitAtMs } = turns;
    const { channels, ...wanted } = await traced('route', {}, () => this.planned(call));
    const { model } = wanted;
    const given = call.pictures;
    const pictures = given && (await traced('read images', {}, () => this.loaded(given, call)));
    const waitMs = Math.min(config.channelWaitMs, limitAtMs - clock.nowMs());
    return this.parts.calls.withChannel(channels, { model, caller, waitMs }, async (entry) => {
      const hold = await this.hold(call, wanted, turns);
      const held = { caller, asked, requestId, origin, model, entry, limitAtMs, hold, pictures, prompts };
      return this.make({ ...held, startedAt: performance.now() });
    });
  }

  /** What would be held for a call. @throws ApiError when it could not be made */
  async quote(call: ImageCall): Promise<Quote> {
    const { channels: _, ...wanted } = await this.planned(call);
    return this.parts.calls.quote({ caller: call.caller, ...wanted });
  }

  /** What a call is for and who could do it. @throws ApiError for what may not be asked or cannot be done now */
  private async planned(call: ImageCall): Promise<Wanted & { channels: Channel[] }> {
    const current = await this.parts.catalog.get();
    const { caller, asked, prompts } = call;
    const count = asked.count * (prompts?.length ?? 1);
    const inputImages = call.pictures?.images.length ?? 0;
    const model = modelForGroup(current, asked.model, caller.group);
    refuseOtherFamily(model, 'image');
    refuseBeyondLimits(model, {
      images: { value: count, param: 'n' },
      inputImages: { value: inputImages, param: 'image' },
    });
    const channels = channelsFree(this.parts, current, {
      model,
      caller,
      capability: capabilityFor(call.pictures),
    });
    return { model, channels, units: BigInt(count), dimensions: imageDimensions(asked, inputImages) };
  }

  private async make(held: HeldCall): Promise<ImageResult> {
    const results = await this.images.askForEach(held, held.prompts);
    const made = results.find((result) => result.kind === 'delivered');
    const failed = results.find((result) => result.kind !== 'delivered');
    if (!made) throw await this.giveBack(held, failed!);
    crashPoint('upstream.accepted');
    return this.deliver(held, results, made);
  }

  private loaded(
    pictures: Pictures<PictureInput>,
    { caller, requestId, memory = null }: ImageCall,
  ): Promise<Pictures<InputImage>> {
    return this.parts.pictures.load(pictures, { requestId, accountId: caller.accountId, memory });
  }

  private hold({ caller, requestId }: ImageCall, wanted: Wanted, turns: ModelTurns): Promise<Hold> {
    const order = {
      chargeId: turns.nextChargeId(),
      caller,
      ...wanted,
      deadlineMs: deadlineAfter(turns.limitAtMs, this.parts.config),
      taskId: null,
      requestId,
    };
    const counted = { work: { images: wanted.units }, tell: turns.noteLimits.bind(turns) };
    return this.parts.calls.hold(order, counted);
  }

  /** Images that cannot be handed over are not charged; what is handed over is settled before the answer. */
  private async deliver(
    held: HeldCall,
    results: readonly (Success | ImageFailure)[],
    { channel, upstreamStatus }: Success,
  ): Promise<ImageResult> {
    const records = await Promise.all(results.map((result, index) => this.recordsOf(held, result, index)));
    const data = records.flat();
    const count = BigInt(data.filter(({ withheld }) => withheld === undefined).length);
    if (count === 0n) {
      const failure: ImageFailure = {
        kind: 'unknown',
        reason: 'no usable image',
        upstreamStatus,
        channel: channel.id,
      };
      throw await this.giveBack(held, failure);
    }
    const { hold, startedAt } = held;
    await this.parts.post.settle(hold, hold.accountId, {
      delivered: count,
      channel: channel.id,
      upstreamStatus,
      latencyMs: performance.now() - startedAt,
    });
    return {
      created: Math.floor(this.parts.clock.nowMs() / 1000),
      data,
      usage: { cost_in_usd_ticks: Number(hold.amountOf(count) * TICKS_PER_NANO) },
    };
  }

  /** What the client gets of one prompt: its images, or why there are none where it has others. */
  private async recordsOf(
    held: HeldCall,
    result: Success | ImageFailure,
    ordinal: number,
  ): Promise<ImageRecord[]> {
    const { count } = held.asked;
    if (result.kind !== 'delivered') {
      const why =
        result.kind === 'refused' ? result.message : 'Nothing was made of it, and nothing was charged.';
      return [{ withheld: why }];
    }
    const records = await Promise.all(
      result.images
        .slice(0, count)
        .map((image, index) => this.record(held, result.channel, { image, index: ordinal * count + index })),
    );
    return records.filter((record) => record !== null);
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
  private async giveBack(held: HeldCall, failure: ImageFailure): Promise<ApiError> {
    const { hold, model, entry, caller, startedAt } = held;
    const seconds = this.parts.health.retryAfterSeconds(entry.channels, workOf(caller, model).model);
    const error = errorFor(failure, model.id, seconds);
    const reason = { code: failure.kind === 'refused' ? failure.code : failure.kind, message: error.message };
    const { channel, upstreamStatus } = failure;
    const latencyMs = performance.now() - startedAt;
    return this.parts.calls.release(hold, { channel, reason, upstreamStatus, latencyMs }, error);
  }
}

function capabilityFor(pictures: ImageCall['pictures']): 'images' | 'imageEdits' | 'maskedEdits' {
  if (!pictures) return 'images';
  return pictures.mask ? 'maskedEdits' : 'imageEdits';
}

function errorFor(failure: ImageFailure, model: string, retryAfterSeconds: number): ApiError {
  switch (failure.kind) {
    case 'refused':
      return new ApiError(failure.code, failure.message, { status: failure.status });
    case 'not_accepted':
      return noChannelFree(model, retryAfterSeconds);
    case 'unknown':
      return new ApiError('generation_failed', 'The images could not be generated. Nothing was charged.', {
        shouldRetry: false,
      });
  }
}
