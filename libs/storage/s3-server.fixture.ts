import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredObject {
  bytes: Buffer;
  written: Date;
}
interface PendingUpload {
  key: string;
  parts: Map<number, Buffer>;
  started: Date;
}
interface Call {
  key: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
}
interface Answer {
  status: number;
  body?: string | Buffer;
  headers?: Record<string, string | number>;
}

const PAGE = 2;
const SMALLEST_PART = 5 * 1024 * 1024;

/** The protocol of an S3-compatible store, for one bucket with path-style addresses. */
export class S3Server {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, PendingUpload>();
  /** The requested operations in order, by S3's names. */
  readonly operations: string[] = [];
  private readonly server: Server;

  private constructor(
    private readonly bucket: string,
    private readonly accessKeyId: string,
  ) {
    this.server = createServer((request, response) => {
      void this.handle(request, response).catch(() => response.destroy());
    });
  }

  static async start(bucket: string, accessKeyId: string): Promise<S3Server> {
    const server = new S3Server(bucket, accessKeyId);
    await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const answer = this.answer(request, body);
    response.writeHead(answer.status, answer.headers);
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  private answer({ method = '', url = '', headers }: IncomingMessage, body: Buffer): Answer {
    const { pathname, searchParams: query } = new URL(url, 'http://store');
    const [, bucket, ...rest] = decodeURIComponent(pathname).split('/');
    if (!this.isSigned(headers, body)) return failure(403, 'SignatureDoesNotMatch');
    if (bucket !== this.bucket) return failure(404, 'NoSuchBucket');
    const call: Call = { key: rest.join('/'), query, headers, body };
    const name = operationOf(method, call);
    this.operations.push(name);
    return this.perform[name]?.(call) ?? failure(501, 'NotImplemented');
  }

  private isSigned(headers: IncomingMessage['headers'], body: Buffer): boolean {
    const match =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/[^/]+\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=[0-9a-f]{64}$/.exec(
        headers.authorization ?? '',
      );
    const signed = match?.[2]?.split(';') ?? [];
    return (
      match?.[1] === this.accessKeyId &&
      ['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name)) &&
      headers['x-amz-content-sha256'] === createHash('sha256').update(body).digest('hex')
    );
  }

  private readonly perform: Record<string, (call: Call) => Answer> = {
    HeadBucket: () => ({ status: 200 }),
    PutObject: ({ key, body }) => this.put(key, body),
    GetObject: ({ key, headers }) => this.get(key, headers.range),
    HeadObject: ({ key }) => this.get(key, undefined),
    DeleteObject: ({ key }) => {
      this.objects.delete(key);
      return { status: 204 };
    },
    ListObjectsV2: ({ query }) => this.list(query),
    ListMultipartUploads: ({ query }) => this.listUploads(query.get('prefix') ?? ''),
    CreateMultipartUpload: ({ key }) => {
      const id = randomUUID();
      this.uploads.set(id, { key, parts: new Map(), started: new Date() });
      return xml(
        'InitiateMultipartUploadResult',
        `<Bucket>${this.bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId>`,
      );
    },
    UploadPart: ({ query, body }) => {
      const upload = this.uploads.get(query.get('uploadId') ?? '');
      if (!upload) return failure(404, 'NoSuchUpload');
      upload.parts.set(Number(query.get('partNumber')), body);
      return { status: 200, headers: { etag: etagOf(body) } };
    },
    CompleteMultipartUpload: (call) => this.complete(call),
    AbortMultipartUpload: ({ query }) =>
      this.uploads.delete(query.get('uploadId') ?? '') ? { status: 204 } : failure(404, 'NoSuchUpload'),
  };

  private put(key: string, bytes: Buffer): Answer {
    this.objects.set(key, { bytes, written: new Date() });
    return { status: 200, headers: { etag: etagOf(bytes) } };
  }

  private get(key: string, range: string | undefined): Answer {
    const stored = this.objects.get(key);
    if (!stored) return failure(404, 'NoSuchKey');
    const { bytes } = stored;
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    if (first === undefined) {
      return { status: 200, body: bytes, headers: { 'content-length': bytes.length, etag: etagOf(bytes) } };
    }
    const part = bytes.subarray(Number(first), Number(last) + 1);
    const contentRange = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`;
    return {
      status: 206,
      body: part,
      headers: { 'content-length': part.length, 'content-range': contentRange },
    };
  }

  private list(query: URLSearchParams): Answer {
    const after = query.get('continuation-token') ?? '';
    const prefix = query.get('prefix') ?? '';
    const keys = [...this.objects.keys()].sort().filter((key) => key.startsWith(prefix) && key > after);
    const page = keys.slice(0, PAGE);
    const entries = page.map((key) => {
      const { bytes, written } = this.objects.get(key) as StoredObject;
      return `<Contents><Key>${key}</Key><LastModified>${written.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    const more = keys.length > PAGE;
    const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    return xml(
      'ListBucketResult',
      `<IsTruncated>${more}</IsTruncated>${next}<KeyCount>${page.length}</KeyCount>${entries.join('')}`,
    );
  }

  private listUploads(prefix: string): Answer {
    const entries = [...this.uploads]
      .filter(([, { key }]) => key.startsWith(prefix))
      .map(
        ([id, { key, started }]) =>
          `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${started.toISOString()}</Initiated></Upload>`,
      );
    return xml('ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${entries.join('')}`);
  }

  private complete({ key, query, body }: Call): Answer {
    const id = query.get('uploadId') ?? '';
    const upload = this.uploads.get(id);
    if (!upload) return failure(404, 'NoSuchUpload');
    const numbers = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, n]) =>
      Number(n),
    );
    const parts = numbers.map((number) => upload.parts.get(number));
    if (parts.some((part) => part === undefined)) return failure(400, 'InvalidPart');
    const whole = parts as Buffer[];
    if (whole.slice(0, -1).some((part) => part.length < SMALLEST_PART)) return failure(400, 'EntityTooSmall');
    this.uploads.delete(id);
    const bytes = Buffer.concat(whole);
    this.put(key, bytes);
    return xml('CompleteMultipartUploadResult', `<Key>${key}</Key><ETag>${etagOf(bytes)}</ETag>`);
  }
}

function operationOf(method: string, { key, query }: Call): string {
  if (key === '') {
    if (method === 'HEAD') return 'HeadBucket';
    return query.has('uploads') ? 'ListMultipartUploads' : 'ListObjectsV2';
  }
  if (query.has('uploads')) return 'CreateMultipartUpload';
  if (query.has('uploadId')) {
    const ofParts: Record<string, string> = { PUT: 'UploadPart', POST: 'CompleteMultipartUpload' };
    return ofParts[method] ?? 'AbortMultipartUpload';
  }
  return `${method[0]}${method.slice(1).toLowerCase()}Object`;
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function xml(root: string, inside: string, status = 200): Answer {
  return {
    status,
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${inside}</${root}>`,
    headers: { 'content-type': 'application/xml' },
  };
}

function failure(status: number, code: string): Answer {
  return xml('Error', `<Code>${code}</Code><Message>${code}</Message>`, status);
}
