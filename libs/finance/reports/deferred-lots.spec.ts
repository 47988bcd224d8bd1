import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { recognisePresent } from '#ledger/lots/recognition.fixture.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { spreadOverDays } from '../../../test/support/spread.js';
import { type DeferredLot, deferredLots, type DeferredLotsQuery } from './deferred-lots.js';
import { deferredRevenueReport } from './deferred-revenue.js';

const DAY_MS = 86_400_000;
const DAYS = 4;

let fixture: LedgerFixture;
let pool: pg.Pool;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
  const life = new LedgerLife(fixture);
  for (let round = 0; round < 2; round += 1) await life.everything();
  await life.close();
  await recognisePresent(pool);
  await spreadOverDays(fixture.owner, DAYS);
});
afterAll(() => fixture?.close());

function day(agoDays: number): string {
  return new Date(Date.now() - agoDays * DAY_MS).toISOString().slice(0, 10);
}

async function every(asked: Partial<DeferredLotsQuery> & { to: string }): Promise<DeferredLot[]> {
  const lots: DeferredLot[] = [];
  for (let after: bigint | null = null; ;) {
    const query = { accountId: null, leftOnly: false, limit: 3, ...asked, after };
    const page = await deferredLots(pool, query);
    lots.push(...page);
    if (page.length < 3) return lots;
    after = page.at(-1)!.lotId;
  }
}

const sum = (lots: readonly DeferredLot[], field: 'deferredMinor' | 'left' | 'recognisedMinor') =>
  lots.reduce((total, lot) => total + lot[field], 0n);

describe('the lots behind deferred revenue', () => {
  it('add up to its closing balance at the end of any day, with all that happened to each', async () => {
    const sizes: number[] = [];
    for (let ago = DAYS + 1; ago >= -1; ago -= 1) {
      const to = day(ago);
      const report = await deferredRevenueReport(pool, { from: day(DAYS + 10), to });
      const lots = await every({ to });
      expect({ to, deferred: sum(lots, 'deferredMinor') }).toEqual({ to, deferred: report.closingMinor });
      expect(sum(lots, 'left')).toBe(report.lots.unusedCredits);
      expect(sum(lots, 'recognisedMinor')).toBe(report.lots.recognisedMinor);
      for (const { bought, consumed, restored, refunded, chargedBack, reversed, left } of lots)
        expect(left).toBe(bought - consumed + restored - refunded - chargedBack - reversed);
      expect(new Set(lots.map(({ lotId }) => lotId)).size).toBe(lots.length);
      sizes.push(lots.length);
    }
    expect(sizes[0]).toBe(0);
    expect(sizes.at(-1)).toBeGreaterThan(10);
    expect(new Set(sizes).size).toBeGreaterThan(2);
    const lots = await every({ to: day(-1) });
    for (const field of ['consumed', 'restored', 'refunded', 'chargedBack', 'reversed'] as const)
      expect({ field, has: lots.some((lot) => lot[field] !== 0n) }).toEqual({ field, has: true });
    expect(lots.some(({ topupId }) => topupId === null)).toBe(true);
  });

  it('are those of one account, or those with something left', async () => {
    const lots = await every({ to: day(-1) });
    const { accountId } = lots[0]!;
    const own = await every({ to: day(-1), accountId });
    expect(own).toEqual(lots.filter((lot) => lot.accountId === accountId));
    const left = await every({ to: day(-1), leftOnly: true });
    expect(left).toEqual(lots.filter((lot) => lot.left !== 0n || lot.deferredMinor !== 0n));
    expect(left.length).toBeLessThan(lots.length);
  });
});
