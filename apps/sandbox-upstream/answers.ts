import type { IncomingMessage, ServerResponse } from 'node:http';

/** An error that the vendor answers, in the OpenAI shape. Its codes are the vendor's own, not the relay's table. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly param: string | null = null,
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Answers a JSON text that is already written out. */
export function sendText(response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
  });
  response.end(json);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  const { status, code, message, param } = refusal;
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  if (status === 503) response.setHeader('retry-after', '1');
  // The rest of a body that was too large is not worth reading, so the connection ends with this answer.
  if (status === 413) response.setHeader('connection', 'close');
  sendJson(response, status, { error: { message, type, param, code } });
}

/** A body with one inlined photo is megabytes; the vendor reads it only to refuse it. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Reads a JSON object. @throws Refusal 415 for any other type or an empty body, 413 too large, 400 not an object. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw new Refusal(415, 'unsupported_media_type', 'This interface takes JSON only.');
  }
  const text = await readText(request);
  if (text === '') throw new Refusal(415, 'unsupported_media_type', 'The body is empty.');
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal(400, 'invalid_json', 'The body must be a JSON object.');
  }
  return body as Record<string, unknown>;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The connection has to outlive a body that is given up half-way, or the 413 would never arrive.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Refusal(413, 'request_too_large', 'The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_json', 'The body is not JSON.');
  }
}
