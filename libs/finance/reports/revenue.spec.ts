import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { refundCharge } from '#ledger/charges/charge-refund.js';
import { atHorizon } from '#ledger/postings/horizon.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { unsaid } from '../../../test/support/finding-words.js';
import { ticketOf } from '../../../test/support/tickets.js';
import type { Control } from '../control.js';
import { costsControl } from '../costs/costs.control.js';
import { setCost } from '../costs/cost-versions.js';
import { accrueAll, CostsFixture } from '../costs/costs.fixture.js';
import { recordBill } from '../costs/upstream-bills.js';
import { recognisePresent } from '#ledger/lots/recognition.fixture.js';
import { chargeMargin } from './charge-margin.js';
import { deferredRevenueReport } from './deferred-revenue.js';
import { priceChanges } from './price-changes.js';
import { revenueControl } from './revenue.control.js';
import { buildNextRevenueDay } from './revenue-days.js';
import {
  readRevenueChart,
  type RevenueFilter,
  type RevenueSubject,
  revenueSubjects,
} from './revenue-chart.js';
import {
  type Earned,
  type RevenueDimension,
  revenueDimensions,
  costPerCredit,
  marginOf,
  revenueReport,
  revenueRows,
} from './revenue.js';

const SEED = Number(process.env['LEDGER_SEED'] ?? Date.now() % 100_000);
const DAYS = 5;

/** The same numbers for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const roll = dice(SEED);
const MODELS = [
  'imgmodel-4',
  'vidmodel-3',
  'vendora-imagine-image',
  'vendora-chat',
  'vendora-speech',
] as const;

let costs: CostsFixture;
let customers: { accountId: string; keyId: string }[];
let ticket: { userId: string; ticketId: string };
const charges: string[] = [];

const today = () => new Date().toISOString().slice(0, 10);
const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

beforeAll(async () => {
  costs = await CostsFixture.create();
  customers = await Promise.all([1, 2, 3].map(() => costs.ledger.account({ credits: '100' })));
  await costs.ledger.owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key) VALUES ('second', 'openai', 'http://127.0.0.1:9', 'x')`,
  );
  for (const channel of ['sandbox', 'second'])
    for (const model of MODELS) await setCostOf(channel, model, '0.00700001');
  for (let count = 0; count < 60; count += 1) charges.push(await randomCharge());
  await spreadOverDays();
  ticket = await ticketOf(costs.ledger, customers[0]!.accountId);
  for (let count = 0; count < 8; count += 1) await refund(charges[roll(charges.length)]!);
  await accrueAll(costs.ledger.billing, { chunk: 9 });
});
afterAll(() => costs?.close());

function setCostOf(channel: string, model: string, cost: string) {
  return setCost(costs.ledger.billing, {
    channel,
    model,
    billsFailures: channel === 'second',
    effectiveFrom: null,
    cost: model === 'vendora-chat' ? { input: cost, cachedInput: cost, output: '3' } : { unitCost: cost },
    reason: 'the price list',
    actor: 'system',
    requestId: newId(),
  });
}

function randomCharge(): Promise<string> {
  const model = MODELS[roll(MODELS.length)]!;
  const units = BigInt(1 + roll(5));
  const tokens = { input: BigInt(roll(500)), cachedInput: BigInt(roll(50)), output: BigInt(1 + roll(900)) };
  return costs.charge(customers[roll(3)]!, {
    model,
    channel: ['sandbox', 'second', null][roll(5) % 3]!,
    failed: roll(5) === 0,
    ...(model === 'vendora-chat' ? { tokens } : { units, delivered: BigInt(roll(Number(units) + 1)) }),
  });
}

/** Moves events to earlier days. No program may do that, so the guards are off. */
async function spreadOverDays(): Promise<void> {
  const client = await costs.ledger.owner.connect();
  await client.query(`BEGIN; SET LOCAL session_replication_role = replica`);
  for (const chargeId of charges) {
    const days = roll(DAYS);
    for (const [table, columns, key] of [
      ['charges', ['created_at', 'resolved_at'], 'id'],
      ['ledger_transactions', ['effective_at', 'recorded_at'], 'charge_id'],
    ] as const) {
      const moves = columns.map((column) => `${column} = ${column} - $2 * interval '1 day'`).join(', ');
      await client.query(`UPDATE ${table} SET ${moves} WHERE ${key} = $1`, [chargeId, days]);
    }
  }
  await client.query('COMMIT');
  client.release();
}

