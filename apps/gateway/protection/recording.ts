import type { ServerResponse } from 'node:http';

export interface SentAnswer {
  status: number;
  contentType: string | null;
  body: Buffer;
}

export interface RecordingOptions {
  maxBytes: number;
  /** False once the answer is known in another way. */
  isWanted: () => boolean;
  /** Called with the whole answer, or null when it was too long, before its last byte is handed over. */
  onEnd: (answer: SentAnswer | null) => void;
}

/**
 * Listens to what is written to a response, for answers that are sent while they are being made. Once they are longer
 * than `maxBytes` nothing of them is kept.
 */
export function recordResponse(
  response: ServerResponse,
  { maxBytes, isWanted, onEnd }: RecordingOptions,
): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  const listen = (chunk: unknown, encoding: unknown) => {
    if (!isWanted() || (typeof chunk !== 'string' && !(chunk instanceof Uint8Array))) return;
    const copy = copyOf(chunk, encoding);
    bytes += copy.length;
    if (bytes > maxBytes) chunks = [];
    else chunks.push(copy);
  };
  let contentType: string | null = null;
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.writeHead = (...args: unknown[]) => {
    contentType = typeIn(args.at(-1)) ?? textOf(response.getHeader('content-type'));
    return writeHead(...args);
  };
  response.write = ((...args: unknown[]) => {
    listen(args[0], args[1]);
    return write(...args);
  }) as ServerResponse['write'];
  response.end = ((...args: unknown[]) => {
    listen(args[0], args[1]);
    if (isWanted()) {
      const { statusCode: status } = response;
      onEnd(bytes > maxBytes ? null : { status, contentType, body: Buffer.concat(chunks) });
    }
    return end(...args);
  }) as ServerResponse['end'];
}

/** Headers may be given at the last moment, where `getHeader` does not show them. */
function typeIn(headers: unknown): string | null {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return null;
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type');
  return textOf(header?.[1]);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function copyOf(chunk: string | Uint8Array, encoding: unknown): Buffer {
  if (typeof chunk !== 'string') return Buffer.from(chunk);
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
}
