import { describe, expect, it } from 'vitest';
import { nextToClose } from './period.js';

describe('the next period to close', () => {
  it('ends one month after the last close', () => {
    expect(nextToClose('2026-01-01T00:00:00.000Z', '2026-03-10')).toBe('2026-02-01');
    expect(nextToClose('2026-12-15T12:00:00.000Z', '2026-12-20')).toBe('2027-01-01');
  });

  it('ends with this month if nothing was closed yet', () => {
    expect(nextToClose(null, '2026-03-10')).toBe('2026-03-01');
  });
});
