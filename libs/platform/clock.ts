/**
 * The only source of time in the programs, so that tests can change it. Decisions about money use the database's time,
 * not this.
 */
export interface Clock {
  /** Milliseconds since 1970 UTC. An operator or a time server may set this clock at any moment, also back. */
  nowMs(): number;
  /** Whole milliseconds of a monotonic clock, which nobody can set: for how long something lasts. */
  elapsedMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  // Some timers refuse fractions.
  elapsedMs: () => Math.floor(performance.now()),
};
