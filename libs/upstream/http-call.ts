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

/** What a connection may say about a fault: its code if it has one, because texts can contain addresses. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return code ? `${code}: ${error.message}` : error.message;
}

/**
 * One HTTP exchange with a limited answer. It never throws and never repeats a call. It uses the dispatcher directly,
 * which is the cheapest way, and the only one that shows when a request is passed to its connection.
 */
export function httpCall(dispatcher: Dispatcher, call: HttpCall): Promise<HttpAnswer | HttpFailure> {
  return new Promise((resolve) => {
    const exchange = new Exchange(call, resolve);
    if (exchange.ended) return;
    try {
      dispatcher.dispatch(dispatchOf(call), exchange);
    } catch (error) {
      exchange.fail(reasonOf(error));
    }
  });
}

/** A body in pieces is written as fast as its reader takes it, and never joined. */
export function dispatchOf(call: HttpCall): Dispatcher.DispatchOptions {
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
export function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The handler of one call. The first end counts. */
class Exchange implements Dispatcher.DispatchHandler {
  ended = false;
  private sent = false;
  private status: number | null = null;
  private contentType = '';
  private retryAfter: string | undefined;
  private bytes = 0;
  private readonly chunks: Buffer[] = [];
  private controller: Dispatcher.DispatchController | undefined;

  constructor(
    private readonly call: HttpCall,
    private readonly resolve: (result: HttpAnswer | HttpFailure) => void,
  ) {
    if (call.signal.aborted) this.onAbort();
    else call.signal.addEventListener('abort', this.onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Abandoned while it waited for a connection: nothing is written after this.
    if (this.ended) return controller.abort(new Error('given up before it was sent'));
    this.controller = controller;
    this.sent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.status = status;
    const contentType = headers['content-type'];
    if (typeof contentType === 'string') this.contentType = contentType;
    this.retryAfter = headerText(headers['retry-after']);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes <= this.call.maxBytes) {
      this.chunks.push(chunk);
      return;
    }
    this.fail(`an answer of more than ${this.call.maxBytes} bytes`);
    controller.abort(new Error('answer too large'));
  }

  onResponseEnd(): void {
    const body = this.chunks.length === 1 && this.chunks[0] ? this.chunks[0] : Buffer.concat(this.chunks);
    const { contentType, retryAfter } = this;
    this.end({ kind: 'answer', status: this.status ?? 0, contentType, body, retryAfter });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(reasonOf(error));
  }

  fail(reason: string): void {
    this.end({ kind: 'failure', sent: this.sent, reason, status: this.status });
  }

  private readonly onAbort = (): void => {
    this.fail('no answer in time');
    this.controller?.abort(new Error('given up'));
  };

  private end(result: HttpAnswer | HttpFailure): void {
    if (this.ended) return;
    this.ended = true;
    this.call.signal.removeEventListener('abort', this.onAbort);
    this.resolve(result);
  }
}
