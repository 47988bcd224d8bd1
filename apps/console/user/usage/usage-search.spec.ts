import { describe, expect, it } from 'vitest';
import { addDays, today } from '../../finance/utc-days.js';
import { chartQuery } from './usage-search.js';

describe('the chart of days', () => {
  it('is requested for what the server keeps', () => {
    expect(chartQuery({ by: 'key', keyId: 'k' })).toMatchObject({ range: '30d', by: 'key', keyId: 'k' });
    const day = addDays(today(), -1);
    expect(chartQuery({ from: day })).toMatchObject({ from: day, to: day, by: 'model' });
    expect(chartQuery({ from: addDays(today(), -91), to: today() })).not.toBeNull();
  });

  it.each([
    ['too many', { from: addDays(today(), -92), to: today() }],
    ['too old', { from: addDays(today(), -184), to: addDays(today(), -180) }],
    ['in no order', { from: today(), to: addDays(today(), -1) }],
  ])('is not requested for days that are %s', (_, days) => {
    expect(chartQuery(days)).toBeNull();
  });
});
