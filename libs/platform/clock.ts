/**
 * The only source of time in the programs, so that tests can change it. Decisions about money use the database's time,
 * not this.
 */
export interface Clock {
  /** Milliseconds since 1970 UTC. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** A clock that tests set. */
export class ManualClock implements Clock {
  constructor(private currentMs: number) {}

  nowMs(): number {
    return this.currentMs;
  }

  advance(ms: number): void {
    this.currentMs += ms;
  }
}