/** Sums up every past day. @returns how many */
async function buildDays(): Promise<number> {
  let count = 0;
  while ((await buildNextRevenueDay(costs.ledger.billing)) !== null) count += 1;
  return count;
}

/** Drops the summaries from a day on, by default all. */
async function dropDays(from = '-infinity'): Promise<void> {
  await costs.ledger.billing.query('DELETE FROM revenue_summary_days WHERE day >= $1::date', [from]);
}

async function refund(chargeId: string): Promise<void> {
  const { rows } = await costs.ledger.owner.query<{ settled: string; refunded: string }>(
    `SELECT settled::text,
       (SELECT coalesce(sum(amount), 0)::text FROM charge_refunds WHERE charge_id = c.id) AS refunded
     FROM charges c WHERE id = $1`,
    [chargeId],
  );
  const rest = BigInt(rows[0]!.settled) - BigInt(rows[0]!.refunded);
  if (rest < 2n) return;
  const { ticketId, userId } = ticket;
  await inTransaction(costs.ledger.billing, (client) =>
    refundCharge(client, {
      chargeId,
      amount: nanos(rest / 2n),
      reason: 'It was bad.',
      ticketId,
      requestedBy: userId,
      approvedBy: null,
      requestId: newId(),
    }),
  );
}

const WHOLE = { from: daysFromNow(-DAYS), to: daysFromNow(1) };

function report(by: readonly RevenueDimension[], days = WHOLE, limit: number | null = null) {
  return revenueReport(costs.ledger.billing, { ...days, by, limit });
}

const MEASURES: readonly (keyof Earned)[] = [
  'charges',
  'failedCharges',
  'units',
  'gross',
  'refunds',
  'cost',
  'failedCost',
];

function sumOf(rows: readonly Earned[]): Earned {
  const sums = MEASURES.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0n)]);
  return Object.fromEntries(sums) as Earned;
}

async function check(control: Control) {
  const { count, items } = await atHorizon(costs.ledger.billing, (client, horizon) =>
    control.check(client, { horizon, graceMs: 0, before: null, limit: 50 }),
  );
  return { count, found: items.map(({ subject, state }) => `${state} ${subject}`).sort() };
}

