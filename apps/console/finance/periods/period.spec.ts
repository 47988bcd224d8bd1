import { describe, expect, it } from 'vitest';
import { monthsToClose, nextToClose } from './period.js';

describe('the next period to close', () => {
  it('ends one month after the last close', () => {
    expect(nextToClose('2026-01-01T00:00:00.000Z', '2026-03-10')).toBe('2026-02-01');
    expect(nextToClose('2026-12-15T12:00:00.000Z', '2026-12-20')).toBe('2027-01-01');
  });

  it('ends with this month if nothing was closed yet', () => {
    expect(nextToClose(null, '2026-03-10')).toBe('2026-03-01');
  });
});

describe('the months to choose from', () => {
  it('are this one and the one before, until a period ended there', () => {
    expect(monthsToClose(null, '2026-01-10')).toEqual(['2025-12-01', '2026-01-01']);
    expect(monthsToClose('2025-12-01T00:00:00.000Z', '2026-01-10')).toEqual(['2026-01-01']);
    expect(monthsToClose('2026-01-01T00:00:00.000Z', '2026-01-10')).toEqual([]);
    expect(monthsToClose('2025-12-31T12:00:00.000Z', '2026-01-10')).toEqual(['2026-01-01']);
  });
});
