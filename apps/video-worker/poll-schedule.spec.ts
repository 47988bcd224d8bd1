import { describe, expect, it } from 'vitest';
import { copyPauseMs, pollPauseMs } from './poll-schedule.js';

/** The longest of many random pauses, rounded to the unit. It comes that close to the limit. */
function longest(pause: () => number, unit: number): number {
  return Math.round(Math.max(...Array.from({ length: 2_000 }, pause)) / unit) * unit;
}

describe('the pauses between polls', () => {
  const config = { pollIntervalMs: 1_000, pollMaxMs: 10_000, copyBackoffMs: 1_000 };

  it('grow by half from the interval to the limit', () => {
    const pauses = [1, 2, 3, 100].map((attempts) => longest(() => pollPauseMs(attempts, config), 50));
    expect(pauses).toEqual([1_000, 1_500, 2_250, 10_000]);
  });

  it('double for files, up to a minute', () => {
    const pauses = [1, 2, 3, 100].map((failures) => longest(() => copyPauseMs(failures, config), 1_000));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 60_000]);
  });

  it('are up to a quarter shorter, and never longer', () => {
    const pauses = Array.from({ length: 1_000 }, () => pollPauseMs(1, config));
    expect(new Set(pauses).size).toBeGreaterThan(100);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(750);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000);
  });
});
