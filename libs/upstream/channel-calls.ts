import type { Channel } from '#catalog/catalog.js';
import { type WrittenJson, writeJson } from '#platform/http/long-text.js';
import { upstreamTrace } from '#platform/tracing.js';
import { NamedError } from '#platform/errors.js';
import { classify, classifyError, isToBeRead, type VendorManner, type Yield } from './classification.js';
import type { UpstreamConnections } from './connections.js';
import { type FileBody, FileUnavailable, openFile } from './file-download.js';
import { httpCall, type HttpAnswer, type HttpCall, type HttpFailure, openHttp } from './http-call.js';
import type { NotAccepted, Refused, StreamOutcome, Unknown } from './outcomes.js';

/** Ten images of 7 MB in base64, with room to spare. It also limits the memory of one call in this process. */
const MAX_PAID_ANSWER_BYTES = 128 * 1024 * 1024;
/** A task and its error text. Anything larger is not one. */
const MAX_TASK_ANSWER_BYTES = 1024 * 1024;
const CANCEL_MS = 5_000;

export interface CallStyle extends VendorManner {
  /**
   * The headers that authenticate a call as the operator's. They may have to be requested first.
   * @throws CredentialsUnavailable
   */
  credentials(channel: Channel): Record<string, string> | Promise<Record<string, string>>;
  /** The vendor refused them. */
  turnedAway?(channel: Channel): void;
}

/** There are no credentials for a call, so nothing was sent. The message is for the operator. */
export class CredentialsUnavailable extends NamedError {
  constructor(
    reason: string,
    /** 401 if the key is known to be wrong. */
    readonly status: number | null = null,
  ) {
    super(reason);
  }
}

/** A body that is sent as JSON, or bytes that are sent unchanged with their own type. */
export type CallBody = { json: object } | { written: WrittenJson; contentType: string };

export interface PaidCall {
  body: CallBody;
  headers?: Record<string, string>;
  signal: AbortSignal;
  /** Vendors limit free calls apart from others: too many of them do not pause the key. */
  isFree?: true;
}

interface TaskCall<T> {
  json: object;
  idempotencyKey?: string;
  signal: AbortSignal;
  read: (answer: HttpAnswer) => T;
}