describe(`revenue (seed ${SEED})`, () => {
  it('gives the same total as the ledger, however it is grouped, with and without summaries', async () => {
    const { totals, agrees } = await report([]);
    expect(agrees).toBe(true);
    expect(totals.gross).toBeGreaterThan(0n);
    expect(totals.cost).toBeGreaterThan(0n);
    expect(totals.failedCost).toBeGreaterThan(0n);
    const answers = async () => {
      const all = [];
      for (let mask = 1; mask < 2 ** revenueDimensions.length; mask += 5) {
        const by = revenueDimensions.filter((_, at) => mask & (1 << at));
        const { rows, ...rest } = await report(by);
        expect({ by, ...sumOf(rows) }).toEqual({ by, ...totals });
        expect(rest.agrees).toBe(true);
        all.push(rows);
      }
      return all;
    };
    const raw = await answers();
    expect(await buildDays()).toBeGreaterThanOrEqual(DAYS - 1);
    expect(await answers()).toEqual(raw);
    await costs.ledger.billing.query('DELETE FROM revenue_summary_days WHERE day = $1', [daysFromNow(-2)]);
    expect(await answers()).toEqual(raw);
    await dropDays(daysFromNow(-1));
    expect(await answers()).toEqual(raw);
    await buildDays();
    expect(await check(revenueControl)).toEqual({ count: 0, found: [] });
    expect(await check(costsControl)).toEqual({ count: 0, found: [] });
  });

  it('of days adds up to the total, and each agrees with the ledger', async () => {
    const whole = await report([]);
    const days = await report(['day']);
    const single = [];
    for (let day = -DAYS; day <= 0; day += 1) {
      const one = await report([], { from: daysFromNow(day), to: daysFromNow(day + 1) });
      expect(one.agrees).toBe(true);
      single.push(one.totals);
    }
    expect(sumOf(single)).toEqual(whole.totals);
    expect(sumOf(days.rows)).toEqual(whole.totals);
    const file = [];
    for await (const row of revenueRows(costs.ledger.billing, { ...WHOLE, by: ['day'] })) file.push(row);
    expect(file).toEqual(days.rows);
  });

  it('has a chart of the same sums, with and without summaries, next to the days before', async () => {
    const { billing } = costs.ledger;
    await recognisePresent(billing);
    const whole = await report([]);
    const { gross, refunds, cost, failedCost, charges: count, failedCharges } = whole.totals;
    const total = {
      charges: count,
      failedCharges,
      net: gross - refunds,
      refunds,
      cost: cost + failedCost,
      recognisedMinor: whole.ledger.recognisedMinor,
    };
    const chart = (by: RevenueSubject, filter: RevenueFilter = {}, days = WHOLE) =>
      readRevenueChart(billing, { ...days, by, filter });
    const charts = () => Promise.all(revenueSubjects.map((by) => chart(by)));
    await buildDays();
    const stored = await charts();
    await dropDays();
    expect(await charts()).toEqual(stored);
    await buildDays();
    for (const { total: found, points, subjects } of stored) {
      expect(found).toEqual(total);
      expect(points.map(({ day }) => day)).toEqual(
        Array.from({ length: DAYS + 1 }, (_, place) => daysFromNow(place - DAYS)),
      );
      const nets = [subjects, points.flatMap(({ subjects: of }) => of)];
      for (const of of nets) expect(of.reduce((sum, { net }) => sum + net, 0n)).toBe(total.net);
    }
    const families = stored[revenueSubjects.indexOf('family')]!;
    const recognised = families.points.flatMap(({ subjects }) =>
      subjects.map((each) => each.recognisedMinor!),
    );
    expect(recognised.reduce((sum, minor) => sum + minor, 0n)).toBe(total.recognisedMinor);
    const [first] = families.subjects;
    const narrowed = await chart('family', { family: first!.subject! });
    expect(narrowed.subjects).toEqual([first]);
    expect((await chart('model', { channel: 'second' })).total.recognisedMinor).toBeNull();
    const unrouted = await chart('channel', { channel: '' });
    const channels = stored[revenueSubjects.indexOf('channel')]!.subjects;
    expect(unrouted.subjects).toEqual(channels.filter(({ subject }) => subject === ''));
    expect(unrouted.total.recognisedMinor).toBeNull();

    const half = { from: daysFromNow(-1), to: daysFromNow(1) };
    const earlier = { from: daysFromNow(-3), to: daysFromNow(-1) };
    const { before, points } = await chart('model', {}, half);
    expect(before).toEqual((await chart('model', {}, earlier)).total);
    expect(points[1]!.before).toEqual(
      (await chart('model', {}, { from: daysFromNow(-2), to: daysFromNow(-1) })).total,
    );
  });

  it('says that there is more than the limit, and adds up all of it', async () => {
    const all = await report(['account', 'model']);
    const some = await report(['account', 'model'], WHOLE, 2);
    expect(some).toMatchObject({ truncated: true, totals: all.totals });
    expect(some.rows).toEqual(all.rows.slice(0, 2));
  });

  it('is what each price version earned, without refunds', async () => {
    const whole = await report([]);
    const versions = await priceChanges(costs.ledger.billing, {
      from: null,
      to: null,
      kind: null,
      subject: null,
      limit: 500,
    });
    for (const kind of ['price', 'multiplier'] as const) {
      const earned = versions.filter((version) => version.kind === kind);
      expect(earned.reduce((sum, { gross }) => sum + gross, 0n)).toBe(whole.totals.gross);
      expect(earned.reduce((sum, { charges: count }) => sum + count, 0n)).toBe(whole.totals.charges);
    }
    expect(versions.find(({ subject }) => subject === 'imgmodel-4')).toMatchObject({
      kind: 'price',
      value: '0.03',
      before: null,
      effectiveFrom: null,
      proposal: null,
    });
  });

  it('has a margin in money: recognised revenue less upstream costs', async () => {
    const { billing } = costs.ledger;
    await recognisePresent(billing);
    const whole = await report([]);
    const { lines } = await deferredRevenueReport(billing, WHOLE);
    const recognised = lines
      .filter(({ move }) => move === 'recognised')
      .reduce((sum, { amountMinor }) => sum - amountMinor, 0n);
    expect(recognised).toBeGreaterThan(0n);
    expect(whole.ledger.recognisedMinor).toBe(recognised);
    const { cost, failedCost } = whole.totals;
    const margin = recognised * 10_000_000n - cost - failedCost;
    expect(marginOf(whole, 'USD')).toEqual({
      margin,
      basisPoints: (margin * 10_000n) / (recognised * 10_000_000n),
    });
    expect(marginOf(whole, 'EUR')).toBeNull();
    const nothing = await report([], { from: daysFromNow(-99), to: daysFromNow(-98) });
    expect(marginOf(nothing, 'USD')).toEqual({ margin: 0n, basisPoints: null });
  });

  it('has the cost of a net credit for each row', async () => {
    for (const row of (await report(['model', 'channel'])).rows) {
      const net = row.gross - row.refunds;
      const each = net === 0n ? null : ((row.cost + row.failedCost) * 1_000_000_000n) / net;
      expect(costPerCredit(row)).toBe(each);
    }
  });

  it('and cost of one charge are reported next to each other', async () => {
    const { rows } = await costs.ledger.owner.query<{ id: string }>(
      `SELECT id FROM charges WHERE state = 'settled' AND channel_id IS NOT NULL LIMIT 1`,
    );
    const margin = (await chargeMargin(costs.ledger.billing, rows[0]!.id))!;
    expect(margin).toMatchObject({ state: 'known', costs: [{ outcome: 'delivered' }] });
    expect(margin.cost).toBe(margin.costs[0]!.cost);
    expect(margin.transactions.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['hold', 'settle']));
    expect(await chargeMargin(costs.ledger.billing, 'nothing')).toBeNull();
  });
});

