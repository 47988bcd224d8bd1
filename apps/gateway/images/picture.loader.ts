import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import type { Upstreams } from '#upstream/adapters.js';
import { FileUnavailable } from '#upstream/file-download.js';
import type { InputImage } from '#upstream/outcomes.js';
import { MAX_PICTURE_BYTES, MAX_PICTURES_BYTES, PICTURE_FETCH_MS } from '../http/limits.js';
import { pictureOfFile, type PictureInput, type ReceivedPicture } from '../http/pictures.js';
import type { MemoryShare } from '../protection/body-memory.js';
import type { PictureReader } from './picture.reader.js';

/** The images of an edit: at least one, and a mask of where the first can change. */
export interface Pictures<P> {
  readonly images: readonly P[];
  readonly mask: P | undefined;
}

/** Whose images they are. */
export interface PictureCall {
  requestId: string;
  accountId: string;
  /** Where fetched images are counted. */
  memory: MemoryShare | null;
}

/** Loads the images of a request: fetches those given by URL, and reads all of them to the end. */
export class PictureLoader {
  constructor(
    private readonly parts: {
      upstreams: Upstreams;
      reader: PictureReader;
      allowPrivateAddress: boolean;
      log: Logger;
    },
  ) {}

  /**
   * An address is fetched from public hosts only, after redirections and name resolution too, and for a limited time.
   * @throws ApiError invalid_image, request_too_large, service_unavailable
   */
  async load({ images, mask }: Pictures<PictureInput>, call: PictureCall): Promise<Pictures<InputImage>> {
    const inputs = mask === undefined ? images : [...images, mask];
    const signal = AbortSignal.timeout(PICTURE_FETCH_MS);
    const loaded: InputImage[] = [];
    let total = 0;
    // One after the other, so that a request does not open many connections at once.
    for (const [index, input] of inputs.entries()) {
      const picture = input.kind === 'received' ? input : await this.fetched(input, call, signal);
      const image = await this.parts.reader.read(call.accountId, picture, index + 1);
      total += image.bytes.length;
      if (total > MAX_PICTURES_BYTES) {
        const message = `The images of a request have at most ${MAX_PICTURES_BYTES} bytes together.`;
        throw new ApiError('request_too_large', message, { param: input.param });
      }
      loaded.push(image);
    }
    return { images: loaded.slice(0, images.length), mask: loaded[images.length] };
  }

  /** The same when they are first needed, once for all models of a request. */
  once(pictures: Pictures<PictureInput>, call: PictureCall): () => Promise<Pictures<InputImage>> {
    let loaded: Promise<Pictures<InputImage>> | undefined;
    return () => (loaded ??= this.load(pictures, call));
  }

  private async fetched(
    { url, param }: Extract<PictureInput, { kind: 'address' }>,
    { requestId, memory }: PictureCall,
    signal: AbortSignal,
  ): Promise<ReceivedPicture> {
    const { upstreams, allowPrivateAddress, log } = this.parts;
    try {
      const options = { signal, maxBytes: MAX_PICTURE_BYTES, allowPrivateAddress };
      const bytes = await upstreams.fetchAddress(url, options);
      memory?.add(bytes.length);
      return pictureOfFile({ pieces: [bytes], name: '' }, param);
    } catch (error) {
      if (!(error instanceof FileUnavailable)) throw error;
      // The reason stays here: it would show a stranger what answers inside this network.
      log.info({ requestId, host: url.host, reason: error.message }, 'an image was not fetched');
      const message = `${param} could not be fetched: send a data URL, or an address that is public and quick.`;
      throw new ApiError('invalid_image', message, { param });
    }
  }
}
