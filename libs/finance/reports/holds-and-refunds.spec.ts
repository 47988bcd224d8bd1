import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAmount } from '#money/amount.js';
import {
  type EngineFixture,
  fail,
  hold,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../../test/support/ledger-person.js';
import { inSnapshot } from '../snapshot.js';
import { readHolds, readHoldTotals } from './holds.js';
import { readFailures, readRefundDays } from './refunds.js';

const HOUR_MS = 3_600_000;
const PRICE = parseAmount('0.03');

let under: EngineFixture;
let person: LedgerPerson;
let held: string[];
let failed: string[];

beforeAll(async () => {
  under = await openEngine();
  person = await under.ledger.account({ credits: '10' });
  held = [await hold(under.engine, person, 1n), await hold(under.engine, person, 2n)];
  failed = [await fail(under.engine, person, 1n), await fail(under.engine, person, 3n)];
  await spend(under.engine, person, 4n);
});
afterAll(() => under.close());

const snapshot: <T>(work: Parameters<typeof inSnapshot<T>>[1]) => Promise<T> = (work) =>
  inSnapshot(under.ledger.billing, work);

describe('open holds', () => {
  const all = { graceMs: HOUR_MS, limit: 10, after: null, overdueOnly: false };

  it('are listed oldest first, in pages, with their posting', async () => {
    const rows = await snapshot((client) => readHolds(client, all));
    expect(rows.map(({ chargeId }) => chargeId)).toEqual(held);
    expect(rows[1]).toMatchObject({
      accountId: person.accountId,
      amount: 2n * PRICE,
      model: 'imgmodel-4',
      isOverdue: false,
      taskId: null,
      transactionId: expect.any(BigInt),
    });
    const after = await snapshot((client) => readHolds(client, { ...all, after: rows[0]! }));
    expect(after.map(({ chargeId }) => chargeId)).toEqual([held[1]]);
  });

  it('are overdue once the grace period has passed', async () => {
    const overdue = (graceMs: number) =>
      snapshot((client) => readHolds(client, { ...all, graceMs, overdueOnly: true }));
    expect(await overdue(HOUR_MS)).toEqual([]);
    expect(await overdue(-HOUR_MS)).toHaveLength(2);
  });

  it('add up to the held balances', async () => {
    const totals = await snapshot((client) => readHoldTotals(client, -HOUR_MS));
    const sum = 3n * PRICE;
    expect(totals).toMatchObject({ total: sum, balances: sum, overdue: { count: 2n, amount: sum } });
    expect(totals.buckets.reduce((count, bucket) => count + bucket.count, 0n)).toBe(2n);
  });
});

describe('refunds of failed work', () => {
  const range = { from: new Date(Date.now() - HOUR_MS), to: new Date(Date.now() + 24 * HOUR_MS) };
  const query = { ...range, limit: 10, after: null, outstandingOnly: false };

  it('are counted by the day of the failure', async () => {
    const days = await snapshot((client) => readRefundDays(client, range));
    const sum = (of: (day: (typeof days)[number]) => bigint) =>
      days.reduce((total, day) => total + of(day), 0n);
    expect(sum(({ failures }) => failures)).toBe(2n);
    expect(sum(({ refunded }) => refunded)).toBe(2n);
    expect(sum(({ amount }) => amount)).toBe(4n * PRICE);
    expect(sum(({ outstandingAmount }) => outstandingAmount)).toBe(0n);
  });

  it('are listed newest first, in pages, with both postings', async () => {
    const rows = await snapshot((client) => readFailures(client, query));
    expect(rows.map(({ chargeId }) => chargeId)).toEqual(failed.toReversed());
    expect(rows[0]).toMatchObject({ amount: 3n * PRICE, chargeState: 'released', reason: 'upstream_failed' });
    expect(rows[0]!.transactionIds).toHaveLength(2);
    const older = await snapshot((client) => readFailures(client, { ...query, after: rows[0]! }));
    expect(older.map(({ chargeId }) => chargeId)).toEqual([failed[0]]);
    expect(await snapshot((client) => readFailures(client, { ...query, outstandingOnly: true }))).toEqual([]);
  });
});
