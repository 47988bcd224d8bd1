import { describe, expect, it } from 'vitest';
import { countArgument, dayArgument, timeArgument, zonedTimeArgument } from './arguments.js';

it('a count goes beyond the thousandth', () => {
  expect(countArgument('25000')).toBe(25_000);
  for (const text of ['0', '100001', '1e3', ''])
    expect(() => countArgument(text)).toThrow(/from 1 to 100000/);
});

describe('a day or a time on the command line', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:00.123456Z', '2026-01-31T08:00:00.123Z'],
    ['2026-01-31T08:00:00+01:00', '2026-01-31T07:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(timeArgument(text).toISOString()).toBe(time);
  });

  it.each(['2026-02-29', '2026-02-31', '2026-04-31T00:00:00Z', '2026-01-31T08:00:00', '31.1.2026', ''])(
    'is refused: %s',
    (text) => {
      expect(() => timeArgument(text)).toThrow(/Give a day or a time/);
      expect(() => zonedTimeArgument(text)).toThrow(/Give a time with its zone/);
    },
  );

  it('may have to be a whole day', () => {
    expect(dayArgument('2026-01-31')).toBe('2026-01-31');
    expect(() => dayArgument('2026-02-31')).toThrow(/Give a day/);
    expect(() => dayArgument('2026-01-31T00:00:00Z')).toThrow(/Give a day/);
  });
});
