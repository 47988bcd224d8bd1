/** What was taken: to be released exactly once, whatever happens. */
export interface Share {
  readonly granted: true;
  readonly amount: number;
  /** Takes more, as `tryTake` does: null, or why not; what the share has stays either way. */
  more(amount: number): ShareRefusal | null;
  /** Gives everything back; safe to call again. */
  release(): void;
}

export interface ShareRefusal {
  readonly granted: false;
  /**
   * `over_share`: the member has what it is due (its own 429). `full`: it is below that, and others hold what was theirs
   * to take before it came. `aborted`: the signal of its take was.
   */
  readonly reason: 'over_share' | 'full' | 'aborted';
  /** For a Retry-After header. */
  readonly retryAfterSeconds: number;
}
