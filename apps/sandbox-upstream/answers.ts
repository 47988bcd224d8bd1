import type { IncomingMessage, ServerResponse } from 'node:http';
import { NamedError } from '#platform/errors.js';

/** The code for refused content, which each family names differently. */
export const CONTENT_REFUSED = 'content_policy_violation';

/** A vendor's error, in the format of the path's family. Its codes are the vendor's own, not those of the relay. */
export class VendorRefusal extends NamedError {
  readonly param: string | null;

  constructor(
    readonly status: number,
    readonly code: string,
    said: string | { message: string; param: string | null },
  ) {
    super(typeof said === 'string' ? said : said.message);
    this.param = typeof said === 'string' ? null : said.param;
  }
}

/** Refuses a request because of one of its fields. */
export function refusedField(param: string, message: string, code = 'invalid_value'): VendorRefusal {
  return new VendorRefusal(400, code, { message, param });
}

/** Answers with a JSON text. */
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

/** Vendors with their own base path and conventions. */
const OWN_FAMILIES = ['vertex', 'fal', 'replicate', 'bfl', 'meshy'] as const;
/** The vendor whose conventions apply to a path. */
export type ApiFamily = 'openai' | 'google' | 'anthropic' | (typeof OWN_FAMILIES)[number];

export function apiFamilyOf(path: string): ApiFamily {
  if (path.startsWith('/v1beta/')) return 'google';
  const own = OWN_FAMILIES.find((family) => path.startsWith(`/${family}/`));
  if (own) return own;
  return path.startsWith('/v1/messages') ? 'anthropic' : 'openai';
}

export function sendRefusal(response: ServerResponse, refusal: VendorRefusal, family: ApiFamily): void {
  const { status } = refusal;
  if (status === 503 || status === 429) response.setHeader('retry-after', '1');
  // The rest of an oversized body is not read, so the connection ends with this answer.
  if (status === 413) response.setHeader('connection', 'close');
  if (family === 'google') {
    const shown = googleStatus(refusal);
    sendJson(response, shown, googleError(refusal, shown));
  } else {
    // fal refuses content as it refuses any input.
    const isInput = family === 'fal' && refusal.code === CONTENT_REFUSED;
    // Black Forest Labs forbids what others do not authenticate.
    const isForbidden = family === 'bfl' && refusal.code === WRONG_KEY;
    sendJson(response, isInput ? 422 : isForbidden ? 403 : status, errorIn[family](refusal));
  }
}

const errorIn: Record<Exclude<ApiFamily, 'google'>, (refusal: VendorRefusal) => object> = {
  openai: openaiError,
  anthropic: anthropicError,
  fal: falError,
  replicate: replicateError,
  bfl: bflError,
  meshy: ({ message, code }) => ({ message: code === CONTENT_REFUSED ? `${message} (moderation)` : message }),
  vertex: (refusal) => googleError(refusal, refusal.status),
};

/** What a model refuses is a list; what the queue refuses is a text. */
function falError({ status, code, message, param }: VendorRefusal) {
  if (status !== 422 && code !== CONTENT_REFUSED)
    return { detail: message, ...(code && { error_type: code }) };
  return { detail: [{ loc: ['body', param ?? 'prompt'], msg: message, type: code }] };
}

/** A problem: its title says what kind. */
function replicateError({ status, code, message }: VendorRefusal) {
  return { title: code, detail: message, status };
}

function bflError(refusal: VendorRefusal) {
  const { status, message, code } = refusal;
  return status === 422 ? { detail: [{ loc: ['body'], msg: message, type: code }] } : { detail: message };
}

function openaiError({ status, code, message, param }: VendorRefusal) {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { message, type, param, code } };
}

const GOOGLE_WORDS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** Google answers a wrong key with 400. */
function googleStatus({ status, code }: VendorRefusal): number {
  return code === WRONG_KEY ? 400 : status;
}

function googleError(refusal: VendorRefusal, status: number) {
  const message = GOOGLE_MESSAGES[refusal.code] ?? refusal.message;
  return { error: { code: status, message, status: GOOGLE_WORDS[status] ?? 'UNKNOWN' } };
}

/** The code of the vendor's answer to a missing or wrong key. */
export const WRONG_KEY = 'invalid_api_key';

const GOOGLE_MESSAGES: Record<string, string> = {
  [WRONG_KEY]: 'API key not valid. Please pass a valid API key.',
  [CONTENT_REFUSED]: "The prompt could not be submitted: it violates the vendor's Responsible AI practices.",
};

const ANTHROPIC_TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function anthropicError({ status, code, message }: VendorRefusal) {
  const type = ANTHROPIC_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const text = code === CONTENT_REFUSED ? 'Output blocked by content filtering policy' : message;
  return { type: 'error', error: { type, message: text } };
}

/** Sixteen photos in base64. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Reads a JSON object. @throws VendorRefusal 415 for any other type or an empty body, 413 too large, 400 not an object. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw new VendorRefusal(415, 'unsupported_media_type', 'This interface takes JSON only.');
  }
  const text = (await readBytes(request)).toString('utf8');
  if (text === '') throw new VendorRefusal(415, 'unsupported_media_type', 'The body is empty.');
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new VendorRefusal(400, 'invalid_json', 'The body must be a JSON object.');
  }
  return body as Record<string, unknown>;
}

/** Reads a body whole. @throws VendorRefusal 413 when it is longer. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The connection has to outlive a body that is given up half-way, or the 413 would never arrive.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new VendorRefusal(413, 'request_too_large', 'The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a form. @throws VendorRefusal 400 for what is none, 413 when it is longer. */
export async function readFormBody(request: IncomingMessage): Promise<FormData> {
  const bytes = await readBytes(request);
  const type = request.headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
  if (!form) throw new VendorRefusal(400, 'invalid_multipart', 'The body is no form.');
  return form;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new VendorRefusal(400, 'invalid_json', 'The body is not JSON.');
  }
}
