import { describe, expect, it } from 'vitest';
import { addDays, today } from '../../finance/utc-days.js';
import { chartQuery, listQuery } from './usage-search.js';

const NOW_MS = Date.parse('2026-03-10T10:07:00Z');

describe('the list of requests', () => {
  it.each([
    [{}, { from: '2026-02-09T00:00:00.000Z' }],
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
    [{ at: 'yesterday' }, { from: '2026-02-09T00:00:00.000Z' }],
  ])('%j is of %j', (search, times) => {
    expect(listQuery(search, NOW_MS)).toMatchObject(times);
  });
});

describe('the chart of days', () => {
  it('is asked for what the server keeps', () => {
    expect(chartQuery({ by: 'key', keyId: 'k' })).toMatchObject({ range: '30d', by: 'key', keyId: 'k' });
    const day = addDays(today(), -1);
    expect(chartQuery({ from: day })).toMatchObject({ from: day, to: day, by: 'model' });
    expect(chartQuery({ from: addDays(today(), -91), to: today() })).not.toBeNull();
  });

  it.each([
    ['too many', { from: addDays(today(), -92), to: today() }],
    ['too old', { from: addDays(today(), -184), to: addDays(today(), -180) }],
    ['in no order', { from: today(), to: addDays(today(), -1) }],
  ])('is not asked for when they are %s', (_, days) => {
    expect(chartQuery(days)).toBeNull();
  });
});
