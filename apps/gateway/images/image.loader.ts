import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import type { Upstreams } from '#upstream/adapters.js';
import { FileUnavailable } from '#upstream/file-download.js';
import type { InputImage } from '#upstream/outcomes.js';
import { MAX_INPUT_IMAGE_BYTES, MAX_INPUT_IMAGES_BYTES, IMAGE_FETCH_MS } from '../http/limits.js';
import { imageOfFile, type ImageInput, type ReceivedImage } from '../http/input-images.js';
import type { MemoryShare } from '../protection/body-memory.js';
import type { ImageReader } from './image.reader.js';

/** The images of an edit: at least one, and a mask of where the first can change. */
export interface EditImages<P> {
  readonly images: readonly P[];
  readonly mask: P | undefined;
}

/** Whose images they are. */
export interface ImageOwner {
  requestId: string;
  accountId: string;
  /** Where fetched images are counted. */
  memory: MemoryShare | null;
}

/** Loads the images of a request: fetches those given by URL, and reads all of them to the end. */
export class ImageLoader {
  constructor(
    private readonly parts: {
      upstreams: Upstreams;
      reader: ImageReader;
      allowPrivateAddress: boolean;
      log: Logger;
    },
  ) {}

  /**
   * An address is fetched from public hosts only, after redirections and name resolution too, and for a limited time.
   * @throws ApiError invalid_image, request_too_large, service_unavailable
   */
  async load({ images, mask }: EditImages<ImageInput>, call: ImageOwner): Promise<EditImages<InputImage>> {
    const inputs = mask === undefined ? images : [...images, mask];
    const signal = AbortSignal.timeout(IMAGE_FETCH_MS);
    const loaded: InputImage[] = [];
    let total = 0;
    // One after the other, so that a request does not open many connections at once.
    for (const [index, input] of inputs.entries()) {
      const received = input.kind === 'received' ? input : await this.fetched(input, call, signal);
      const image = await this.parts.reader.read(call.accountId, received, index + 1);
      total += image.bytes.length;
      if (total > MAX_INPUT_IMAGES_BYTES) {
        const message = `The images of a request have at most ${MAX_INPUT_IMAGES_BYTES} bytes together.`;
        throw new ApiError('request_too_large', message, { param: input.param });
      }
      loaded.push(image);
    }
    return { images: loaded.slice(0, images.length), mask: loaded[images.length] };
  }

  /** The same when they are first needed, once for all models of a request. */
  once(images: EditImages<ImageInput>, call: ImageOwner): () => Promise<EditImages<InputImage>> {
    let loaded: Promise<EditImages<InputImage>> | undefined;
    return () => (loaded ??= this.load(images, call));
  }

  private async fetched(
    { url, param }: Extract<ImageInput, { kind: 'address' }>,
    { requestId, memory }: ImageOwner,
    signal: AbortSignal,
  ): Promise<ReceivedImage> {
    const { upstreams, allowPrivateAddress, log } = this.parts;
    try {
      const onBytes = (bytes: number) => memory?.add(bytes);
      const options = { signal, maxBytes: MAX_INPUT_IMAGE_BYTES, allowPrivateAddress, onBytes };
      const bytes = await upstreams.fetchAddress(url, options);
      return imageOfFile({ pieces: [bytes], name: '' }, param);
    } catch (error) {
      if (!(error instanceof FileUnavailable)) throw error;
      // The reason stays here: it would show a stranger what answers inside this network.
      log.info({ requestId, host: url.host, reason: error.message }, 'an image was not fetched');
      const message = `${param} could not be fetched: send a data URL, or an address that is public and quick.`;
      throw new ApiError('invalid_image', message, { param });
    }
  }
}
