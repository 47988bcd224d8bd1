import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { WrittenJson } from '#platform/http/long-text.js';

export interface HttpCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: string | WrittenJson;
  /** The longest silence before the answer's head and between its bytes, in milliseconds. */
  timeoutMs: number;
  /** A larger answer is abandoned. */
  maxBytes: number;
  signal: AbortSignal;
}

export interface HttpAnswer {
  kind: 'answer';
  status: number;
  contentType: string;
  body: Buffer;
  /** The header as received. */
  retryAfter?: string | undefined;
}

/**
 * A call without a complete answer. `sent`: whether it may have reached the upstream. It is false only if the request
 * was not given to a connection. In that case, nothing was accepted.
 */
export interface HttpFailure {
  kind: 'failure';
  sent: boolean;
  reason: string;
  /** The status, if the answer broke off after its head. */
  status: number | null;
}

/** A success whose body follows, unread. */
export interface HttpOpened {
  kind: 'opened';
  status: number;
  contentType: string;
  body: Readable;
}

/** The buffer for a reader that is slower than the upstream. When it is full, the upstream's connection is paused. */
const BUFFERED_BYTES = 64 * 1024;

/** What a connection may say about a fault: its code if it has one, because texts can contain addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return code ? `${code}: ${error.message}` : error.message;
}

/** One HTTP exchange with a limited answer, read to its end whatever its status. Never throws, and never repeats a call. */
export function httpCall(dispatcher: Dispatcher, call: HttpCall): Promise<HttpAnswer | HttpFailure> {
  return openHttp(dispatcher, call, () => false) as Promise<HttpAnswer | HttpFailure>;
}

/**
 * Sends a call and resolves with the head of its answer. If `isSuccess` accepts the status, the body is passed on
 * unread. The body of any other answer is read to its end, up to `maxBytes`. `timeoutMs` limits the wait for the head
 * and each silence after it, never the whole. An abort breaks the connection at once, before and after the head. Never
 * throws. It uses the dispatcher directly, which is the cheapest way, and the only one that shows when a request is passed to
 * its connection.
 */
export function openHttp(
  dispatcher: Dispatcher,
  call: HttpCall,
  isSuccess: (status: number) => boolean,
): Promise<HttpOpened | HttpAnswer | HttpFailure> {
  return new Promise((resolve) => {
    const exchange = new Exchange(call, isSuccess, resolve);
    if (exchange.over) return;
    try {
      dispatcher.dispatch(dispatchOf(call), exchange);
    } catch (error) {
      exchange.break(new Error(reasonOf(error)));
    }
  });
}

/** A body in pieces is written as fast as its reader takes it, and never joined. */
function dispatchOf(call: HttpCall): Dispatcher.DispatchOptions {
  const { url, method, headers, body = null, timeoutMs } = call;
  const isInPieces = body !== null && typeof body !== 'string';
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: isInPieces ? { ...headers, 'content-length': String(body.byteLength) } : headers,
    body: isInPieces ? Readable.from(body.pieces, { objectMode: false }) : body,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  };
}

/** A header that occurs once. */
function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The handler of one call. The first end counts. */
class Exchange implements Dispatcher.DispatchHandler {
  over = false;
  private sent = false;
  private status: number | null = null;
  private contentType = '';
  private retryAfter: string | undefined;
  private body: Readable | undefined;
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private controller: Dispatcher.DispatchController | undefined;
  /** Bound: V8 would put a function that is assigned here into the old generation, and keep the answer's bytes with it. */
  private readonly onAbort = this.giveUp.bind(this);

  constructor(
    private readonly call: HttpCall,
    private readonly isSuccess: (status: number) => boolean,
    private readonly resolve: (result: HttpOpened | HttpAnswer | HttpFailure) => void,
  ) {
    if (call.signal.aborted) this.giveUp();
    else call.signal.addEventListener('abort', this.onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Abandoned while it waited for a connection: nothing is written after this.
    if (this.over) return controller.abort(new Error('given up before it was sent'));
    this.controller = controller;
    this.sent = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An early hint. The answer's own head follows.
    if (status < 200) return;
    this.status = status;
    const contentType = headers['content-type'];
    if (typeof contentType === 'string') this.contentType = contentType;
    this.retryAfter = headerText(headers['retry-after']);
    if (!this.isSuccess(status)) return;
    this.body = new Readable({
      highWaterMark: BUFFERED_BYTES,
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.break(error ?? new Error('its reader has left'));
        done(error);
      },
    });
    // A reader notices a broken body when it reads. Before that, nobody listens.
    this.body.on('error', () => undefined);
    this.resolve({ kind: 'opened', status, contentType: this.contentType, body: this.body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.body) {
      if (!this.body.push(chunk)) controller.pause();
      return;
    }
    this.bytes += chunk.length;
    if (this.bytes <= this.call.maxBytes) this.chunks.push(chunk);
    else this.break(new Error(`an answer of more than ${this.call.maxBytes} bytes`));
  }

  onResponseEnd(): void {
    if (!this.settle()) return;
    if (this.body) this.body.push(null);
    else {
      const { contentType, chunks, retryAfter } = this;
      const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      this.resolve({ kind: 'answer', status: this.status ?? 0, contentType, body, retryAfter });
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.break(error);
  }

  /** Ends the call as broken, whichever side broke it: the connection, the reader, the signal. */
  break(error: Error): void {
    if (!this.settle()) return;
    if (this.body) this.body.destroy(error);
    else {
      this.resolve({ kind: 'failure', sent: this.sent, reason: reasonOf(error), status: this.status });
    }
    this.controller?.abort(error);
  }

  private giveUp(): void {
    this.break(new Error('no answer in time'));
  }

  /** True for the first end only. */
  private settle(): boolean {
    if (this.over) return false;
    this.over = true;
    this.call.signal.removeEventListener('abort', this.onAbort);
    return true;
  }
}
