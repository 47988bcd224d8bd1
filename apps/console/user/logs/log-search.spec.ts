import { describe, expect, it } from 'vitest';
import { logOf, logQuery } from './log-search.js';

const NOW_MS = Date.parse('2026-03-10T10:07:00Z');

describe('the list of requests', () => {
  it.each([
    [{ range: '30d' } as const, { from: '2026-02-09T00:00:00.000Z' }],
    [{ range: '1h' } as const, { from: '2026-03-10T09:10:00.000Z' }],
    [{ range: '24h' } as const, { from: '2026-03-09T11:00:00.000Z' }],
    [
      { from: '2026-01-01', to: '2026-01-02' },
      { from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z' },
    ],
    [{ from: '2026-01-01' }, { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }],
    [
      { at: '2026-03-01T00:00:00.000Z' },
      { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' },
    ],
    [
      { range: '24h', at: '2026-03-10T08:00:00.000Z' } as const,
      { from: '2026-03-10T08:00:00.000Z', to: '2026-03-10T09:00:00.000Z' },
    ],
    [{ range: '30d', at: 'yesterday' } as const, { from: '2026-02-09T00:00:00.000Z' }],
  ])('is asked for %j as %j', (search, times) => {
    expect(logQuery(search, NOW_MS)).toMatchObject(times);
  });

  it('is unlimited if no time is chosen', () => {
    expect(logQuery({ keyId: 'k' }, NOW_MS)).toEqual({ keyId: 'k' });
  });

  it.each([
    [{ keyId: 'k' }, { keyId: 'k', range: '30d' }],
    [{ range: '7d', by: 'key' } as const, { range: '7d' }],
    [{ from: '2026-01-01' }, { from: '2026-01-01' }],
  ])('behind the chart %j has the address %j', (search, address) => {
    expect(logOf(search)).toEqual(address);
  });
});
