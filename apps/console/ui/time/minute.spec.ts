import { afterEach, describe, expect, it, vi } from 'vitest';
import { enteredTime, localMinute } from './minute.js';

afterEach(() => void vi.unstubAllEnvs());

describe('the time of a field without seconds', () => {
  it.each([
    ['with seconds', '2026-11-29T05:10:59.123Z'],
    ['in the first of two equal hours', '2026-10-25T00:30:00.000Z'],
    ['in the second of two equal hours', '2026-10-25T01:30:00.000Z'],
  ])('stays what it was if nobody changed it: %s', (_, at) => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    expect(enteredTime(localMinute(new Date(at)), at)).toBe(at);
  });

  it('is what was entered, in the viewer’s time zone, once somebody changed it', () => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    const before = '2026-11-29T05:10:59.123Z';
    expect(localMinute(new Date(before))).toBe('2026-11-29T06:10');
    expect(enteredTime('2026-11-29T06:11', before)).toBe('2026-11-29T05:11:00.000Z');
    expect(enteredTime('2026-11-29T06:10')).toBe('2026-11-29T05:10:00.000Z');
    expect(enteredTime('', before)).toBeNull();
  });
});
