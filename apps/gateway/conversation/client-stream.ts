import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { breakWhenStalled, STALL_MS } from '#platform/http/stalled-client.js';
import { recordingOf } from '../protection/recording.js';

/**
 * The client's side of a streamed answer: flushed with each write, as slow as the client reads, and aware of the client
 * leaving. Nothing is sent, and the reply is not taken over, before the first write. What a client that has left misses is
 * kept for its repeat, as far as it is read.
 */
export class ClientStream {
  private readonly leaving = new AbortController();
  private sent = false;
  /** A client that had left missed part of the answer. */
  private missed = false;
  private contentType = '';
  private isAwaited = true;

  constructor(
    private readonly reply: FastifyReply,
    private readonly stallMs = STALL_MS,
  ) {
    const { raw } = reply;
    raw.once('close', () => {
      if (!raw.writableFinished) this.leaving.abort();
    });
    if (raw.destroyed) this.leaving.abort();
  }

  /** Aborted if the client leaves before the end of its answer. */
  get left(): AbortSignal {
    return this.leaving.signal;
  }

  /** Whether part of the answer was sent or missed, so that the status can no longer be chosen. */
  get started(): boolean {
    return this.sent || this.missed;
  }

  /** Whether the client has not read everything sent yet. */
  get isBehind(): boolean {
    return this.sent && this.reply.raw.writableNeedDrain;
  }

  /** Sets headers of the answer, as long as nothing was sent. */
  addHeaders(headers: Record<string, string>): void {
    void this.reply.headers(headers);
  }

  removeHeaders(headers: Record<string, string>): void {
    for (const name of Object.keys(headers)) void this.reply.removeHeader(name);
  }

  /** From now on a stalled client is disconnected, which counts as leaving. */
  breakIfStalled(): void {
    this.isAwaited = false;
  }

  /** Sends bytes and waits while the client reads more slowly, at most until `stop`. Never throws. */
  async write(bytes: Buffer, contentType: string, stop: AbortSignal): Promise<void> {
    if (bytes.length === 0 || stop.aborted) return;
    this.contentType = contentType;
    if (this.left.aborted) return this.miss(bytes);
    this.begin(contentType);
    if (this.reply.raw.write(bytes)) return;
    await this.untilDrained(stop);
  }

  /** Ends a started answer; without a start, sends nothing. */
  end(last: Buffer | null): void {
    const { raw } = this.reply;
    if (!this.started) return;
    if (raw.destroyed) {
      recordingOf(raw)?.end(last, (name) =>
        name === 'content-type' ? this.contentType : this.reply.getHeader(name),
      );
      return;
    }
    if (last === null) raw.end();
    else raw.end(last);
    breakWhenStalled(raw, this.stallMs);
  }

  /** Aborts a started answer, so that the client cannot mistake it for complete. */
  break(): void {
    this.reply.raw.destroy();
  }

  /** Sends a small complete answer like any other. */
  async sendWhole(body: Buffer, contentType: string): Promise<void> {
    await this.reply.type(contentType).send(body);
  }

  private miss(bytes: Buffer): void {
    this.missed = true;
    recordingOf(this.reply.raw)?.add(bytes);
  }

  /** Ends early when the client leaves, and when `stop` fires. */
  private untilDrained(stop: AbortSignal): Promise<void> {
    const { raw } = this.reply;
    const watched = this.isAwaited ? undefined : breakWhenStalled(raw, this.stallMs);
    return new Promise((resolve) => {
      const done = (): void => {
        watched?.();
        raw.off('drain', done).off('close', done);
        stop.removeEventListener('abort', done);
        resolve();
      };
      raw.once('drain', done).once('close', done);
      stop.addEventListener('abort', done, { once: true });
    });
  }

  private begin(contentType: string): void {
    if (this.sent) return;
    this.sent = true;
    this.reply.hijack();
    this.reply.raw.writeHead(200, {
      ...(this.reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': contentType,
      'cache-control': 'no-cache, no-transform',
      'x-content-type-options': 'nosniff',
      // Otherwise reverse proxies would buffer events.
      'x-accel-buffering': 'no',
    });
  }
}
