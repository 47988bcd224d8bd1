import { type Dispatcher, Pool } from 'undici';
import { percentile } from './report.js';

/** What the load generator has to do. It runs in a separate process, so its work does not count as the relay's. */
export interface LoadOrder {
  url: string;
  /** The requests use these in turn. */
  apiKeys: string[];
  body: string;
  seconds: number;
  /** `closed`: this many requests are always open. `open`: this many start each second, whatever becomes of them. */
  load: { kind: 'closed'; concurrency: number } | { kind: 'open'; perSecond: number };
}

export interface LoadResult {
  sent: number;
  ok: number;
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** Other answers by status; `0` means none. */
  failures: Record<string, number>;
  /** The first body of any other answer, or the first error. */
  firstFailure: string | null;
  /** The body of the first answer. */
  sample: string;
  /**
   * How much later than planned the generator itself started a request, in milliseconds. It is part of the latencies.
   */
  p99LatenessMs: number | null;
}

/** More than any load of the benchmarks opens, and below the usual limit on open files. */
const MAX_CONNECTIONS = 512;
/** An answer that takes longer is a failure. */
const ANSWER_LIMIT_MS = 30_000;

class Run {
  private readonly pool: Pool;
  private readonly path: string;
  private readonly headers: Record<string, string>[];
  private readonly latencies: number[] = [];
  private readonly lateness: number[] = [];
  private readonly failures: Record<string, number> = {};
  private firstFailure: string | null = null;
  private sample: string | undefined;
  private sent = 0;
  private ok = 0;

  constructor(private readonly order: LoadOrder) {
    const url = new URL(order.url);
    this.path = url.pathname;
    const connections = order.load.kind === 'closed' ? order.load.concurrency : MAX_CONNECTIONS;
    this.pool = new Pool(url.origin, { connections, pipelining: 1, headersTimeout: ANSWER_LIMIT_MS });
    this.headers = order.apiKeys.map((key) => ({
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    }));
  }

  async result(): Promise<LoadResult> {
    const { load, seconds } = this.order;
    const startedMs = performance.now();
    const endMs = startedMs + seconds * 1000;
    if (load.kind === 'closed') await this.keepOpen(load.concurrency, endMs);
    else await this.startAtRate(load.perSecond, startedMs, endMs);
    const elapsedSeconds = (performance.now() - startedMs) / 1000;
    await this.pool.close();
    return {
      sent: this.sent,
      ok: this.ok,
      perSecond: this.ok / elapsedSeconds,
      p50Ms: percentile(this.latencies, 0.5),
      p95Ms: percentile(this.latencies, 0.95),
      p99Ms: percentile(this.latencies, 0.99),
      failures: this.failures,
      firstFailure: this.firstFailure,
      sample: this.sample ?? '',
      p99LatenessMs: this.lateness.length > 0 ? percentile(this.lateness, 0.99) : null,
    };
  }

  private async keepOpen(concurrency: number, endMs: number): Promise<void> {
    const client = async (): Promise<void> => {
      while (performance.now() < endMs) await this.call(performance.now());
    };
    await Promise.all(Array.from({ length: concurrency }, client));
  }

  /**
   * Each request has a planned time, and its latency counts from then. A request that had to wait to be sent has
   * waited.
   */
  private async startAtRate(perSecond: number, startedMs: number, endMs: number): Promise<void> {
    const open = new Set<Promise<void>>();
    const momentOf = (request: number) => startedMs + (request * 1000) / perSecond;
    await new Promise<void>((resolve) => {
      const tick = (): void => {
        const nowMs = performance.now();
        while (momentOf(this.sent) <= nowMs && momentOf(this.sent) < endMs) {
          const planned = momentOf(this.sent);
          this.lateness.push(nowMs - planned);
          const call = this.call(planned).finally(() => open.delete(call));
          open.add(call);
        }
        if (momentOf(this.sent) >= endMs) resolve();
        else setTimeout(tick, Math.max(0, momentOf(this.sent) - performance.now()));
      };
      tick();
    });
    await Promise.all(open);
  }

  /** Uses the dispatcher itself, without undici's request object, stream or promise: the generator must stay cheap. */
  private call(countedFromMs: number): Promise<void> {
    const headers = this.headers[this.sent % this.headers.length];
    this.sent += 1;
    return new Promise((resolve) => {
      const handler = new Answer((status, body) => {
        this.record(status, body, performance.now() - countedFromMs);
        resolve();
      });
      this.pool.dispatch(
        { path: this.path, method: 'POST', headers: headers ?? {}, body: this.order.body },
        handler,
      );
    });
  }

  private record(status: number, body: () => string, latencyMs: number): void {
    this.sample ??= body();
    if (status === 200) {
      this.ok += 1;
      this.latencies.push(latencyMs);
      return;
    }
    this.failures[status] = (this.failures[status] ?? 0) + 1;
    this.firstFailure ??= body();
  }
}

class Answer implements Dispatcher.DispatchHandler {
  private status = 0;
  private readonly chunks: Buffer[] = [];

  constructor(private readonly done: (status: number, body: () => string) => void) {}

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.done(this.status, () => Buffer.concat(this.chunks).toString());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.done(0, () => String(error));
  }
}

process.on('message', (order: LoadOrder) => {
  void new Run(order).result().then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
// Ctrl-C in the terminal reaches the whole group. The parent ends its children in order.
process.on('SIGINT', () => undefined);
