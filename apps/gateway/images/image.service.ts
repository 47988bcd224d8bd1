import type { CatalogCache } from '#catalog/catalog.cache.js';
import { measureImages } from '#catalog/image-estimate.js';
import type { Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { crashPoint } from '#platform/crash-points.js';
import { ApiError } from '#platform/errors.js';
import { traced } from '#platform/tracing.js';
import type { InputImage } from '#upstream/outcomes.js';
import { formatAmount } from '#money/amount.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { ServingParts } from '../charging/charged-call.js';
import type { Hold, PricedOrder } from '../charging/charge.service.js';
import { channelsFree, noChannelFree, workOf } from '../charging/channel-entry.js';
import { deadlineAfter, type ResolutionPost } from '../charging/resolution.post.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import { refuseBeyondLimits } from '#catalog/model-limits.js';
import type { ImageInput } from '../http/input-images.js';
import type { RoutedQuote } from '../routing/dry-run.js';
import { type ModelTurns, turnsWithin } from '../routing/model-turns.js';
import { type ImageFailure, ImageCalls, type Success } from './image.calls.js';
import type { ImageFiles } from './image.files.js';
import { type HeldImages, type ImageRecord, ImageRecords } from './image.records.js';
import { imageDimensions, type ImageGeneration } from './image-request.js';
import { type OpenAiUsage, openAiUsage, tokensOfAll } from './image-tokens.js';
import type { EditImages } from './image.loader.js';

/** The answer, in OpenAI's shape. */
export interface ImageResult {
  created: number;
  data: ImageRecord[];
  /** An integer of 1e-10 USD: client schemas want this amount as a number. */
  usage: { cost_in_usd_ticks: number } & Partial<OpenAiUsage>;
  /** The model that served the request, if several were given. */
  model?: string;
}

export interface ImageCall {
  caller: Caller;
  asked: ImageGeneration;
  /** Several prompts instead of one: `asked.count` images are made of each, for one charge. */
  prompts?: readonly string[];
  /** Makes the call an edit of them. */
  inputs?: EditImages<ImageInput>;
  /** Reads them once, for all models of the request. @throws ApiError */
  loaded?: () => Promise<EditImages<InputImage>>;
  requestId: string;
  /** The scheme and host for links. Null if the format has none. */
  origin: string | null;
}

/** The work that a call is priced by. */
type Wanted = Pick<PricedOrder, 'model' | 'units' | 'dimensions' | 'tokens'> & {
  likely?: TokenCounts | undefined;
};

const TICKS_PER_NANO = 10n;

export interface ImageServiceParts extends ServingParts {
  catalog: CatalogCache;
  post: ResolutionPost;
  files: ImageFiles;
}

/**
 * Images are synchronous: hold, upstream, resolve, answer. Whatever happens, the charge is resolved before the client gets an
 * answer, and a client that left pays for what was delivered.
 */
export class ImageService {
  private readonly images: ImageCalls;
  private readonly records: ImageRecords;
  /** Takes a request through the models that it names. */
  readonly turnsOf: ReturnType<typeof turnsWithin>;

  constructor(private readonly parts: ImageServiceParts) {
    this.turnsOf = turnsWithin(parts.config.imageRequestLimitMs, parts.clock);
    this.images = new ImageCalls(parts);
    this.records = new ImageRecords(parts);
  }

  /** @throws ApiError */
  async generate(call: ImageCall, turns: ModelTurns): Promise<ImageResult> {
    const { clock, config } = this.parts;
    const { caller, asked, requestId, origin } = call;
    const { prompts = [asked.prompt] } = call;
    const { limitAtMs } = turns;
    const { channels, ...wanted } = await traced('route', {}, () => this.planned(call));
    const { model } = wanted;
    const inputs = call.loaded && (await traced('read images', {}, call.loaded));
    const waitMs = Math.min(config.channelWaitMs, limitAtMs - clock.elapsedMs());
    return this.parts.calls.withChannel(channels, { model, caller, waitMs }, async (entry) => {
      const hold = await this.hold(call, wanted, turns);
      const { likely } = wanted;
      const request = { caller, asked, requestId, origin, model, limitAtMs, inputs, prompts, likely };
      return this.make({ ...request, entry, hold, startedAt: performance.now() });
    });
  }

  /** The amount that would be held for a call. @throws ApiError if it is not possible */
  async quote(call: ImageCall): Promise<RoutedQuote> {
    const { channels: _, ...wanted } = await this.planned(call);
    const quote = await this.parts.calls.quote({ caller: call.caller, ...wanted });
    return { quote, routing: wanted.model.routing };
  }

  /** The work of a call, and the channels that could do it. @throws ApiError if it is not permitted or not possible now */
  private async planned(call: ImageCall): Promise<Wanted & { channels: Channel[] }> {
    const current = await this.parts.catalog.get();
    const { caller, asked, prompts } = call;
    const count = asked.count * (prompts?.length ?? 1);
    const inputImages = call.inputs?.images.length ?? 0;
    const model = modelForGroup(current, asked.model, caller.group);
    refuseOtherFamily(model, 'image');
    refuseBeyondLimits(model, {
      images: { value: count, param: 'n' },
      inputImages: { value: inputImages, param: 'image' },
    });
    const channels = channelsFree(this.parts, current, {
      model,
      caller,
      capability: capabilityFor(call.inputs),
    });
    const wanted = { model, channels, units: BigInt(count), dimensions: imageDimensions(asked, inputImages) };
    if (model.unit !== 'token') return wanted;
    const measured = measureImages({ ...asked, model, prompts: prompts ?? [asked.prompt], inputImages });
    return { ...wanted, tokens: measured.most, likely: measured.likely };
  }

  private async make(held: HeldImages): Promise<ImageResult> {
    const results = await this.images.askForEach(held, held.prompts);
    const made = results.find((result) => result.kind === 'delivered');
    const failed = results.find((result) => result.kind !== 'delivered');
    if (!made) throw await this.giveBack(held, failed!);
    crashPoint('upstream.accepted');
    return this.deliver(held, results, made);
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

  /** Images that cannot be delivered are not charged. Delivered ones are settled before the answer. */
  private async deliver(
    held: HeldImages,
    results: readonly (Success | ImageFailure)[],
    { channel, upstreamStatus }: Success,
  ): Promise<ImageResult> {
    const records = await Promise.all(
      results.map((result, index) => this.records.recordsOf(held, result, index)),
    );
    const data = records.flat();
    const usable = records.map((some) => some.filter(({ withheld }) => withheld === undefined).length);
    const count = usable.reduce((all, each) => all + BigInt(each), 0n);
    const reason = 'no usable image';
    if (count === 0n)
      throw await this.giveBack(held, { kind: 'unknown', reason, upstreamStatus, channel: channel.id });
    const { hold, startedAt } = held;
    const tokens = this.tokensOf(held, results, usable);
    const answered = { channel: channel.id, upstreamStatus, latencyMs: performance.now() - startedAt };
    await this.parts.post.settle(hold, hold.accountId, { delivered: count, tokens, ...answered });
    const cost = tokens ? hold.amountOfTokens(tokens) : hold.amountOf(count);
    return {
      created: Math.floor(this.parts.clock.nowMs() / 1000),
      data,
      usage: { ...(tokens && openAiUsage(tokens)), cost_in_usd_ticks: Number(cost * TICKS_PER_NANO) },
    };
  }

  /** The usage of the delivered images, for a model priced by usage. `usable` is the number delivered of each result. */
  private tokensOf(
    { likely, hold, model, requestId }: HeldImages,
    results: readonly (Success | ImageFailure)[],
    usable: readonly number[],
  ): TokenCounts | undefined {
    if (!likely) return undefined;
    const made = results.flatMap((result, index) =>
      result.kind === 'delivered' ? [{ usable: usable[index]!, usage: result.usage }] : [],
    );
    const tokens = tokensOfAll(made, likely);
    const excess = hold.excessOf(tokens);
    if (excess === 0n) return tokens;
    const { chargeId, amount } = hold;
    const facts = { chargeId, requestId, model: model.id, held: formatAmount(amount) };
    const message = 'images took more than was held for them; the operator bears the excess';
    this.parts.log.warn({ ...facts, excess: formatAmount(excess) }, message);
    this.parts.metrics.exceededHolds.inc({ model: model.id });
    return tokens;
  }

  /** Releases the charge, then reports the failure, so that a client that retries has its credits. */
  private async giveBack(held: HeldImages, failure: ImageFailure): Promise<ApiError> {
    const { hold, model, entry, caller, startedAt } = held;
    const seconds = this.parts.health.retryAfterSeconds(entry.channels, workOf(caller, model).model);
    const error = errorFor(failure, model.id, seconds);
    const reason = { code: failure.kind === 'refused' ? failure.code : failure.kind, message: error.message };
    const { channel, upstreamStatus } = failure;
    const latencyMs = performance.now() - startedAt;
    return this.parts.calls.release(hold, { channel, reason, upstreamStatus, latencyMs }, error);
  }
}

function capabilityFor(inputs: ImageCall['inputs']): 'images' | 'imageEdits' | 'maskedEdits' {
  if (!inputs) return 'images';
  return inputs.mask ? 'maskedEdits' : 'imageEdits';
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
