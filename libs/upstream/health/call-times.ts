/** Enough to tell a slow channel from a slow call. */
const TIMED_CALLS = 200;
/** Few enough that a change of speed shows soon. */
const RECENT_CALLS = 20;

/** Of the last calls; null before the first. */
export interface CallFigures {
  p50Ms: number | null;
  p99Ms: number | null;
  /** The median of the latest served calls, which routing by `latency` uses. */
  latencyMs: number | null;
}

/** How long the last calls of a model on a channel took until they had an outcome, in milliseconds. */
export class CallTimes {
  /** Oldest first, with any outcome. */
  private readonly all: number[] = [];
  /** Only served calls, because refusals and failures may be quick. */
  private readonly served: number[] = [];

  note(tookMs: number, isServed: boolean): void {
    keepLast(this.all, tookMs, TIMED_CALLS);
    if (isServed) keepLast(this.served, tookMs, RECENT_CALLS);
  }

  /** The median of the latest served calls; null before the first. */
  get latencyMs(): number | null {
    return quantile(this.served, 0.5);
  }

  get figures(): CallFigures {
    const { all, latencyMs } = this;
    return { p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99), latencyMs };
  }
}

function keepLast(times: number[], tookMs: number, count: number): void {
  times.push(Math.round(tookMs));
  if (times.length > count) times.shift();
}

function quantile(times: readonly number[], share: number): number | null {
  return times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1] ?? null;
}
