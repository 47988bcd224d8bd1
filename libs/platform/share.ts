/** A share of a pool. Release it exactly once, whatever happens. */
export interface Share {
  readonly granted: true;
  readonly amount: number;
  /** Takes more, like `tryTake`: null, or why not. The existing share stays either way. */
  more(amount: number): ShareRefusal | null;
  /** Releases everything. Safe to repeat. */
  release(): void;
}

export interface ShareRefusal {
  readonly granted: false;
  /**
   * `over_share`: the member has what it is due (its own 429). `full`: it has less, and others hold what they took
   * before it came. `aborted`: its signal was aborted.
   */
  readonly reason: 'over_share' | 'full' | 'aborted';
  /** For a Retry-After header. */
  readonly retryAfterSeconds: number;
}
