import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomInt } from 'node:crypto';
import { inTransaction } from '#database/database.js';
import { atHorizon } from '#ledger/postings/horizon.js';
import { advanceLots } from '#ledger/lots/lots.js';
import { lockBalance } from '#ledger/postings/posting.js';
import { recognisePresent } from '#ledger/lots/recognition.fixture.js';
import { recogniseAll, recogniseNext } from '#ledger/lots/recognition.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import type { ControlResult } from '../control.js';
import { deferredRevenueControl, lotsControl } from '../controls/lots.control.js';
import { deferredRevenueReport } from './deferred-revenue.js';

/** SUMS_SEED replays a run. */
const SUMS_SEED = Number(process.env['SUMS_SEED'] ?? randomInt(2 ** 31));

/** Numbers below another, from a seed. */
function randomDice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

let fixture: LedgerFixture;
let accountId: string;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  const life = new LedgerLife(fixture);
  for (let round = 0; round < 2; round += 1) ({ inviter: accountId } = await life.everything());
  await life.close();
  await recognisePresent(fixture.billing);
});
afterAll(() => fixture?.close());

const today = Date.now() - (Date.now() % 86_400_000);
const day = (offset: number): string => new Date(today + offset * 86_400_000).toISOString().slice(0, 10);

describe('the roll-forward of deferred revenue', () => {
  it('agrees with the ledger account and the lots, and the next begins where it ends', async () => {
    const before = await deferredRevenueReport(fixture.billing, { from: day(-2), to: day(0) });
    expect(before).toMatchObject({ openingMinor: 0n, closingMinor: 0n, lines: [], agrees: true });
    const report = await deferredRevenueReport(fixture.billing, { from: day(0), to: day(1) });
    expect(report).toMatchObject({ agrees: true, closingMinor: report.lots.deferredMinor });
    expect(report.lots.pendingMinor).toBeGreaterThan(0n);
    expect(report.lines.map(({ move }) => move)).toEqual(
      expect.arrayContaining(['topups', 'recognised', 'refunded', 'charged_back', 'chargebacks_won']),
    );
    const { rows } = await fixture.billing.query<{ minor: bigint }>(
      `SELECT sum(e.amount)::bigint AS minor FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
       WHERE a.code LIKE 'revenue:%'`,
    );
    const recognised = report.lines.filter(({ move }) => move === 'recognised');
    expect(recognised.reduce((sum, { amountMinor }) => sum - amountMinor, 0n)).toBe(rows[0]?.minor);
    const after = await deferredRevenueReport(fixture.billing, { from: day(1), to: day(2) });
    expect(after).toMatchObject({ openingMinor: report.closingMinor, lines: [], agrees: true });
  });
});

describe(`what the lots have left at the end of a day (SUMS_SEED=${SUMS_SEED})`, () => {
  /** Calculated from the uses themselves. */
  const PLAIN = `
    SELECT (SELECT coalesce(sum(u.minor), 0) FROM lot_uses u JOIN ledger_transactions t ON t.id = u.recognition_id
        WHERE t.effective_at < $1::date::timestamp AT TIME ZONE 'UTC')::text AS recognised,
      (SELECT coalesce(sum(u.credits), 0) FROM lot_uses u WHERE u.effective_at < $1::date::timestamp AT TIME ZONE 'UTC')::text AS used,
      (SELECT coalesce(sum(l.credits), 0) FROM credit_lots l JOIN ledger_transactions t ON t.id = l.transaction_id
        WHERE t.effective_at < $1::date::timestamp AT TIME ZONE 'UTC')::text AS bought,
      (SELECT coalesce(sum(c.credits), 0) FROM credit_lot_changes c JOIN ledger_transactions t ON t.id = c.transaction_id
        WHERE c.kind <> 'debt' AND t.effective_at < $1::date::timestamp AT TIME ZONE 'UTC')::text AS changed`;

  it('is a plain sum of all uses, on any day and in any order of recognition', async () => {
    const dice = randomDice(SUMS_SEED);
    for (let round = 0; round < 4; round += 1) {
      const customers = await Promise.all([1, 2, 3].map(() => fixture.account({ credits: '5' })));
      const life = new LedgerLife(fixture);
      for (let n = 0; n < 9; n += 1) {
        const customer = customers[dice(3)] as (typeof customers)[number];
        await life.charge(customer, { units: BigInt(2 + dice(3)), delivered: BigInt(1 + dice(2)) });
        if (dice(3) === 0) await recogniseNext(fixture.billing, 1 + dice(8));
        if (dice(3) === 0)
          await inTransaction(fixture.billing, async (client) =>
            advanceLots(client, await lockBalance(client, customer.accountId)),
          );
      }
      await life.close();
      // Moves the uses to earlier days.
      await fixture.owner.query('ALTER TABLE ledger_transactions DISABLE TRIGGER append_only');
      await fixture.owner.query(
        `UPDATE ledger_transactions SET effective_at = effective_at - (id % 4) * interval '1 day'
         WHERE kind = 'settle' AND account_id = $1 AND id > (SELECT through_id FROM lot_progress)
           AND id > coalesce((SELECT through_id FROM lot_cursors WHERE account_id = $1), 0)`,
        [customers[0]?.accountId],
      );
      await fixture.owner.query('ALTER TABLE ledger_transactions ENABLE TRIGGER append_only');
      if (round % 2 === 0) await recogniseAll(fixture.billing, 7);
      for (let offset = -5; offset <= 1; offset += 1) {
        const to = day(offset);
        const { lots } = await deferredRevenueReport(fixture.billing, { from: day(-9), to });
        const { rows } = await fixture.billing.query<
          Record<'recognised' | 'used' | 'bought' | 'changed', string>
        >(PLAIN, [to]);
        const { recognised = '', used = '', bought = '', changed = '' } = rows[0] ?? {};
        expect(lots.recognisedMinor).toBe(BigInt(recognised));
        expect(lots.unusedCredits).toBe(BigInt(bought) + BigInt(changed) - BigInt(used));
      }
    }
    await recognisePresent(fixture.billing);
  });
});

