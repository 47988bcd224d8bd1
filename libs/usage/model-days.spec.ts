import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { readModelRecord } from './model-days.js';
import { purgeUsageSums, sumUpUsage } from './usage-summary.js';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

interface Ended {
  model: string;
  count: number;
  isFailed?: boolean;
  latencyMs?: number | null;
  daysAgo?: number;
}

/** Charges of somebody new that ended, at the noon of a day. */
async function charge({
  model,
  count,
  isFailed = false,
  latencyMs = 200,
  daysAgo = 3,
}: Ended): Promise<void> {
  const { accountId, keyId } = await fixture.account({ credits: '1' });
  for (let each = 0; each < count; each += 1) {
    await fixture.owner.query(
      `INSERT INTO charges (id, account_id, key_id, model_id, state, amount, settled, released, latency_ms, created_at, resolved_at)
       VALUES ($1, $2, $3, $4, $5, 10, 0, 10, $6, ((now() AT TIME ZONE 'UTC')::date - $7::int + time '12:00') AT TIME ZONE 'UTC', now())`,
      [newId(), accountId, keyId, model, isFailed ? 'released' : 'settled', latencyMs, daysAgo],
    );
  }
}

async function recordOf(model: string) {
  await sumUpUsage(fixture.billing);
  return readModelRecord(fixture.billing, model);
}

/** Of the days, those that are known. */
async function knownDays(model: string) {
  const { days } = await recordOf(model);
  return days.filter(({ delivered, latencyMs }) => delivered !== null || latencyMs !== null);
}

describe('the record of a model', () => {
  it('is how often work was delivered and how long it took, over all accounts', async () => {
    await charge({ model: 'swift', count: 8, latencyMs: 100 });
    await charge({ model: 'swift', count: 3, latencyMs: 210, isFailed: true });
    await charge({ model: 'other', count: 12, isFailed: true });
    const { delivered, latencyMs, days } = await recordOf('swift');
    // 8 of 11 are 0.7272…, and 1,430 ms of 11 are 130.
    expect({ delivered, latencyMs }).toEqual({ delivered: 0.727, latencyMs: 130 });
    expect(days).toHaveLength(30);
    expect(days[26]).toMatchObject({ delivered: 0.727, latencyMs: 130 });
    expect(await knownDays('swift')).toHaveLength(1);
  });

  it('adds what ends later, each request once', async () => {
    await charge({ model: 'steady', count: 10 });
    expect(await recordOf('steady')).toMatchObject({ delivered: 1 });
    await charge({ model: 'steady', count: 10, isFailed: true });
    await sumUpUsage(fixture.billing);
    expect(await recordOf('steady')).toMatchObject({ delivered: 0.5 });
    // The same account again, whose sums are there.
    const { rows } = await fixture.owner.query<{ sums: string }>(
      `UPDATE usage_days SET requests = requests + 10 WHERE model_id = 'steady' AND failures = 0 RETURNING model_id AS sums`,
    );
    expect(rows).toHaveLength(1);
    expect(await recordOf('steady')).toMatchObject({ delivered: 0.666 });
  });

  it('says nothing of days with few requests, which would tell of single customers', async () => {
    await charge({ model: 'rare', count: 9, daysAgo: 5 });
    expect(await recordOf('rare')).toMatchObject({ delivered: null, latencyMs: null });
    await charge({ model: 'rare', count: 9, daysAgo: 6, latencyMs: null });
    expect(await recordOf('rare')).toMatchObject({ delivered: 1, latencyMs: null });
    expect(await knownDays('rare')).toEqual([]);
    expect(await recordOf('never called')).toMatchObject({ delivered: null, latencyMs: null });
  });

  it('never rounds up to perfect', async () => {
    await charge({ model: 'near', count: 1, isFailed: true });
    await sumUpUsage(fixture.billing);
    await fixture.owner.query(`UPDATE usage_days SET requests = 100000 WHERE model_id = 'near'`);
    expect(await recordOf('near')).toMatchObject({ delivered: 0.999 });
  });

  it('outlives the account, begins again with the sums of accounts, and goes when it is old', async () => {
    await charge({ model: 'kept', count: 10 });
    await sumUpUsage(fixture.billing);
    await fixture.owner.query(`DELETE FROM usage_days WHERE model_id = 'kept'`);
    expect(await recordOf('kept')).toMatchObject({ delivered: 1 });
    await fixture.owner.query(`INSERT INTO model_days VALUES ('2020-01-01', 'kept', 1, 1, 1, 1)`);
    await purgeUsageSums(fixture.billing);
    const count = async () =>
      (await fixture.owner.query(`SELECT FROM model_days WHERE model_id = 'kept'`)).rowCount;
    expect(await count()).toBe(1);
    await fixture.owner.query('TRUNCATE usage_days');
    expect(await count()).toBe(0);
  });
});
