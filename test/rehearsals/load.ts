import { until } from '../support/eventually.js';

export interface LoadOptions {
  /** How long after one call the next begins, answered or not. */
  gapMs: () => number;
  /** Makes the call of this number, and never throws. @returns whether it was answered with what was to be expected */
  ask: (count: number) => Promise<boolean>;
}

interface Call {
  begunAt: number;
  endedAt: number | null;
  isServed: boolean;
}

/** As many calls in a row show that service is back. */
const STEADY = 15;
/** More than are ever open at a bounded rate, unless calls hang. */
const MOST_OPEN = 500;
/** Only a hang reaches it. */
const SERVED_LIMIT_MS = 180_000;

/** Paid calls one after the other, whatever becomes of the earlier ones. */
export class Load {
  private readonly calls: Call[] = [];
  private readonly open = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: LoadOptions) {}

  start(): void {
    this.beginNext();
  }

  /** Resolves when every call is answered, or given up by its client. */
  async stop(): Promise<void> {
    clearTimeout(this.timer);
    while (this.open.size > 0) await Promise.all(this.open);
  }

  /**
   * Resolves when calls are answered with what they paid for, one after the other.
   * @param sinceMs only calls that began after it count, by performance.now()
   * @returns when the first of them was answered, in ms after it
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
      { limitMs: SERVED_LIMIT_MS, state },
    );
  }

  /** Resolves when this many of the calls that begin from now on have ended, however they ended. */
  async ended(count: number): Promise<void> {
    const sinceMs = performance.now();
    const done = async () =>
      this.calls.filter(({ begunAt, endedAt }) => begunAt > sinceMs && endedAt !== null).length >= count;
    await until(`${count} calls to end`, done, { limitMs: SERVED_LIMIT_MS });
  }

  /** As `ended`, of calls during a fault. @throws Error when all of them were served: the fault was none */
  async failing(count: number): Promise<void> {
    const sinceMs = performance.now();
    await this.ended(count);
    if (this.failedSince(sinceMs) === 0) throw new Error(`the fault hurt none of ${count} calls`);
  }

  /** Of the calls that have ended and began after that, those that were not answered with what they paid for. */
  failedSince(sinceMs: number): number {
    const ended = this.calls.filter(({ begunAt, endedAt }) => begunAt > sinceMs && endedAt !== null);
    return ended.filter(({ isServed }) => !isServed).length;
  }

  get slowestMs(): number {
    return Math.max(0, ...this.calls.map(({ begunAt, endedAt }) => (endedAt ?? performance.now()) - begunAt));
  }

  /** A busy process is late, and does not make up for it. */
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
