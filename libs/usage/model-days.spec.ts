import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { readModelRecord, readRecords, sumUpModelDays } from './model-days.js';
import { purgeUsageSums } from './usage-summary.js';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

interface Used {
  model: string;
  accounts: number;
  /** Requests per account. */
  each?: number;
  isFailed?: boolean;
  latencyMs?: number | null;
  daysAgo?: number;
}

/** Sums for new accounts, as `sumUpUsage` writes them. */
async function used({ model, accounts, each = 1, isFailed = false, latencyMs = 200, daysAgo = 3 }: Used) {
  const [failures, timed] = [isFailed ? each : 0, latencyMs === null ? 0 : each];
  const values = [model, daysAgo, each, failures, timed * (latencyMs ?? 0), timed];
  for (let account = 0; account < accounts; account += 1)
    await fixture.owner.query(
      `INSERT INTO usage_days (account_id, day, key_id, model_id, requests, settled, failures, latency_ms, timed)
       VALUES ($7, (now() AT TIME ZONE 'UTC')::date - $2::int, 'k', $1, $3, 0, $4, $5, $6)`,
      [...values, newId()],
    );
}

async function recordOf(model: string) {
  await sumUpModelDays(fixture.billing);
  return readModelRecord(fixture.billing, model);
}

/** The days with known results. */
async function knownDays(model: string) {
  const { days } = await recordOf(model);
  return days.filter(({ delivered, latencyMs }) => delivered !== null || latencyMs !== null);
}

describe('a model’s track record', () => {
  it('is the share that was delivered and the usual time, over all accounts', async () => {
    await used({ model: 'swift', accounts: 8, latencyMs: 100 });
    await used({ model: 'swift', accounts: 3, latencyMs: 210, isFailed: true });
    await used({ model: 'other', accounts: 12, isFailed: true });
    const { delivered, latencyMs, days } = await recordOf('swift');
    // 8 of 11 are 0.7272…, rounded to half a percent.
    expect({ delivered, latencyMs }).toEqual({ delivered: 0.725, latencyMs: 100 });
    expect(days).toHaveLength(30);
    expect(days[27]).toMatchObject({ delivered: 0.725, latencyMs: 100 });
    expect(await knownDays('swift')).toHaveLength(1);
  });

  it('counts each account once, however many of its requests fail', async () => {
    await used({ model: 'steady', accounts: 9 });
    await used({ model: 'steady', accounts: 1, each: 50, isFailed: true, latencyMs: 1 });
    expect(await recordOf('steady')).toMatchObject({ delivered: 0.9, latencyMs: 200 });
  });

  it('omits days on which few accounts had work, however much', async () => {
    await used({ model: 'rare', accounts: 4, each: 20 });
    expect(await knownDays('rare')).toEqual([]);
    expect(await recordOf('rare')).toMatchObject({ delivered: null, latencyMs: null });
    expect(await recordOf('never called')).toMatchObject({ delivered: null, latencyMs: null });
  });

  it('omits today, and adds what ended late', async () => {
    await used({ model: 'fresh', accounts: 6, daysAgo: 0 });
    expect(await knownDays('fresh')).toEqual([]);
    await used({ model: 'late', accounts: 6, daysAgo: 4, latencyMs: null });
    expect(await recordOf('late')).toMatchObject({ delivered: 1, latencyMs: null });
    await used({ model: 'late', accounts: 6, daysAgo: 4, isFailed: true });
    expect(await recordOf('late')).toMatchObject({ delivered: 0.5, latencyMs: 200 });
  });

  it('is the average of its days', async () => {
    await used({ model: 'mixed', accounts: 5, daysAgo: 8, latencyMs: 100 });
    await used({ model: 'mixed', accounts: 5, daysAgo: 9, latencyMs: 301, isFailed: true });
    expect(await recordOf('mixed')).toMatchObject({ delivered: 0.5, latencyMs: 201 });
  });

  it('of several models is the average of those that are known', async () => {
    await used({ model: 'one', accounts: 5, daysAgo: 8, latencyMs: 100 });
    await used({ model: 'two', accounts: 6, daysAgo: 8, latencyMs: 301, isFailed: true });
    await used({ model: 'few', accounts: 2, daysAgo: 8, isFailed: true });
    await used({ model: 'two', accounts: 5, daysAgo: 9, latencyMs: 300 });
    await sumUpModelDays(fixture.billing);
    const records = await readRecords(fixture.billing, [
      { id: 'one', part: 'image' },
      { id: 'two', part: 'image' },
      { id: 'few', part: 'image' },
      { id: 'few', part: 'video' },
    ]);
    expect([...records.keys()]).toEqual(['image', 'video']);
    const { delivered, latencyMs, days } = records.get('image')!;
    expect({ delivered, latencyMs }).toEqual({ delivered: 0.75, latencyMs: 251 });
    expect(days).toHaveLength(30);
    expect(days.slice(21, 23)).toEqual([
      { day: days[21]!.day, delivered: 1, latencyMs: 300 },
      { day: days[22]!.day, delivered: 0.5, latencyMs: 201 },
    ]);
    expect(records.get('video')).toMatchObject({ delivered: null, latencyMs: null });
  });

  it('outlives its accounts, and is removed when it is old', async () => {
    await used({ model: 'kept', accounts: 5 });
    expect(await recordOf('kept')).toMatchObject({ delivered: 1 });
    await fixture.owner.query(`DELETE FROM usage_days WHERE model_id = 'kept'`);
    expect(await recordOf('kept')).toMatchObject({ delivered: 1 });
    await fixture.owner.query(`INSERT INTO model_days VALUES ('2020-01-01', 'kept', 1, 1)`);
    await purgeUsageSums(fixture.billing);
    const { rowCount } = await fixture.owner.query(`SELECT FROM model_days WHERE model_id = 'kept'`);
    expect(rowCount).toBe(1);
  });
});
