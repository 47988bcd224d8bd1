import type { ServerResponse } from 'node:http';

export interface SentAnswer {
  status: number;
  contentType: string | null;
  /** Headers about the work, by lower-case name. */
  headers: Record<string, string>;
  body: Buffer;
}

/** The model that served, and those that did not. */
const KEPT_HEADERS = ['x-served-model', 'x-failed-models'];

/** The stored headers of an answer. */
export function headersToKeep(
  headerOf: (name: string) => unknown,
): Pick<SentAnswer, 'contentType' | 'headers'> {
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = textOf(headerOf(name));
    return value === null ? [] : [[name, value]];
  });
  return { contentType: textOf(headerOf('content-type')), headers: Object.fromEntries(headers) };
}

export interface RecordingOptions {
  maxBytes: number;
  /** False once the answer is known in another way. */
  isWanted: () => boolean;
  /** Called with the whole answer, or null if it was too long, before its last byte is sent. */
  onEnd: (answer: SentAnswer | null) => void;
}

/** Of an answer that is being recorded: what a client that has left would have been sent. */
export interface Recording {
  add(bytes: Buffer): void;
  /** `headerOf`: the headers that the answer has, or would have had. */
  end(last: Buffer | null, headerOf: (name: string) => unknown): void;
}

const recordings = new WeakMap<ServerResponse, Recording>();

/** Undefined for an answer that no repeat will be given. */
export function recordingOf(response: ServerResponse): Recording | undefined {
  return recordings.get(response);
}

class SentBytes {
  private chunks: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Ignores a callback in place of the chunk. */
  add(chunk: unknown, encoding: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const copy = copyOf(chunk, encoding);
    this.bytes += copy.length;
    if (this.bytes > this.maxBytes) this.chunks = [];
    else this.chunks.push(copy);
  }

  /** Null beyond the limit. */
  get body(): Buffer | null {
    return this.bytes > this.maxBytes ? null : Buffer.concat(this.chunks);
  }
}

/**
 * Listens to what is written to a response, for answers that are sent while they are being made. Once they are longer
 * than `maxBytes` nothing of them is kept.
 */
export function recordResponse(
  response: ServerResponse,
  { maxBytes, isWanted, onEnd }: RecordingOptions,
): void {
  const sent = new SentBytes(maxBytes);
  const listen = (chunk: unknown, encoding: unknown) => {
    if (isWanted()) sent.add(chunk, encoding);
  };
  const finish = (headerOf: (name: string) => unknown) => {
    if (!isWanted()) return;
    const { body } = sent;
    onEnd(body && { status: response.statusCode, ...headersToKeep(headerOf), body });
  };
  recordings.set(response, {
    add: (bytes) => listen(bytes, undefined),
    end: (last, headers) => {
      listen(last, undefined);
      finish(headers);
    },
  });
  let headerOf = (name: string): unknown => response.getHeader(name);
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  Object.assign(response, {
    writeHead: (...args: unknown[]) => {
      const given = lowerCased(args.at(-1));
      headerOf = (name) => given[name] ?? response.getHeader(name);
      return writeHead(...args);
    },
    write: (...args: unknown[]) => {
      listen(args[0], args[1]);
      return write(...args);
    },
    end: (...args: unknown[]) => {
      listen(args[0], args[1]);
      finish(headerOf);
      return end(...args);
    },
  });
}

/** Headers can be passed at the last moment, where `getHeader` does not show them. */
function lowerCased(headers: unknown): Record<string, unknown> {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function copyOf(chunk: string | Uint8Array, encoding: unknown): Buffer {
  if (typeof chunk !== 'string') return Buffer.from(chunk);
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
}
