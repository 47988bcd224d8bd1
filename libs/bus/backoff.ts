export interface BackoffOptions {
  /** The pause after the first failure, in milliseconds. */
  initialMs: number;
  /** The longest pause, in milliseconds. */
  maxMs: number;
}

export const DEFAULT_BACKOFF: BackoffOptions = { initialMs: 50, maxMs: 5_000 };

/**
 * The pause after a number of consecutive failures: doubles each time, with a jitter of a quarter so that partitions do not
 * retry in step.
 */
export function backoffMs(failures: number, { initialMs, maxMs }: BackoffOptions): number {
  return Math.min(initialMs * 2 ** Math.min(failures - 1, 20), maxMs) * (0.75 + Math.random() / 2);
}
