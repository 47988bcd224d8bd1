import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { ApiError, NamedError } from '#platform/errors.js';
import type { UpstreamConnections } from './connections.js';
import { checkFileUrl, ForbiddenAddress } from './public-address.js';

/** A file that was not available this time. The message is for the operator. */
export class FileUnavailable extends NamedError {
  /** It may be available later. */
  readonly mayPass: boolean;

  constructor(reason: string, { mayPass = false, cause }: { mayPass?: boolean; cause?: unknown } = {}) {
    super(reason, { cause });
    this.mayPass = mayPass;
  }
}

export interface FileBody {
  /** Ends with an error if the connection breaks, is silent for too long, or brings fewer bytes than announced. */
  body: Readable;
  /** As announced; null if the upstream does not say. */
  bytes: number | null;
}

export interface FileOptions {
  signal: AbortSignal;
  /** A longer announced file is refused at once. The reader must still count. */
  maxBytes: number;
  allowPrivateAddress: boolean;
  /** Headers that are sent to this origin only. */
  credentials?: { origin: string; headers: Record<string, string> };
}

/** A bucket behind a signed URL behind a CDN takes two or three hops. A loop never ends. */
const MAX_REDIRECTS = 5;
/** The longest pause inside a file. */
const SILENCE_LIMIT_MS = 30_000;

/** For a recently created file, 404 is temporary, too. */
const MAY_PASS = /^(404|408|425|429|5\d\d)$/;

const REDIRECTIONS = [301, 302, 303, 307, 308];

/**
 * Opens a file that an upstream named. Every hop's address is checked, and a host name when the connection resolves it.
 * The caller must read or destroy the body. @throws FileUnavailable
 */
export async function openFile(
  connections: UpstreamConnections,
  fileUrl: string,
  options: FileOptions,
): Promise<FileBody> {
  const dispatcher = options.allowPrivateAddress ? connections.anyFiles : connections.publicFiles;
  try {
    let url = new URL(fileUrl);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      checkFileUrl(url, options.allowPrivateAddress);
      const answer = await request(dispatcher, url, options);
      // An abandoned body ends with an error. Its reader sees errors when reading.
      answer.body.on('error', () => undefined);
      const location = redirectionOf(answer);
      if (location === null) return accept(answer, options.maxBytes);
      answer.body.destroy();
      url = new URL(location, url);
    }
    throw new FileUnavailable(`more than ${MAX_REDIRECTS} redirections`);
  } catch (error) {
    if (error instanceof FileUnavailable) throw error;
    throw new FileUnavailable(reasonOf(error), { cause: error, mayPass: !isForbidden(error) });
  }
}

function redirectionOf({ statusCode, headers }: Dispatcher.ResponseData): string | null {
  const { location } = headers;
  return REDIRECTIONS.includes(statusCode) && typeof location === 'string' ? location : null;
}

function isForbidden(error: unknown): boolean {
  const { cause } = error as { cause?: unknown };
  return error instanceof TypeError || error instanceof ForbiddenAddress || cause instanceof ForbiddenAddress;
}

/** The operator may know why a name has no public address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return code === undefined ? error.message : `${error.message} (${code})`;
}

/**
 * The bytes of an opened file, counted as they arrive.
 * @param onBytes called with the number that arrived. What it throws ends the download
 * @throws FileUnavailable
 */
export async function readWhole(
  body: Readable,
  maxBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let count = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      count += chunk.length;
      if (count > maxBytes) throw new FileUnavailable(`more than ${maxBytes} bytes`);
      onBytes?.(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof FileUnavailable || error instanceof ApiError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new FileUnavailable(reason, { cause: error, mayPass: true });
  }
  return Buffer.concat(chunks);
}

function request(dispatcher: Dispatcher, url: URL, options: FileOptions): Promise<Dispatcher.ResponseData> {
  const { signal, credentials } = options;
  return dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    // Encoded bytes would not be the file, and their length would not be the announced one.
    headers: {
      'accept-encoding': 'identity',
      ...(credentials?.origin === url.origin && credentials.headers),
    },
    signal,
    headersTimeout: SILENCE_LIMIT_MS,
    bodyTimeout: SILENCE_LIMIT_MS,
  });
}

function accept(answer: Dispatcher.ResponseData, maxBytes: number): FileBody {
  const announced = Number(answer.headers['content-length'] ?? NaN);
  const bytes = Number.isSafeInteger(announced) ? announced : null;
  const fault = faultOf(answer.statusCode, bytes, maxBytes);
  if (fault !== null) {
    answer.body.destroy();
    throw new FileUnavailable(fault, { mayPass: MAY_PASS.test(String(answer.statusCode)) });
  }
  return { body: answer.body, bytes };
}

function faultOf(status: number, bytes: number | null, maxBytes: number): string | null {
  if (status !== 200) return `HTTP ${status}`;
  if (bytes !== null && bytes > maxBytes) return `${bytes} bytes announced, ${maxBytes} allowed`;
  return null;
}
