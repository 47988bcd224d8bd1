import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  balanceOf,
  openPayments,
  orderOf,
  type PaymentsFixture,
  receive,
  roundNow,
} from '../../test/support/payments.js';

let payments: PaymentsFixture;

beforeAll(async () => {
  payments = await openPayments();
});
afterAll(() => payments.close());

async function newOrder(): Promise<{ accountId: string; id: string }> {
  const { accountId } = await payments.ledger.account({ credits: '0' });
  return { accountId, id: (await orderOf(payments, accountId)).id };
}

async function stateOf({ accountId, id }: { accountId: string; id: string }): Promise<string> {
  return (await payments.orders.show(accountId, id)).state;
}

/** Moves the order into the past. */
async function age({ id }: { id: string }): Promise<void> {
  await payments.ledger.owner.query(
    `UPDATE topup_orders SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour'
     WHERE id = $1`,
    [id],
  );
}

async function eventsOf({ id }: { id: string }): Promise<string[]> {
  const { rows } = await payments.ledger.billing.query<{ event: string }>(
    `SELECT type || ': ' || state AS event FROM payment_events WHERE order_id = $1 ORDER BY event`,
    [id],
  );
  return rows.map(({ event }) => event);
}

describe('an order whose payment sent no event', () => {
  it('is found paid by asking, and credited once even if several ask', async () => {
    const order = await newOrder();
    payments.stripe.pay(order.id);
    await Promise.all([roundNow(payments), roundNow(payments), roundNow(payments)]);
    expect(await stateOf(order)).toBe('paid');
    expect(await balanceOf(payments.ledger, order.accountId)).toBe('10');
    expect(await eventsOf(order)).toEqual(['found: applied']);
  });

  it('is credited once when its event arrives at the same moment, and when it arrives later', async () => {
    const order = await newOrder();
    const { event } = payments.stripe.pay(order.id);
    await Promise.all([roundNow(payments), receive(payments, event)]);
    await receive(payments, event);
    expect(await balanceOf(payments.ledger, order.accountId)).toBe('10');
    expect(await stateOf(order)).toBe('paid');
  });

  it('is credited although it had expired', async () => {
    const order = await newOrder();
    await age(order);
    payments.stripe.pay(order.id);
    await roundNow(payments);
    expect(await stateOf(order)).toBe('paid');
  });
});

describe('an order that nobody pays', () => {
  it('stays open while its checkout can be paid, and expires after both have ended', async () => {
    const order = await newOrder();
    await roundNow(payments);
    expect(await stateOf(order)).toBe('open');
    payments.stripe.sessionOf(order.id).status = 'expired';
    await roundNow(payments);
    expect(await stateOf(order)).toBe('open');
    await age(order);
    await roundNow(payments);
    expect(await stateOf(order)).toBe('expired');
    await roundNow(payments);
    expect(await eventsOf(order)).toEqual([]);
  });

  it('does not expire while a payment may be in progress', async () => {
    const order = await newOrder();
    payments.stripe.sessionOf(order.id).status = 'complete';
    await age(order);
    await roundNow(payments);
    expect(await stateOf(order)).toBe('open');
    payments.stripe.pay(order.id);
    await roundNow(payments);
    expect(await stateOf(order)).toBe('paid');
  });

  it('is not checked forever once its payment is in suspense', async () => {
    const order = await newOrder();
    const { event, paymentId } = payments.stripe.pay(order.id);
    const session = payments.stripe.sessionOf(order.id);
    session.amount_total = 1_000;
    await receive(payments, { ...event, data: { object: { ...session } } });
    await age(order);
    await roundNow(payments);
    expect(await stateOf(order)).toBe('expired');
    const { rows } = await payments.ledger.billing.query(
      'SELECT why FROM suspense_items WHERE reference = $1',
      [paymentId],
    );
    expect(rows).toEqual([{ why: 'other_amount' }]);
  });
});

describe('a round', () => {
  it('continues if Stripe does not answer for one order, and asks about that one again', async () => {
    const orders = [await newOrder(), await newOrder()];
    for (const { id } of orders) payments.stripe.pay(id);
    const never = new AbortController().signal;
    await payments.ledger.owner.query(`UPDATE topup_orders SET next_check_at = now()`);
    payments.stripe.lostAnswers = 1;
    await payments.reconciler.round(never);
    expect((await Promise.all(orders.map(stateOf))).sort()).toEqual(['open', 'paid']);
    await roundNow(payments);
    expect(await Promise.all(orders.map(stateOf))).toEqual(['paid', 'paid']);
  });

  it('asks about old orders less often than about new ones', async () => {
    const [young, old] = [await newOrder(), await newOrder()];
    await age(old);
    await payments.ledger.owner.query(`UPDATE topup_orders SET next_check_at = now()`);
    const { firstCheckMs } = payments.config.payments;
    const due = await payments.orders.claimDue(50, ['stripe']);
    expect(due.map(({ id }) => id)).toEqual(expect.arrayContaining([young.id, old.id]));
    const { rows } = await payments.ledger.billing.query<{ id: string; ms: number }>(
      `SELECT id, extract(epoch FROM next_check_at - now())::float8 * 1000 AS ms FROM topup_orders
       WHERE id = ANY($1)`,
      [[young.id, old.id]],
    );
    const waits = new Map(rows.map(({ id, ms }) => [id, ms]));
    expect(waits.get(old.id)).toBeGreaterThan(10 * 60_000);
    expect(waits.get(old.id)).toBeLessThanOrEqual(15 * 60_000);
    expect(waits.get(young.id)).toBeLessThan(10 * 60_000 + firstCheckMs);
  });

  it('stops between two orders on request', async () => {
    const order = await newOrder();
    payments.stripe.pay(order.id);
    await payments.ledger.owner.query(`UPDATE topup_orders SET next_check_at = now()`);
    await payments.reconciler.round(AbortSignal.abort());
    expect(await stateOf(order)).toBe('open');
    await roundNow(payments);
    expect(await stateOf(order)).toBe('paid');
  });
});