describe('a bill of an upstream', () => {
  const bill = (more: object = {}) => ({
    channel: 'sandbox',
    number: 'B-1',
    from: daysFromNow(-DAYS),
    to: daysFromNow(-1),
    amount: parseAmount('0.5') as bigint,
    actor: 'system',
    requestId: newId(),
    ...more,
  });

  it('clears the accrued costs of its days; the rest is expense', async () => {
    const before = await costs.balances('%:sandbox');
    const first = await recordBill(costs.ledger.billing, bill());
    expect(await recordBill(costs.ledger.billing, bill())).toEqual(first);
    await expect(recordBill(costs.ledger.billing, bill({ amount: 1n }))).rejects.toMatchObject({
      param: 'number',
    });
    await expect(recordBill(costs.ledger.billing, bill({ channel: 'x' }))).rejects.toMatchObject({
      param: 'channel',
    });
    const to = daysFromNow(2);
    await expect(recordBill(costs.ledger.billing, bill({ number: 'B-2', to }))).rejects.toMatchObject({
      param: 'to',
    });
    const after = await costs.balances('%:sandbox');
    expect(after['payable:sandbox']).toBe(parseAmount('0.5'));
    expect(after['accrued-upstream:sandbox'] ?? 0n).toBe(
      (before['accrued-upstream:sandbox'] ?? 0n) - first.accrued,
    );
    expect(after['expense:upstream:sandbox']).toBe(
      (before['expense:upstream:sandbox'] ?? 0n) + first.accrued - parseAmount('0.5'),
    );
    const again = await recordBill(
      costs.ledger.billing,
      bill({ number: 'C-1', amount: -parseAmount('0.1') }),
    );
    expect(again.accrued).toBe(0n);
    const whole = await report([]);
    expect(whole.agrees).toBe(true);
    expect(whole.billDifference).toBe(parseAmount('0.4') - first.accrued);
    expect(await check(costsControl)).toEqual({ count: 0, found: [] });
  });
});