describe('the controls of lots and of deferred revenue', () => {
  /** Runs on books that an intruder changed with all guards off, and rolls back. */
  async function found(sql: string): Promise<Record<'lots' | 'deferred', ControlResult>> {
    const horizon = await atHorizon(fixture.billing, (_, at) => Promise.resolve(at));
    const context = { horizon, graceMs: 0, before: null, limit: 5 };
    const client = await fixture.owner.connect();
    try {
      await client.query('BEGIN; SET LOCAL session_replication_role = replica');
      if (sql !== '') await client.query(sql, [accountId]);
      return {
        lots: await lotsControl.check(client, context),
        deferred: await deferredRevenueControl.check(client, context),
      };
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }
  const states = ({ items }: ControlResult): string[] => items.map(({ state }) => state);

  it('find nothing in intact books', async () => {
    const { lots, deferred } = await found('');
    expect([lots, deferred]).toEqual([
      { count: 0, items: [] },
      { count: 0, items: [] },
    ]);
  });

  it.each([
    ['lot_differs', 'UPDATE lot_states SET used = used - 1 WHERE account_id = $1 AND used > 0'],
    [
      'recognised_differs',
      'UPDATE lot_states SET recognised_minor = recognised_minor - 1 WHERE account_id = $1 AND recognised_minor > 0',
    ],
    ['posting_differs', 'UPDATE lot_uses SET minor = minor + 1 WHERE account_id = $1 AND minor > 0'],
    [
      'unused_differs',
      'UPDATE ledger_entries SET balance_after = balance_after + 1 WHERE ledger_account_id = (SELECT main_ledger_id FROM customer_balances WHERE account_id = $1)',
    ],
    ['never_played', 'DELETE FROM lot_cursors WHERE account_id = $1'],
    ['day_sums_differ', 'UPDATE lot_day_sums SET credits = credits + 1 WHERE $1::text IS NOT NULL'],
    ['day_sums_differ', 'DELETE FROM lot_day_sums WHERE $1::text IS NOT NULL'],
    ['stuck', `UPDATE lot_cursors SET stuck = 'x' WHERE account_id = $1`],
    ['credits_idle', `INSERT INTO lot_unmet VALUES ($1, 1, 'image', 1, now())`],
  ])('name what is wrong with lots: %s', async (state, sql) => {
    const { lots } = await found(sql);
    expect(states(lots)).toContain(state);
  });

  it('name a payment that is not the price of its lot', async () => {
    const { deferred } = await found(
      'UPDATE credit_lots SET paid_minor = paid_minor + 1 WHERE account_id = $1 AND paid_minor > 0',
    );
    expect(deferred).toMatchObject({
      count: 2,
      items: [
        { state: 'deferred_differs', subject: 'ledger-account:deferred-revenue' },
        { state: 'posting_differs', details: { amount: '1301 minor units', expected: '1302 minor units' } },
      ],
    });
  });
});