/** The header of OpenAI, xAI, and most similar vendors. */
export function bearer({ apiKey }: Channel): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` };
}

/** Calls to the vendor behind a channel, in the style of one protocol. Nothing is ever repeated here. */
export class ChannelCalls {
  constructor(
    private readonly connections: UpstreamConnections,
    private readonly style: CallStyle,
  ) {}

  /** A call that may cost money, unless it says otherwise. `read` receives a success and says what was accepted. `yields` is by default its answer. */
  async create<T>(
    channel: Channel,
    path: string,
    call: PaidCall & { read: (answer: HttpAnswer) => T; yields?: Yield },
  ): Promise<T | Refused | NotAccepted | Unknown> {
    const proof = await this.proofOf(channel);
    if ('kind' in proof) return proof;
    const { read, yields = 'answer', isFree = false } = call;
    const result = await httpCall(this.connections.api, {
      ...this.post(channel, path, { ...call, proof }),
      maxBytes: yields === 'task' ? MAX_TASK_ANSWER_BYTES : MAX_PAID_ANSWER_BYTES,
    });
    if (result.kind === 'answer' && !(isFree && result.status === 429)) this.noteKey(channel, result);
    return classify(result, { read, yields, manner: this.style });
  }

  /** The same for work that starts now and is polled later. A vendor that recognises the key of a repeat starts it once. */
  createTask<T>(
    channel: Channel,
    path: string,
    task: TaskCall<T>,
  ): Promise<T | Refused | NotAccepted | Unknown> {
    const { json, idempotencyKey, signal, read } = task;
    const key = idempotencyKey && { headers: { 'idempotency-key': idempotencyKey } };
    return this.create(channel, path, { body: { json }, ...key, signal, yields: 'task', read });
  }

  /** A call that only reads. */
  async get(
    channel: Channel,
    path: string,
    { signal, headers = {} }: { signal: AbortSignal; headers?: Readonly<Record<string, string>> },
  ): Promise<HttpAnswer | HttpFailure> {
    const proof = await this.proofOf(channel);
    if ('kind' in proof) return notAsked(proof);
    const result = await httpCall(this.connections.api, {
      method: 'GET',
      url: urlOf(channel, path),
      headers: { ...headers, ...upstreamTrace(), ...proof.headers, accept: 'application/json' },
      timeoutMs: channel.requestTimeoutMs,
      maxBytes: MAX_TASK_ANSWER_BYTES,
      signal,
    });
    if (result.kind === 'answer') this.noteKey(channel, result);
    return result;
  }

  /** A call that only reads, with a body. Its answer may contain what was made. */
  async ask(
    channel: Channel,
    path: string,
    { json, signal }: { json: object; signal: AbortSignal },
  ): Promise<HttpAnswer | HttpFailure> {
    const proof = await this.proofOf(channel);
    if ('kind' in proof) return notAsked(proof);
    const result = await httpCall(this.connections.api, {
      ...this.post(channel, path, { body: { json }, signal, proof }),
      maxBytes: MAX_PAID_ANSWER_BYTES,
    });
    if (result.kind === 'answer') this.noteKey(channel, result);
    return result;
  }

  /** Says that a task is no longer wanted. It is free, and nobody waits for the result. */
  async cancel(channel: Channel, path: string, method: 'POST' | 'PUT' | 'DELETE'): Promise<void> {
    const proof = await this.proofOf(channel);
    if ('kind' in proof) return;
    await httpCall(this.connections.api, {
      method,
      url: urlOf(channel, path),
      headers: { ...proof.headers, accept: 'application/json' },
      timeoutMs: CANCEL_MS,
      maxBytes: MAX_TASK_ANSWER_BYTES,
      signal: AbortSignal.timeout(CANCEL_MS),
    });
  }

  /** A paid call whose success is passed on with an unread body. */
  async open(channel: Channel, path: string, call: PaidCall): Promise<StreamOutcome> {
    const proof = await this.proofOf(channel);
    if ('kind' in proof) return proof;
    const isSuccess = (status: number) => isToBeRead(status, this.style.verdicts);
    const request = { ...this.post(channel, path, { ...call, proof }), maxBytes: MAX_TASK_ANSWER_BYTES };
    // Encoded bytes could not be split into events without decoding them first.
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
   * Opens a file that the upstream named. The credentials are sent only to the channel's own origin.
   * @throws FileUnavailable
   */
  async openFile(
    channel: Channel,
    fileUrl: string,
    options: { signal: AbortSignal; maxBytes: number },
  ): Promise<FileBody> {
    const proof = await this.proofOf(channel);
    if ('kind' in proof) throw new FileUnavailable(proof.reason, { mayPass: true });
    return openFile(this.connections, fileUrl, {
      ...options,
      allowPrivateAddress: channel.allowPrivateAddress,
      credentials: { origin: urlOf(channel, '/').origin, headers: proof.headers },
    });
  }

  private noteKey(channel: Channel, { status, retryAfter }: Pick<HttpAnswer, 'status' | 'retryAfter'>): void {
    if (status === 401) this.style.turnedAway?.(channel);
    this.connections.keyRests.note(channel, { status, retryAfter });
  }

  /** The credentials of a call, or why none can be sent. */
  private async proofOf(channel: Channel): Promise<Proof | NotAccepted> {
    if (!hasAddress(channel)) return notSent;
    try {
      return { headers: await this.style.credentials(channel) };
    } catch (error) {
      if (!(error instanceof CredentialsUnavailable)) throw error;
      if (error.status !== null) this.noteKey(channel, { status: error.status });
      return { kind: 'not_accepted', reason: error.message, upstreamStatus: error.status };
    }
  }

  private post(
    channel: Channel,
    path: string,
    call: PaidCall & { proof: Proof },
  ): Omit<HttpCall, 'maxBytes'> {
    const { body, headers, signal, proof } = call;
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
        ...proof.headers,
      },
      body: written,
      timeoutMs: channel.requestTimeoutMs,
      signal,
    };
  }
}

interface Proof {
  readonly headers: Record<string, string>;
}

/** The same as the end of a call that only reads. */
function notAsked({ reason, upstreamStatus: status }: NotAccepted): HttpFailure {
  return { kind: 'failure', sent: false, reason, status };
}

/** A channel's settings were not checked before. A wrong one must count as a fault of the channel, and break nothing else. */
function hasAddress({ baseUrl }: Channel): boolean {
  return URL.canParse(baseUrl) && /^https?:/i.test(baseUrl);
}

const notSent: NotAccepted = {
  kind: 'not_accepted',
  reason: "the channel's base URL is no http(s) address",
  upstreamStatus: null,
};

/** An address below a channel's base, which is an origin with or without a path, without the version. */
export function urlOf(channel: Channel, path: string): URL {
  return new URL(channel.baseUrl.replace(/\/+$/, '') + path);
}
