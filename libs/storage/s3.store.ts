import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import {
  atMost,
  endingSource,
  FileMissing,
  FileStore,
  FileTooLarge,
  folderName,
  isKey,
  keyParts,
  type WriteOptions,
} from './file-store.js';

export interface S3Options {
  /** Absent: Amazon's endpoint in the region. */
  endpoint?: string | undefined;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** The bucket in the path instead of the host name. */
  forcePathStyle: boolean;
}

/** The smallest part that stores accept. Copying a video keeps about two of them in memory. */
const PART_BYTES = 5 * 1024 * 1024;
const CONNECTION_TIMEOUT_MS = 3_000;
/** The time limit for an answer. The body of a download may take longer. */
const REQUEST_TIMEOUT_MS = 60_000;
/** A slow download keeps its connection. The client's default limit of 50 is too few for them. */
const AGENT = { keepAlive: true, maxSockets: 1_000 };
const DELETES_AT_ONCE = 20;

/** Files as objects of a bucket. A broken upload is aborted and never appears. Keys are the objects' names. */
export class S3Store extends FileStore {
  private readonly client: S3Client;
  /** Has connections of its own, so that slow downloads hold up neither writes nor checks. */
  private readonly downloads: S3Client;
  private readonly bucket: string;
  readonly place: string;

  constructor(options: S3Options) {
    super();
    this.bucket = options.bucket;
    this.place = `${options.endpoint ?? 's3'} ${options.bucket}`;
    this.client = clientOf(options);
    this.downloads = clientOf(options);
  }

  async write(
    key: string,
    source: Readable | Buffer,
    { maxBytes, signal }: WriteOptions,
  ): Promise<{ bytes: number }> {
    return endingSource(source, () =>
      Buffer.isBuffer(source)
        ? this.writeBuffer(key, source, { maxBytes, signal })
        : this.writeStream(key, source, { maxBytes, signal }),
    );
  }

  async stat(key: string, signal?: AbortSignal): Promise<{ bytes: number } | null> {
    try {
      const { ContentLength } = await this.client.send(new HeadObjectCommand(this.object(key)), {
        ...(signal && { abortSignal: signal }),
      });
      return { bytes: ContentLength ?? 0 };
    } catch (error) {
      if (!isMissing(error)) throw withStatus(error);
      // The answer to a HEAD does not say what is missing: the file or the whole bucket.
      await this.check(signal);
      return null;
    }
  }

  async existing(start: string, endings: readonly string[]): Promise<string[]> {
    const asked = new ListObjectsV2Command({ Bucket: this.bucket, Prefix: start });
    const { Contents = [] } = await this.client.send(asked);
    const keys = new Set(Contents.map(({ Key }) => Key));
    return endings.filter((ending) => keys.has(start + ending));
  }

  async open(key: string, range?: { start: number; end: number }): Promise<Readable> {
    const part = range && { Range: `bytes=${range.start}-${range.end}` };
    try {
      const { Body } = await this.downloads.send(new GetObjectCommand({ ...this.object(key), ...part }));
      if (!(Body instanceof Readable)) throw new Error('the store answered without a body');
      return Body;
    } catch (error) {
      throw isMissing(error) ? new FileMissing(key) : error;
    }
  }

  async remove(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand(this.object(key)));
  }

  async *keys(): AsyncGenerator<string> {
    const bucket = { Bucket: this.bucket };
    for await (const { Contents = [] } of paginateListObjectsV2({ client: this.client }, bucket)) {
      for (const { Key } of Contents) if (Key && isKey(Key)) yield Key;
    }
  }

  async purgeOlderThan(folder: string, ageMs: number): Promise<number> {
    const prefix = { Bucket: this.bucket, Prefix: `${folderName(folder)}/` };
    const isOld = (written: Date | undefined) =>
      written !== undefined && written.getTime() < Date.now() - ageMs;
    let removed = 0;
    for await (const { Contents = [] } of paginateListObjectsV2({ client: this.client }, prefix)) {
      const old = Contents.flatMap(({ Key, LastModified }) => (Key && isOld(LastModified) ? [Key] : []));
      for (let from = 0; from < old.length; from += DELETES_AT_ONCE) {
        const some = old.slice(from, from + DELETES_AT_ONCE);
        await Promise.all(
          some.map((Key) => this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key }))),
        );
      }
      removed += old.length;
    }
    // Uploads of killed processes. One page of the list is enough per round.
    const { Uploads = [] } = await this.client.send(new ListMultipartUploadsCommand(prefix));
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (!isOld(Initiated)) continue;
      await this.client.send(new AbortMultipartUploadCommand({ Bucket: this.bucket, Key, UploadId }));
      removed += 1;
    }
    return removed;
  }

  /** Checks that the bucket exists and the credentials work. @throws the store's error */
  async check(signal?: AbortSignal): Promise<void> {
    await this.client.send(new ListObjectsV2Command({ Bucket: this.bucket, MaxKeys: 1 }), {
      ...(signal && { abortSignal: signal }),
    });
  }

  private async writeBuffer(
    key: string,
    source: Buffer,
    { maxBytes, signal }: WriteOptions,
  ): Promise<{ bytes: number }> {
    const object = this.object(key);
    if (source.length > maxBytes) throw new FileTooLarge(maxBytes);
    await this.client.send(new PutObjectCommand({ ...object, Body: source }), {
      ...(signal && { abortSignal: signal }),
    });
    return { bytes: source.length };
  }

  private async writeStream(
    key: string,
    source: Readable,
    { maxBytes, signal }: WriteOptions,
  ): Promise<{ bytes: number }> {
    const object = this.object(key);
    let bytes = 0;
    async function* counted() {
      for await (const chunk of atMost(source, maxBytes)) {
        bytes += chunk.length;
        yield chunk;
      }
    }
    const upload = new Upload({
      client: this.client,
      params: { ...object, Body: Readable.from(counted(), { objectMode: false }) },
      partSize: PART_BYTES,
      queueSize: 1,
    });
    await finish(upload, signal);
    return { bytes };
  }

  private object(key: string): { Bucket: string; Key: string } {
    const { folder, name, extension } = keyParts(key);
    return { Bucket: this.bucket, Key: `${folder}/${name}.${extension}` };
  }
}

function clientOf({ endpoint, region, forcePathStyle, accessKeyId, secretAccessKey }: S3Options): S3Client {
  return new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    region,
    forcePathStyle,
    credentials: { accessKeyId, secretAccessKey },
    // Not every compatible store supports the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: AGENT,
      httpsAgent: AGENT,
    },
  });
}

async function finish(upload: Upload, signal: AbortSignal | undefined): Promise<void> {
  const giveUp = () => void upload.abort();
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    signal?.throwIfAborted();
    await upload.done();
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound');
}

/** Answers to HEAD have no body: the client knows nothing but their status, and calls the error unknown. */
function withStatus(error: unknown): unknown {
  if (!(error instanceof S3ServiceException) || error.message !== 'UnknownError') return error;
  return new Error(`the store answered with HTTP ${error.$metadata.httpStatusCode ?? '?'}`, { cause: error });
}