describe('the controls of revenue and costs', () => {
  /** Does damage with the guards off, checks, and rolls back. */
  async function withHarm(sql: string, control: Control): Promise<string[]> {
    const client = await costs.ledger.owner.connect();
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(sql);
      const context = { horizon: { at: 'infinity', lastLedgerId: 0n }, graceMs: 0, before: null, limit: 50 };
      const { items } = await control.check(client, context);
      expect(items.flatMap((item) => unsaid(control, item))).toEqual([]);
      return items.map(({ state }) => state);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }
  const ONE = `(SELECT charge_id FROM charge_costs WHERE cost > 0 AND outcome = 'delivered' LIMIT 1)`;
  const OWN = `(SELECT transaction_id FROM charge_costs WHERE charge_id = ${ONE})`;

  it.each([
    [`UPDATE charge_costs SET cost = cost + 1 WHERE charge_id = ${ONE}`, 'differs', costsControl],
    [`DELETE FROM charge_costs WHERE charge_id = ${ONE}`, 'cost_missing', costsControl],
    [`UPDATE charge_costs SET charge_id = 'x' WHERE charge_id = ${ONE}`, 'cost_without_charge', costsControl],
    [
      `DELETE FROM ledger_entries WHERE transaction_id = ${OWN}; DELETE FROM ledger_transactions WHERE id = ${OWN}`,
      ...(['posting_missing', costsControl] as const),
    ],
    [`DELETE FROM upstream_bills WHERE number = 'B-1'`, 'row_missing', costsControl],
    [
      `UPDATE ledger_transactions SET effective_at = effective_at - interval '3 days' WHERE id = ${OWN}`,
      'differs',
      costsControl,
    ],
    [`UPDATE cost_progress SET through = through - interval '2 days'`, 'behind', costsControl],
    [
      `INSERT INTO unknown_costs SELECT id, channel_id, model_id, false, resolved_at FROM charges WHERE id = ${ONE}`,
      ...(['unknown_cost', costsControl] as const),
    ],
    [
      `UPDATE charges SET settled = settled + 1, amount = amount + 1 WHERE id = ${ONE}`,
      'differs',
      revenueControl,
    ],
    [
      `UPDATE charges SET resolved_at = resolved_at - interval '1 day' WHERE id = ${ONE}`,
      'differs',
      revenueControl,
    ],
    [`DELETE FROM charge_refunds`, 'differs', revenueControl],
    [`UPDATE revenue_days SET gross = gross + 1`, 'summary_differs', revenueControl],
  ])('find: %s', async (sql, state, control) => {
    expect(await withHarm(sql, control)).toContain(state);
  });

  it('name nothing after a time if only events before it count', async () => {
    const { count } = await atHorizon(costs.ledger.billing, (client, horizon) =>
      revenueControl.check(client, { horizon, graceMs: 0, before: `${today()}T00:00:00Z`, limit: 5 }),
    );
    expect(count).toBe(0);
  });
});
