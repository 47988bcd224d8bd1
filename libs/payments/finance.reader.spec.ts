import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordLimit } from '#ledger/postings/outflow.js';
import { parseAmount } from '#money/amount.js';
import type { Page } from '#platform/http/page.js';
import {
  asking,
  openPayments,
  paidOrder,
  type PaymentsFixture,
  receive,
} from '../../test/support/payments.js';
import { staffActor } from '../../test/support/staff.js';
import { FinanceReader } from './finance.reader.js';
import { TopupRefundService } from './topup-refund.service.js';

let payments: PaymentsFixture;
let reader: FinanceReader;
let accounts: string[];
/** In order of payment. */
let paid: Awaited<ReturnType<typeof paidOrder>>[];

beforeAll(async () => {
  payments = await openPayments();
  const { ledger, stripe } = payments;
  reader = new FinanceReader({ pool: ledger.billing, config: payments.config });
  accounts = [
    (await ledger.account({ credits: '0' })).accountId,
    (await ledger.account({ credits: '0' })).accountId,
  ];
  paid = [];
  for (const index of [0, 1, 0]) paid.push(await paidOrder(payments, accounts[index]!));
  const [first, second] = paid;
  await receive(
    payments,
    stripe.dispute('dp_open', first!.paymentId, { amount: 1300, status: 'under_review' }),
  );
  await receive(
    payments,
    stripe.dispute('dp_won', second!.paymentId, { amount: 1300, status: 'under_review' }),
  );
  await receive(payments, stripe.dispute('dp_won', second!.paymentId, { amount: 1300, status: 'won' }));
  // Payments without an order wait in suspense.
  const stray = { ...stripe.sessionOf(first!.order.id), client_reference_id: null };
  for (const payment_intent of ['pi_stray_1', 'pi_stray_2'])
    await receive(payments, stripe.event('checkout.session.completed', { ...stray, payment_intent }));
  const refunds = new TopupRefundService(payments);
  await recordLimit(ledger.billing, 'topup-refund', parseAmount('100'));
  const request = { topupId: paid[2]!.topupId, reason: 'not needed' };
  for (const credits of ['1', '2'].map(parseAmount))
    await refunds.refund({ ...request, credits }, asking(await staffActor(ledger, 'finance')));
});
afterAll(() => payments.close());

type List<T> = (listing: { where: [string, unknown][]; limit: number; cursor?: string }) => Promise<Page<T>>;

/** All items of a list, which must be the same for any page size. */
async function all<T>(list: List<T>, where: [string, unknown][] = []): Promise<T[]> {
  const { items, nextCursor } = await list({ where, limit: 100 });
  expect(nextCursor).toBeNull();
  const paged: T[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await list({ where, limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    paged.push(...page.items);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(paged).toEqual(items);
  return items;
}

describe('the lists of finance', () => {
  it('list top-ups with their refunds and disputes, newest first', async () => {
    const topups = await all((listing) => reader.topups(listing));
    expect(topups.map(({ id }) => id)).toEqual(paid.map(({ topupId }) => topupId).reverse());
    expect(topups[2]).toMatchObject({
      accountId: accounts[0],
      orderId: paid[0]!.order.id,
      provider: 'stripe',
      paid: 1300n,
      rate: '1.3',
      disputed: 10_000_000_000n,
    });
    expect(topups[0]).toMatchObject({ disputed: 0n, refunded: 3_000_000_000n });
    // A dispute that was won does not count.
    expect(topups[1]).toMatchObject({ disputed: 0n, refunded: 0n });
    const ofSecond = await all((listing) => reader.topups(listing), [['t.account_id = ?', accounts[1]]]);
    expect(ofSecond).toEqual([topups[1]]);
  });

  it('list the money in suspense, the events, the refunds and the disputes', async () => {
    const suspense = await all((listing) => reader.suspense(listing));
    expect(suspense).toHaveLength(2);
    expect(suspense[0]).toMatchObject({
      state: 'open',
      amount: 1300n,
      clearedBy: null,
      mayBecome: ['credited', 'returned'],
    });
    const events = await all((listing) => reader.events(listing));
    expect(events.filter(({ state }) => state === 'suspense')).toHaveLength(2);
    const inSuspense = await all(
      (listing) => reader.events(listing),
      [
        ['state = ?', 'suspense'],
        ['provider = ?', 'stripe'],
      ],
    );
    expect(inSuspense).toEqual(events.filter(({ state }) => state === 'suspense'));
    const ofThird: [string, unknown][] = [['r.topup_id = ?', paid[2]!.topupId]];
    expect(await all((listing) => reader.refunds(listing), ofThird)).toMatchObject([
      { state: 'succeeded', credits: 2_000_000_000n, accountId: accounts[0], provider: 'stripe' },
      { state: 'succeeded', credits: 1_000_000_000n, reason: 'not needed', failure: null },
    ]);
    const disputes = await all((listing) => reader.disputes(listing));
    expect(disputes).toMatchObject([
      { disputeId: 'dp_won', state: 'won', accountId: accounts[1] },
      { disputeId: 'dp_open', state: 'open', accountId: accounts[0], closedAt: null },
    ]);
  });

  it('reject cursors of other lists, and those without a time', async () => {
    const invalid = { code: 'invalid_value', param: 'cursor' };
    const cursor = Buffer.from('["not a time","stripe","evt"]').toString('base64url');
    await expect(reader.events({ where: [], limit: 1, cursor })).rejects.toMatchObject(invalid);
    const { nextCursor } = await reader.topups({ where: [], limit: 1 });
    await expect(reader.events({ where: [], limit: 1, cursor: nextCursor! })).rejects.toMatchObject(invalid);
  });
});
