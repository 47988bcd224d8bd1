import type { Clock } from './clock.js';

/** A clock that tests set. */
export class ManualClock implements Clock {
  private passedMs = 0;

  constructor(private currentMs: number) {}

  nowMs(): number {
    return this.currentMs;
  }

  elapsedMs(): number {
    return this.passedMs;
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.currentMs += ms;
    this.passedMs += ms;
  }

  /** Sets the clock ahead, or back, while no time passes. */
  jump(ms: number): void {
    this.currentMs += ms;
  }
}
