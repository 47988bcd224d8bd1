import { until } from '../support/eventually.js';
import { Shoppers, type Told } from '../support/shoppers.js';

export interface LoadOptions {
  /** Calls that begin in a second, answered or not. */
  perSecond: number;
  /** One call of this many orders a video; the others ask for an image. */
  videoEvery: number;
}

interface Call {
  begunAt: number;
  endedAt: number | null;
  told: Told | null;
}

/** As many calls in a row show that service is back. */
const STEADY = 15;
/** More than are ever open at a bounded rate, unless calls hang. */
const MOST_OPEN = 500;
/** Only a hang reaches it. */
const SERVED_LIMIT_MS = 180_000;

/** Paid calls at a steady rate, whatever becomes of the earlier ones. */
export class Load {
  private readonly calls: Call[] = [];
  private readonly open = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly groups: readonly Shoppers[],
    readonly options: LoadOptions,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.begin(), 1_000 / this.options.perSecond);
  }

  /** Resolves when every call is answered, or given up by its client. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
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
        const failedLast = ended.findLastIndex(({ told }) => told?.status !== 200);
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
    return ended.filter(({ told }) => told?.status !== 200).length;
  }

  get slowestMs(): number {
    return Math.max(0, ...this.calls.map(({ begunAt, endedAt }) => (endedAt ?? performance.now()) - begunAt));
  }

  private begin(): void {
    if (this.open.size >= MOST_OPEN) return;
    const call: Call = { begunAt: performance.now(), endedAt: null, told: null };
    this.calls.push(call);
    const shoppers = this.groups[this.calls.length % this.groups.length]!;
    const name = `drawing ${this.calls.length}`;
    const isVideo = this.calls.length % this.options.videoEvery === 0;
    const asked: Promise<Told> = isVideo
      ? shoppers.video(`${name} [[work:0.2]]`)
      : shoppers.images(`${name} [[instant]]`);
    const answered = asked.then((told) => {
      Object.assign(call, { endedAt: performance.now(), told });
      this.open.delete(answered);
    });
    this.open.add(answered);
  }
}
