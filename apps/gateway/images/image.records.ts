import type { Channel } from '#catalog/catalog.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { UpstreamImage } from '#upstream/outcomes.js';
import type { ServingParts } from '../charging/charged-call.js';
import type { HeldWork, ImageFailure, Success } from './image.calls.js';
import { type ImageFiles, imageTypeOf } from './image.files.js';

export interface ImageRecord {
  url?: string;
  b64_json?: string;
  revised_prompt?: string;
  mime_type?: string;
  /** Why no image was generated for one of several prompts. It costs nothing. */
  withheld?: string;
}

/** Everything about one call once its money is held. */
export interface HeldImages extends HeldWork {
  prompts: readonly string[];
  /** The usage of one image in tokens. Undefined if images have a price. */
  likely: TokenCounts | undefined;
  startedAt: number;
  /** The scheme and host for links. Null if the format has none. */
  origin: string | null;
}

/** Turns images of upstreams into the answer for clients. */
export class ImageRecords {
  constructor(
    private readonly parts: Pick<ServingParts, 'upstreams' | 'log' | 'clock'> & { files: ImageFiles },
  ) {}

  /** The result of one prompt: its images, or why there are none. */
  async recordsOf(held: HeldImages, result: Success | ImageFailure, ordinal: number): Promise<ImageRecord[]> {
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
    held: HeldImages,
    channel: Channel,
    { image, index }: { image: UpstreamImage; index: number },
  ): Promise<ImageRecord | null> {
    const { upstreams, files, log } = this.parts;
    const { hold, requestId, asked } = held;
    const { format } = asked;
    const extras = image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt };
    try {
      if (format === 'b64_json' && image.b64 !== undefined) {
        const mime = imageTypeOf(image.b64);
        return mime === null ? null : { b64_json: image.b64, mime_type: mime, ...extras };
      }
      const signal = AbortSignal.timeout(Math.max(1, held.limitAtMs - this.parts.clock.elapsedMs()));
      const { bytes, mime, extension } = await upstreams.fetchImage(channel, image, signal);
      const inline = format === 'url' ? {} : { b64_json: image.b64 ?? bytes.toString('base64') };
      if (format === 'b64_json') return { ...inline, mime_type: mime, ...extras };
      const path = await files.keep(`${hold.chargeId}-${index}.${extension}`, bytes, signal);
      return { url: (held.origin ?? '') + path, ...inline, mime_type: mime, ...extras };
    } catch (error) {
      const facts = { err: error, chargeId: hold.chargeId, requestId, channel: channel.id };
      log.error(facts, 'an image could not be kept');
      return null;
    }
  }
}
