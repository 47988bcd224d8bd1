import type { Channel } from '#catalog/catalog.js';
import { type WrittenJson, writeJson } from '#platform/http/long-text.js';
import { upstreamTrace } from '#platform/tracing.js';
import { classify, classifyError, isToBeRead, type VendorManner, type Yield } from './classification.js';
import type { UpstreamConnections } from './connections.js';
import { type FileBody, openFile } from './file-download.js';
import { httpCall, type HttpAnswer, type HttpCall, type HttpFailure } from './http-call.js';
import { openHttp } from './http-stream.js';
import type { NotAccepted, Refused, StreamOutcome, Unknown } from './outcomes.js';

/** Ten images of 7 MB in base64, with room to spare; also what one call may take of this process's memory. */
const MAX_PAID_ANSWER_BYTES = 128 * 1024 * 1024;
/** A task and its error text; anything larger is not one. */
const MAX_TASK_ANSWER_BYTES = 1024 * 1024;
const CANCEL_MS = 5_000;

export interface CallStyle extends VendorManner {
  /** The headers that prove to the vendor that a call is the operator's. */
  credentials(channel: Channel): Record<string, string>;
}

/** A body that is sent as JSON, or bytes that are sent as they are with their own type. */
export type CallBody = { json: object } | { written: WrittenJson; contentType: string };

export interface PaidCall {
  body: CallBody;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

/** The header of OpenAI, xAI, and most who speak like them. */
export function bearer({ apiKey }: Channel): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` };
}

/** Calls to the vendor behind a channel, in the style of one protocol. Nothing is ever repeated here. */
export class ChannelCalls {
  constructor(
    private readonly connections: UpstreamConnections,
    private readonly style: CallStyle,
  ) {}

  /** A call that may cost money; `read` gets a success and says what was accepted. `yields` is its answer unless it is said. */
  async create<T>(
    channel: Channel,
    path: string,
    call: PaidCall & { read: (answer: HttpAnswer) => T; yields?: Yield },
  ): Promise<T | Refused | NotAccepted | Unknown> {
    if (!hasAddress(channel)) return notSent;
    const { read, yields = 'answer' } = call;
    const result = await httpCall(this.connections.api, {
      ...this.post(channel, path, call),
      maxBytes: yields === 'task' ? MAX_TASK_ANSWER_BYTES : MAX_PAID_ANSWER_BYTES,
    });
    if (result.kind === 'answer') this.noteKey(channel, result);
    return classify(result, { read, yields, manner: this.style });
  }

  /** A call that only asks. */
  async get(
    channel: Channel,
    path: string,
    { signal, headers = {} }: { signal: AbortSignal; headers?: Readonly<Record<string, string>> },
  ): Promise<HttpAnswer | HttpFailure> {
    if (!hasAddress(channel)) return { kind: 'failure', sent: false, reason: notSent.reason, status: null };
    const result = await httpCall(this.connections.api, {
      method: 'GET',
      url: urlOf(channel, path),
      headers: {
        ...headers,
        ...upstreamTrace(),
        ...this.style.credentials(channel),
        accept: 'application/json',
      },
      timeoutMs: channel.requestTimeoutMs,
      maxBytes: MAX_TASK_ANSWER_BYTES,
      signal,
    });
    if (result.kind === 'answer') this.noteKey(channel, result);
    return result;
  }

  /** Says that a task is not wanted any more. It is free, and nobody waits for what the vendor makes of it. */
  async cancel(channel: Channel, path: string, method: 'POST' | 'PUT' | 'DELETE'): Promise<void> {
    if (!hasAddress(channel)) return;
    await httpCall(this.connections.api, {
      method,
      url: urlOf(channel, path),
      headers: { ...this.style.credentials(channel), accept: 'application/json' },
      timeoutMs: CANCEL_MS,
      maxBytes: MAX_TASK_ANSWER_BYTES,
      signal: AbortSignal.timeout(CANCEL_MS),
    });
  }

  /** A paid call whose success is handed over with its body unread. */
  async open(channel: Channel, path: string, call: PaidCall): Promise<StreamOutcome> {
    if (!hasAddress(channel)) return notSent;
    const isSuccess = (status: number) => isToBeRead(status, this.style.verdicts);
    const request = { ...this.post(channel, path, call), maxBytes: MAX_TASK_ANSWER_BYTES };
    // Encoded bytes could not be split into events without being decoded first.
    request.headers['accept-encoding'] = 'identity';
    request.headers['accept'] = '*/*';
    const result = await openHttp(this.connections.api, request, isSuccess);
    if (result.kind === 'answer') {
      this.noteKey(channel, result);
      return classifyError(result, 'answer', this.style);
    }
    if (result.kind === 'failure') {
      const { sent, reason, status } = result;
      return { kind: sent ? 'unknown' : 'not_accepted', reason, upstreamStatus: status };
    }
    return { ...result, kind: 'answer' };
  }

  /**
   * Opens a file that the upstream named. The credentials go along only to the channel's own origin.
   * @throws FileUnavailable
   */
  openFile(
    channel: Channel,
    fileUrl: string,
    options: { signal: AbortSignal; maxBytes: number },
  ): Promise<FileBody> {
    return openFile(this.connections, fileUrl, {
      ...options,
      allowPrivateAddress: channel.allowPrivateAddress,
      credentials: { origin: urlOf(channel, '/').origin, headers: this.style.credentials(channel) },
    });
  }

  private noteKey(channel: Channel, { status, retryAfter }: HttpAnswer): void {
    this.connections.keyRests.note(channel, { status, retryAfter });
  }

  private post(channel: Channel, path: string, call: PaidCall): Omit<HttpCall, 'maxBytes'> {
    const { body, headers, signal } = call;
    const isJson = 'json' in body;
    const written = isJson ? writeJson(body.json) : body.written;
    return {
      method: 'POST',
      url: urlOf(channel, path),
      headers: {
        accept: 'application/json',
        ...headers,
        ...upstreamTrace(),
        'content-type': isJson ? 'application/json' : body.contentType,
        ...this.style.credentials(channel),
      },
      body: written,
      timeoutMs: channel.requestTimeoutMs,
      signal,
    };
  }
}

/** What an operator wrote into a channel is not checked before: it must count as a fault of the channel, and end nothing else. */
function hasAddress({ baseUrl }: Channel): boolean {
  return URL.canParse(baseUrl) && /^https?:/i.test(baseUrl);
}

const notSent: NotAccepted = {
  kind: 'not_accepted',
  reason: "the channel's base URL is no http(s) address",
  upstreamStatus: null,
};

/** An address under a channel's base, which is an origin with or without a path, without the version. */
export function urlOf(channel: Channel, path: string): URL {
  return new URL(channel.baseUrl.replace(/\/+$/, '') + path);
}
