import { type Dispatcher, Pool } from 'undici';
import { percentile } from './report.js';

/** What the client of the stream benchmark has to do. It runs in a separate process. */
export interface StreamOrder {
  url: string;
  /** The requests use these in turn. */
  apiKeys: string[];
  body: string;
  /** Streams in total, and open at the same time. */
  streams: number;
  concurrency: number;
}

export interface StreamResult {
  /** Streams that were complete. */
  ok: number;
  /** What was wrong with the first of the others. */
  firstFailure: string | null;
  seconds: number;
  bytes: number;
  firstByte: { p50Ms: number; p95Ms: number; p99Ms: number };
}

const LAST = Buffer.from('data: [DONE]\n\n');

class Run {
  private readonly pool: Pool;
  private readonly path: string;
  private readonly headers: Record<string, string>[];
  private readonly firstBytes: number[] = [];
  private firstFailure: string | null = null;
  private begun = 0;
  private ok = 0;
  private bytes = 0;

  constructor(private readonly order: StreamOrder) {
    const url = new URL(order.url);
    this.path = url.pathname;
    this.pool = new Pool(url.origin, { connections: order.concurrency, pipelining: 1 });
    this.headers = order.apiKeys.map((key) => ({
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    }));
  }

  async result(): Promise<StreamResult> {
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: this.order.concurrency }, () => this.client()));
    const seconds = (performance.now() - startedMs) / 1000;
    await this.pool.close();
    const { ok, firstFailure, bytes, firstBytes } = this;
    const at = (part: number) => percentile(firstBytes, part);
    return {
      ok,
      firstFailure,
      seconds,
      bytes,
      firstByte: { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) },
    };
  }

  private async client(): Promise<void> {
    while (this.begun < this.order.streams) {
      const headers = this.headers[this.begun % this.headers.length] ?? {};
      this.begun += 1;
      await this.stream(headers);
    }
  }

  private stream(headers: Record<string, string>): Promise<void> {
    return new Promise((resolve) => {
      const handler = new StreamHandler((failure) => {
        if (failure === null) {
          this.ok += 1;
          this.firstBytes.push(handler.firstByteMs);
        } else this.firstFailure ??= failure;
        this.bytes += handler.bytes;
        resolve();
      });
      const { body } = this.order;
      this.pool.dispatch({ path: this.path, method: 'POST', headers, body, bodyTimeout: 0 }, handler);
    });
  }
}

/** Keeps nothing of a stream but its size and its last bytes. */
class StreamHandler implements Dispatcher.DispatchHandler {
  bytes = 0;
  firstByteMs = 0;
  private readonly startedMs = performance.now();
  private status = 0;
  private last: Buffer = Buffer.alloc(0);

  constructor(private readonly done: (failure: string | null) => void) {}

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.bytes === 0) this.firstByteMs = performance.now() - this.startedMs;
    this.bytes += chunk.length;
    const end = chunk.subarray(-LAST.length);
    this.last = end.length === LAST.length ? end : Buffer.concat([this.last, end]).subarray(-LAST.length);
  }

  onResponseEnd(): void {
    const isWhole = this.status === 200 && this.last.equals(LAST);
    this.done(isWhole ? null : `status ${this.status}, ended with ${JSON.stringify(this.last.toString())}`);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.done(String(error));
  }
}

process.on('message', (order: StreamOrder) => {
  void new Run(order).result().then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
// Ctrl-C in the terminal reaches the whole group. The parent ends its children in order.
process.on('SIGINT', () => undefined);
