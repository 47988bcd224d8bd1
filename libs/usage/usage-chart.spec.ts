import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { spanOf, spanOfDays } from './chart-span.js';
import { type ChartFilter, type ChartSubject, readUsageChart } from './usage-chart.js';
import { sumUpUsage } from './usage-summary.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Late in the day, so that an hour ago is the same day. */
const NOW_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - HOUR_MS;

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

interface Ended {
  accountId: string;
  keyId: string;
  ago: number;
  model?: string;
  isFailed?: boolean;
  latencyMs?: number;
}

/** A charge of 7 nano-USD that ended, or of nothing if it failed. */
async function charge(ended: Ended): Promise<void> {
  const { accountId, keyId, ago, model = 'imgmodel-4', isFailed = false, latencyMs = null } = ended;
  const sums = isFailed ? ['released', 0, 10] : ['settled', 7, 3];
  await fixture.owner.query(
    `INSERT INTO charges (id, account_id, key_id, model_id, state, amount, settled, released, latency_ms, created_at, resolved_at)
     VALUES ($1, $2, $3, $4, $5, 10, $6, $7, $8, $9, now())`,
    [newId(), accountId, keyId, model, ...sums, latencyMs, new Date(NOW_MS - ago)],
  );
}

interface Asked {
  by?: ChartSubject;
  filter?: ChartFilter;
  range?: '24h' | '7d';
}

function read(accountId: string, { by = 'model', filter = {}, range = '7d' }: Asked = {}) {
  return readUsageChart(fixture.billing, { accountId, span: spanOf(range, NOW_MS), by, filter });
}

const NOTHING = { spent: 0n, requests: 0, failures: 0, latencyMs: null };

describe('the chart of usage', () => {
  it('has days by subject and the days before, the same before and after the sums are written', async () => {
    const { accountId, keyId } = await fixture.account({ credits: '1' });
    const other = await fixture.key(accountId);
    const stranger = await fixture.account({ credits: '1' });
    await charge({ accountId, keyId, ago: 0, latencyMs: 100 });
    await charge({ accountId, keyId, ago: 2 * DAY_MS, latencyMs: 300 });
    await charge({ accountId, keyId: other, ago: 2 * DAY_MS, isFailed: true });
    await charge({ accountId, keyId: other, ago: 8 * DAY_MS });
    await charge({ accountId, keyId, ago: 15 * DAY_MS });
    await charge({ ...stranger, ago: 0 });
    const chart = await read(accountId, { by: 'key' });
    const before = { ...NOTHING, spent: 7n, requests: 1 };
    expect(chart.total).toEqual({ spent: 14n, requests: 3, failures: 1, latencyMs: 200 });
    expect(chart.before).toEqual(before);
    expect(chart.subjects).toEqual([
      { subject: keyId, spent: 14n, requests: 2, failures: 0, latencyMs: 200, before: NOTHING },
      { subject: other, spent: 0n, requests: 1, failures: 1, latencyMs: null, before },
    ]);
    expect(chart.points).toHaveLength(7);
    expect(chart.points[5]!.before).toEqual(before);
    expect(chart.points[4]!.subjects).toMatchObject([
      { subject: keyId, spent: 7n, requests: 1 },
      { subject: other, failures: 1 },
    ]);
    await sumUpUsage(fixture.billing);
    expect(await read(accountId, { by: 'key' })).toEqual(chart);
    await sumUpUsage(fixture.billing);
    expect(await read(accountId, { by: 'key' })).toEqual(chart);
  });

  it('has the hours of a day, and narrows to a key, model, group or type', async () => {
    const { accountId, keyId } = await fixture.account({ credits: '1' });
    const cheap = await fixture.key(accountId, 'Public-Relay');
    await charge({ accountId, keyId, ago: 90 * 60_000, model: 'vendora-chat' });
    await charge({ accountId, keyId: cheap, ago: 0 });
    await charge({ accountId, keyId, ago: 25 * HOUR_MS });
    for (const summedUp of [false, true]) {
      if (summedUp) await sumUpUsage(fixture.billing);
      const chart = await read(accountId, { by: 'family', range: '24h' });
      expect(chart.points).toHaveLength(24);
      expect(chart.points.at(-1)!.at).toEqual(new Date(NOW_MS));
      expect(chart.points.at(-1)!.subjects).toMatchObject([{ subject: 'image', requests: 1 }]);
      expect(chart.points.at(-3)!.subjects).toMatchObject([{ subject: 'chat', requests: 1 }]);
      expect(chart.before).toMatchObject({ requests: 1 });
      const narrowed = async (filter: ChartFilter) =>
        (await read(accountId, { by: 'group', range: '24h', filter })).subjects.map(({ subject }) => subject);
      expect(await narrowed({})).toEqual(['Public-Relay', 'Vendora-Main']);
      expect(await narrowed({ keyId: cheap })).toEqual(['Public-Relay']);
      expect(await narrowed({ group: 'Vendora-Main' })).toEqual(['Vendora-Main']);
      expect(await narrowed({ family: 'chat' })).toEqual(['Vendora-Main']);
      expect(await narrowed({ model: 'imgmodel-4', family: 'chat' })).toEqual([]);
    }
  });

  it('names the twenty largest and sums up the others', async () => {
    const { accountId } = await fixture.account({ credits: '1' });
    for (let place = 0; place < 22; place += 1)
      await charge({ accountId, keyId: await fixture.key(accountId), ago: 0, isFailed: place < 2 });
    const { subjects, total } = await read(accountId, { by: 'key' });
    expect(subjects).toHaveLength(21);
    expect(subjects.at(-1)).toMatchObject({ subject: null, requests: 2, failures: 2 });
    expect(total).toMatchObject({ requests: 22, failures: 2, spent: 140n });
  });
});

describe('a span of days', () => {
  it('is compared with as many days before, as far as those are kept', () => {
    const now = Date.parse('2026-06-30T12:00:00Z');
    const span = spanOfDays({ from: '2026-06-01', to: '2026-06-30' }, now);
    expect(span).toMatchObject({ steps: 30, sums: 'days', isComparable: true });
    expect(span.to).toEqual(new Date('2026-07-01T00:00:00Z'));
    expect(spanOfDays({ from: '2026-01-01', to: '2026-01-31' }, now).isComparable).toBe(false);
  });

  it.each([
    ['that ends before it begins', { from: '2026-06-02', to: '2026-06-01' }],
    ['of too many', { from: '2026-03-01', to: '2026-06-30' }],
    ['that are no longer kept', { from: '2025-12-28', to: '2025-12-31' }],
  ])('%s is refused', (_, days) => {
    const refusal = expect.objectContaining({ code: 'invalid_value', param: 'from' });
    expect(() => spanOfDays(days, Date.parse('2026-06-30T12:00:00Z'))).toThrow(refusal);
  });
});
