import { until } from '../support/eventually.js';

export interface LoadOptions {
  /** The pause before the next call begins, whether or not earlier ones were answered. */
  gapMs: () => number;
  /** Makes this call, and never throws. @returns whether the answer was as expected */
  ask: (count: number) => Promise<boolean>;
  /** Only reached if something hangs. */
  limitMs?: number | undefined;
}

interface Call {
  begunAt: number;
  endedAt: number | null;
  isServed: boolean;
}

/** So many successful calls in a row show that service is back. */
const STEADY = 15;
/** More calls than are ever open at a limited rate, unless they hang. */
const MOST_OPEN = 500;

/** Starts paid calls at a steady rate, regardless of how earlier ones end. */
export class Load {
  private readonly calls: Call[] = [];
  private readonly open = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: LoadOptions) {}

  start(): void {
    this.beginNext();
  }

  /** Resolves when every call is answered, or its client has timed out. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    while (this.open.size > 0) await Promise.all(this.open);
  }

  /**
   * Resolves once consecutive calls get what they paid for.
   * @param sinceMs only calls that began after this count, by performance.now()
   * @returns when the first of them was answered, in ms after `sinceMs`
   */
  async served(sinceMs: number, state: () => string): Promise<number> {
    return until(
      'calls to be served again',
      async () => {
        const ended = this.calls.filter(({ begunAt, endedAt }) => begunAt > sinceMs && endedAt !== null);
        const failedLast = ended.findLastIndex(({ isServed }) => !isServed);
        const steady = ended.slice(failedLast + 1);
        return steady.length >= STEADY ? Math.min(...steady.map(({ endedAt }) => endedAt!)) - sinceMs : null;
      },
      { limitMs: this.options.limitMs, state },
    );
  }

  /** Resolves once this many of the calls that begin from now on have ended, with any outcome. */
  async ended(count: number): Promise<void> {
    const sinceMs = performance.now();
    const done = async () =>
      this.calls.filter(({ begunAt, endedAt }) => begunAt > sinceMs && endedAt !== null).length >= count;
    await until(`${count} calls to end`, done, { limitMs: this.options.limitMs });
  }

  /**
   * Like `ended`, for calls during a fault. @throws Error if all of them were served, because then there was no fault
   */
  async failing(count: number): Promise<void> {
    const sinceMs = performance.now();
    await this.ended(count);
    if (this.failedSince(sinceMs) === 0) throw new Error(`the fault hurt none of ${count} calls`);
  }

  /** How many ended calls began after this time and did not get what they paid for. */
  failedSince(sinceMs: number): number {
    const ended = this.calls.filter(({ begunAt, endedAt }) => begunAt > sinceMs && endedAt !== null);
    return ended.filter(({ isServed }) => !isServed).length;
  }

  get slowestMs(): number {
    return Math.max(0, ...this.calls.map(({ begunAt, endedAt }) => (endedAt ?? performance.now()) - begunAt));
  }

  /** A busy process is late, and does not catch up. */
  private beginNext(): void {
    this.timer = setTimeout(() => this.beginNext(), this.options.gapMs());
    this.begin();
  }

  private begin(): void {
    if (this.open.size >= MOST_OPEN) return;
    const call: Call = { begunAt: performance.now(), endedAt: null, isServed: false };
    this.calls.push(call);
    const answered = this.options.ask(this.calls.length).then((isServed) => {
      Object.assign(call, { endedAt: performance.now(), isServed });
      this.open.delete(answered);
    });
    this.open.add(answered);
  }
}
