import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * A client that takes nothing for this long will not take the rest. On a slow line, what the system buffers needs several
 * seconds to leave, and shows no progress meanwhile.
 */
const STALL_MS = 30_000;

/**
 * The client's side of an answer that is sent while it is being made: flushed with each write, as slow as the client
 * reads, and heedful of its leaving. Nothing is sent, and nothing of the reply is taken over, before the first write.
 */
export class ClientStream {
  private readonly leaving = new AbortController();
  private sent = false;
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

  /** Aborted once the client has gone before the end of its answer. */
  get left(): AbortSignal {
    return this.leaving.signal;
  }

  /** Part of the answer was sent: there is no status to choose any more. */
  get started(): boolean {
    return this.sent;
  }

  /** It has not taken yet what was sent. */
  get isBehind(): boolean {
    return this.sent && this.reply.raw.writableNeedDrain;
  }

  /** Headers of the answer, as long as nothing of it was sent. */
  addHeaders(headers: Record<string, string>): void {
    void this.reply.headers(headers);
  }

  removeHeaders(headers: Record<string, string>): void {
    for (const name of Object.keys(headers)) void this.reply.removeHeader(name);
  }

  /** From now on a client that stalls is broken off, which counts as its leaving. */
  breakIfStalled(): void {
    this.isAwaited = false;
  }

  /** Sends bytes and waits while the client is slower than they come, but no longer than until `stop`. Never throws. */
  async write(bytes: Buffer, contentType: string, stop: AbortSignal): Promise<void> {
    if (bytes.length === 0 || this.left.aborted || stop.aborted) return;
    this.begin(contentType);
    if (this.reply.raw.write(bytes)) return;
    await this.untilDrained(stop);
  }

  /** Ends a started answer; without a start, sends nothing. */
  end(last: Buffer | null): void {
    const { raw } = this.reply;
    if (!this.sent || raw.destroyed) return;
    if (last === null) raw.end();
    else raw.end(last);
    this.breakWhenStalled();
  }

  /** Breaks a started answer off, so that the client cannot take it for whole. */
  break(): void {
    this.reply.raw.destroy();
  }

  /** A small answer known to the end: as any other. */
  async sendWhole(body: Buffer, contentType: string): Promise<void> {
    await this.reply.type(contentType).send(body);
  }

  /** Ends early when the client leaves, and when `stop` fires. */
  private untilDrained(stop: AbortSignal): Promise<void> {
    const { raw } = this.reply;
    const watched = this.isAwaited ? undefined : this.breakWhenStalled();
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

  /**
   * The timeout of a socket counts from its last progress: a client that is slow is not one that stalls.
   * @returns ends the watch
   */
  private breakWhenStalled(): () => void {
    const { raw } = this.reply;
    const onStall = (): void => void raw.destroy();
    raw.setTimeout(this.stallMs, onStall);
    return () => void raw.off('timeout', onStall).setTimeout(0);
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
      // Reverse proxies would gather events otherwise.
      'x-accel-buffering': 'no',
    });
  }
}
