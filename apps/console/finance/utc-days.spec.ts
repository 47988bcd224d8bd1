import { describe, expect, it } from 'vitest';
import { addDays, daysUntil, monthOf, timesOf } from './utc-days.js';

describe('days in UTC', () => {
  it('continue across the ends of months and years', () => {
    expect(addDays('2026-02-28')).toBe('2026-03-01');
    expect(addDays('2026-01-01', -1)).toBe('2025-12-31');
    expect(monthOf('2026-12-31')).toBe('2026-12-01');
    expect(monthOf('2026-12-31', 1)).toBe('2027-01-01');
    expect(monthOf('2026-03-31', -1)).toBe('2026-02-01');
  });

  it('are requested including the last one', () => {
    expect(timesOf({ from: '2026-01-01', to: '2026-01-31' })).toEqual({
      from: '2026-01-01T00:00:00Z',
      to: '2026-02-01T00:00:00Z',
    });
    expect(daysUntil({ to: '2026-12-31' })).toEqual({ to: '2027-01-01' });
    expect(timesOf({})).toEqual({});
  });
});
