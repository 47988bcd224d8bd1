import type { FastifyReply, FastifyRequest } from 'fastify';
import { MAX_IMAGE_BYTES } from '#upstream/image-bytes.js';
import { sniffMediaType } from '#upstream/media-type.js';
import { signPath, verifySignature } from '#storage/signed-url.js';
import type { FileStore } from '#storage/file-store.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { traced } from '#platform/tracing.js';
import { isMissingFile, sendFile, type StoredFile } from '../http/file-answer.js';

/** An image that is not stored by then is neither delivered nor charged. */
const STORE_LIMIT_MS = 15_000;

/** The parts of a signed URL in its query. */
interface Signature {
  exp?: string;
  sig?: string;
}

export interface LinkedImage {
  /** The position among the images of the call. */
  index: number;
  /** The signed path at the gateway. */
  path: string;
  type: string;
  untilMs: number;
}

const PATH = '/v1/images/files/';
/** `<charge id>-<ordinal>.<extension>`, as created by `keep`. */
const NAME = /^[0-9a-z]{26}-\d{1,3}\.(png|jpg|gif|webp)$/;
const MIME: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** Delivered images behind signed URLs that work for a limited time. The worker removes the files afterwards. */
export class ImageFiles {
  constructor(
    private readonly store: FileStore,
    private readonly options: { secret: string; lifeMs: number; clock: Clock },
  ) {}

  /**
   * Stores an image and returns its signed path, without an fsync: clients fetch the link within seconds, and an fsync per
   * image would cost more than the rest of the request.
   * @throws the store's error, or that of a cancelled write if it takes too long or `signal` aborts
   */
  async keep(name: string, bytes: Buffer, signal: AbortSignal): Promise<string> {
    const facts = { 'tollgate.file.bytes': bytes.length };
    const options = {
      maxBytes: MAX_IMAGE_BYTES,
      durable: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(STORE_LIMIT_MS)]),
    };
    await traced('store file', { facts }, () => this.store.write(`images/${name}`, bytes, options));
    return this.signed(name, this.options.clock.nowMs() + this.options.lifeMs);
  }

  /** How long an image is stored, from the end of its call. */
  get lifeMs(): number {
    return this.options.lifeMs;
  }

  /** The images of a charge in a range that are stored, with links valid until then. Those that were removed are left out. */
  async linksOf(
    chargeId: string,
    { from, to }: { from: number; to: number },
    untilMs: number,
  ): Promise<LinkedImage[]> {
    const names = Array.from({ length: to - from }, (_, position) => from + position).flatMap((index) =>
      Object.entries(MIME).map(([extension, type]) => ({ index, type, ending: `${index}.${extension}` })),
    );
    const endings = names.map(({ ending }) => ending);
    const found = new Set(await this.store.existing(`images/${chargeId}-`, endings));
    return names
      .filter(({ ending }) => found.has(ending))
      .map(({ index, type, ending }) => {
        return { index, type, path: this.signed(`${chargeId}-${ending}`, untilMs), untilMs };
      });
  }

  /** Sends the file of a signed URL. @throws ApiError file_not_found if it is forged, expired or removed */
  async send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const file = await this.find(name, request.query as Signature);
    if (!file) throw gone();
    try {
      await sendFile(request, reply, { store: this.store, file });
    } catch (error) {
      throw isMissingFile(error) ? gone() : error;
    }
  }

  private signed(name: string, untilMs: number): string {
    const path = PATH + name;
    return path + signPath(this.options.secret, path, untilMs);
  }

  /** The file of a signed URL. Null if it is forged, expired or removed. */
  private async find(name: string, signature: Signature): Promise<StoredFile | null> {
    const extension = NAME.exec(name)?.[1];
    if (extension === undefined) return null;
    const { secret, clock } = this.options;
    if (!verifySignature(secret, { ...signature, path: PATH + name }, clock.nowMs())) return null;
    const key = `images/${name}`;
    const found = await this.store.stat(key);
    return found && { key, bytes: found.bytes, type: MIME[extension] ?? '', etag: `"${name}"` };
  }
}

function gone(): ApiError {
  return new ApiError('file_not_found', 'There is no such image, or its link has expired.');
}

/** Enough base64 to detect the type of an image. */
const HEAD_CHARS = 24;

/** The real media type of base64, or null if it is not an image. */
export function imageTypeOf(b64: string): string | null {
  const mime = sniffMediaType(Buffer.from(b64.slice(0, HEAD_CHARS), 'base64'))?.mime;
  return mime?.startsWith('image/') ? mime : null;
}
