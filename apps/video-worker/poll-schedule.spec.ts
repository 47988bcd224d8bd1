import { describe, expect, it } from '@jest/globals';
import { copyPauseMs, pollPauseMs } from './poll-schedule.js';

/** The means of many jittered pauses, rounded to the unit. */
function mean(pause: () => number, unit: number): number {
  const pauses = Array.from({ length: 2_000 }, pause);
  return Math.round(pauses.reduce((sum, each) => sum + each, 0) / pauses.length / unit) * unit;
}

describe('the pauses between polls', () => {
  const config = { pollIntervalMs: 1_000, pollMaxMs: 10_000, copyBackoffMs: 1_000 };

  it('grow by half from the interval to the limit', () => {
    const means = [1, 2, 3, 100].map((attempts) => mean(() => pollPauseMs(attempts, config), 250));
    expect(means).toEqual([1_000, 1_500, 2_250, 10_000]);
  });

  it('double for files, up to a minute', () => {
    const means = [1, 2, 3].map((failures) => mean(() => copyPauseMs(failures, config), 500));
    expect(means).toEqual([1_000, 2_000, 4_000]);
    // The mean of so many strays by 200 ms itself.
    expect(mean(() => copyPauseMs(100, config), 2_000)).toBe(60_000);
  });

  it('are jittered by a quarter at most', () => {
    const pauses = Array.from({ length: 1_000 }, () => pollPauseMs(1, config));
    expect(new Set(pauses).size).toBeGreaterThan(100);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(750);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_250);
  });
});
