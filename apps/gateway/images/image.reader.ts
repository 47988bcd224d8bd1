import { Worker } from 'node:worker_threads';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { FairShare } from '#platform/fair-share.js';
import { workerProgram } from '#platform/places.js';
import type { InputImage } from '#upstream/outcomes.js';
import { MAX_INPUT_IMAGE_BYTES, MAX_IMAGE_TIMES_AS_LONG } from '../http/limits.js';
import type { ReceivedImage } from '../http/input-images.js';
import type { ReadAnswer, ImageFault, ReadOrder } from './image.worker.js';

export interface ImageReaderParts {
  clock: Clock;
  /** The number of images read at the same time, each in its own thread. */
  threads: number;
  /** An image that takes longer is refused, and its thread ended. */
  limitMs: number;
  maxPixels: number;
}

type ReadImage = Exclude<ReadAnswer, { fault: ImageFault }>;

/** All images of one conversation. */
const LONGEST_CHECK_MS = 30_000;
/** Images of a patient client: the request has its own limit. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Reads images from clients to the last pixel, in its own threads, before anything is held: broken, truncated or malicious
 * images are the client's fault, not an upstream's. Accounts have fair shares of the threads.
 */
export class ImageReader {
  private readonly places: FairShare;
  private readonly idle: Worker[] = [];
  private readonly all = new Set<Worker>();

  constructor(private readonly parts: ImageReaderParts) {
    this.places = new FairShare({ clock: parts.clock, capacity: parts.threads });
  }

  /** @throws ApiError invalid_image, request_too_large, rate_limit_exceeded; they name the image's field */
  async read(accountId: string, image: ReceivedImage, ordinal: number): Promise<InputImage> {
    const { param } = image;
    const order = orderOf(image, { allowsGif: false, maxPixels: this.parts.maxPixels });
    const { bytes, mime, extension } = await this.carryOut(accountId, order, param);
    return { bytes: Buffer.from(bytes.buffer), mime, name: `${param}-${ordinal}.${extension}` };
  }

  /**
   * Reads images that go on inside their request, as they came. GIFs are the vendor's to judge.
   * @throws ApiError as `read`; invalid_image as well where all of them together take too long
   */
  async check(accountId: string, images: readonly ReceivedImage[], left?: AbortSignal): Promise<void> {
    const endsAtMs = this.parts.clock.elapsedMs() + LONGEST_CHECK_MS;
    for (const image of images) {
      if (left?.aborted) return;
      const { param } = image;
      if (this.parts.clock.elapsedMs() > endsAtMs)
        throw new ApiError('invalid_image', `${param} contains images that are too complex to read.`, {
          param,
        });
      // Passing bytes to a thread would take them away, and these are still to be sent.
      const pieces = [...image.pieces].map((piece) => Buffer.copyBytesFrom(piece));
      const order = orderOf({ ...image, pieces }, { allowsGif: true, maxPixels: this.parts.maxPixels });
      await this.carryOut(accountId, order, param);
    }
  }

  private async carryOut(accountId: string, order: ReadOrder, param: string): Promise<ReadImage> {
    const place = await this.places.take(accountId, 1, { waitMs: LONGEST_WAIT_MS });
    if (!place.granted) {
      const message = 'Too many images are being decoded right now. Nothing was charged; please retry.';
      const { retryAfterSeconds } = place;
      throw new ApiError('rate_limit_exceeded', message, { param, retryAfterSeconds });
    }
    try {
      const answer = await this.order(order);
      if (answer.fault !== undefined) throw this.refusalOf(answer.fault, param);
      return answer;
    } finally {
      place.release();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.all].map((worker) => worker.terminate()));
  }

  private order(order: ReadOrder): Promise<ReadAnswer> {
    const worker = this.idlePop() ?? this.startWorker();
    return new Promise((resolve) => {
      const settle = (answer: ReadAnswer, isAlive: boolean) => {
        clearTimeout(limit);
        worker.off('message', onAnswer).off('exit', onExit);
        if (isAlive) this.idle.push(worker);
        else this.discard(worker);
        resolve(answer);
      };
      const onAnswer = (answer: ReadAnswer) => settle(answer, true);
      const onExit = () => settle({ fault: 'broken' }, false);
      // The thread may go on inside a decoder until that returns; nobody waits for it.
      const limit = setTimeout(() => settle({ fault: 'too_many_pixels' }, false), this.parts.limitMs);
      worker.once('message', onAnswer).once('exit', onExit);
      worker.postMessage(
        order,
        order.pieces.map(({ buffer }) => buffer as ArrayBuffer),
      );
    });
  }

  private idlePop(): Worker | undefined {
    for (let worker = this.idle.pop(); worker; worker = this.idle.pop()) {
      if (worker.threadId >= 0) return worker;
      this.all.delete(worker);
    }
    return undefined;
  }

  private startWorker(): Worker {
    const worker = new Worker(workerProgram('apps/gateway/images/image.worker'));
    // Its exit says the same.
    worker.on('error', () => undefined);
    worker.unref();
    this.all.add(worker);
    return worker;
  }

  private discard(worker: Worker): void {
    void worker.terminate().then(() => this.all.delete(worker));
  }

  private refusalOf(fault: ImageFault, param: string): ApiError {
    const invalid = (what: string) => new ApiError('invalid_image', `${param} ${what}.`, { param });
    switch (fault) {
      case 'no_base64':
        return invalid('is not valid base64');
      case 'no_image':
        return invalid('must be a PNG, JPEG or WebP image');
      case 'broken':
        return invalid('is broken: it cannot be read to its end');
      case 'too_many_pixels':
        return invalid(
          `is too much work to read: it may have at most ${this.parts.maxPixels} pixels, half as many with 16 bits per channel`,
        );
      case 'too_narrow':
        return invalid(
          `may be at most ${MAX_IMAGE_TIMES_AS_LONG} times as long as it is wide, or as wide as it is long`,
        );
      case 'too_many_bytes':
        return new ApiError(
          'request_too_large',
          `An image can have at most ${MAX_INPUT_IMAGE_BYTES} bytes.`,
          {
            param,
          },
        );
    }
  }
}

/** Every piece is memory of its own, so it can be handed over without a copy. */
function orderOf(
  { encoding, pieces, isEscaped }: ReceivedImage,
  rules: Pick<ReadOrder, 'allowsGif' | 'maxPixels'>,
): ReadOrder {
  const own = [...pieces].map((piece) =>
    piece.buffer.byteLength > 2 * piece.length ? Uint8Array.prototype.slice.call(piece) : piece,
  );
  const bytes = own.map(({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length));
  return {
    encoding,
    isEscaped,
    pieces: bytes,
    maxBytes: MAX_INPUT_IMAGE_BYTES,
    maxTimesAsLong: MAX_IMAGE_TIMES_AS_LONG,
    ...rules,
  };
}
