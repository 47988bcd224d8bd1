import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatAmount, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import {
  balanceOf,
  openPayments,
  orderOf,
  type PaymentsFixture,
  receive,
} from '../../test/support/payments.js';
import { OrderStore } from './order.store.js';

let payments: PaymentsFixture;

beforeAll(async () => {
  payments = await openPayments();
});
afterAll(() => payments.close());

function stateOf(accountId: string, orderId: string): Promise<{ state: string }> {
  return payments.orders.show(accountId, orderId);
}

function checkoutsOf(orderId: string): number {
  return [...payments.stripe.sessions.values()].filter((each) => each.client_reference_id === orderId).length;
}

async function topupsOf(accountId: string): Promise<number> {
  const { rows } = await payments.ledger.billing.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM topups WHERE account_id = $1',
    [accountId],
  );
  return rows[0]!.count;
}

describe('an order', () => {
  it("costs what the account's rate says, rounded up to the cent, and keeps it when the rate changes", async () => {
    const accountId = await payments.newAccount();
    const { id, paidMinor } = await orderOf(payments, accountId, { credits: '1.23456' });
    expect(paidMinor).toBe(161n);
    await payments.ledger.owner.query(
      `INSERT INTO account_rate_versions (account_id, rate, effective_from, reason, actor, request_id)
       VALUES ($1, '1.2', now(), 'r', 'system', 'r')`,
      [accountId],
    );
    expect((await orderOf(payments, accountId, { credits: '1.23456' })).paidMinor).toBe(149n);
    await receive(payments, payments.stripe.pay(id).event);
    expect(await stateOf(accountId, id)).toMatchObject({ state: 'paid', paidMinor: 161n, rate: '1.3' });
    expect(await balanceOf(payments.ledger, accountId)).toBe('1.23456');
  });

  it('by amount never credits more than was paid for', async () => {
    const { credits, payMinor } = await payments.orders.quote(await payments.newAccount(), {
      payMinor: 1_000n,
    });
    expect({ credits: formatAmount(credits), payMinor }).toEqual({
      credits: '7.692307692',
      payMinor: 1_000n,
    });
  });

  it.each([
    ['less than a credit', { credits: parseAmount('0.999999999') }, 'credits'],
    ['less than the price of a unit', { payMinor: 129n }, 'pay'],
    ['more than providers take', { payMinor: 100_000_000n }, 'pay'],
  ])('is refused for %s', async (_, wish, param) => {
    const accountId = await payments.newAccount();
    const refused = payments.topups.order({ accountId, wish, provider: 'stripe', requestId: newId() });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_value', param });
    expect(await payments.orders.list(accountId, 10, null)).toEqual([]);
  });

  it('through Stripe ends with its checkout, however long a bank transfer may take', async () => {
    const { source, ledger, config } = payments;
    const day = 24 * 3_600_000;
    const patient = { payments: { ...config.payments, orderLifeMs: 7 * day } };
    const orders = new OrderStore({ source, pool: ledger.billing, config: patient });
    const asked = { accountId: await payments.newAccount(), wish: { credits: parseAmount('10') } };
    const lifeOf = async (provider: 'stripe' | 'manual') => {
      const { createdAt, expiresAt } = await orders.save({ ...asked, provider, requestId: newId() });
      return expiresAt.getTime() - createdAt.getTime();
    };
    expect(await lifeOf('manual')).toBe(7 * day);
    expect(await lifeOf('stripe')).toBe(day - 60_000);
  });

  it('is refused for a provider that is not configured', async () => {
    const wish = { credits: parseAmount('10') };
    const asked = {
      accountId: await payments.newAccount(),
      wish,
      provider: 'sandbox' as const,
      requestId: newId(),
    };
    await expect(payments.topups.order(asked)).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'provider',
    });
  });

  it('is created once, with one checkout, however often and concurrently its request is sent', async () => {
    const wish = { credits: parseAmount('10') };
    const asked = {
      accountId: await payments.newAccount(),
      wish,
      provider: 'stripe' as const,
      requestId: newId(),
    };
    const made = await Promise.all(Array.from({ length: 5 }, () => payments.topups.order(asked)));
    made.push(await payments.topups.order(asked));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(new Set(made.map(({ checkoutUrl }) => checkoutUrl)).size).toBe(1);
    expect(checkoutsOf(made[0]!.id)).toBe(1);
  });

  it('is refused if its request id was used for another one', async () => {
    const accountId = await payments.newAccount();
    const { requestId } = await orderOf(payments, accountId);
    const wish = { credits: parseAmount('11') };
    const other = payments.topups.order({ accountId, wish, provider: 'stripe', requestId });
    await expect(other).rejects.toMatchObject({ code: 'conflict', param: 'requestId' });
    const foreign = { accountId: await payments.newAccount(), wish, provider: 'stripe' as const, requestId };
    expect(await payments.topups.order(foreign)).toMatchObject({ state: 'open' });
  });

  it('gets the checkout whose creation was not answered when the request is repeated', async () => {
    const wish = { credits: parseAmount('10') };
    const asked = {
      accountId: await payments.newAccount(),
      wish,
      provider: 'stripe' as const,
      requestId: newId(),
    };
    payments.stripe.lostAnswers = 1;
    await expect(payments.topups.order(asked)).rejects.toMatchObject({ code: 'payment_provider_failed' });
    const { id, checkoutUrl } = await payments.topups.order(asked);
    expect(checkoutUrl).toBe(payments.stripe.sessionOf(id).url);
    expect(checkoutsOf(id)).toBe(1);
  });

  it('is one of at most twenty open ones, also if created at once', async () => {
    const accountId = await payments.newAccount();
    const wish = { credits: parseAmount('1') };
    const save = () =>
      payments.orders.save({ accountId, wish, provider: 'manual', requestId: newId() }).then(
        () => 'made',
        (error: { code: string }) => error.code,
      );
    for (let count = 0; count < 17; count += 1) await save();
    const ends = await Promise.all(Array.from({ length: 6 }, save));
    expect(ends.sort()).toEqual(['conflict', 'conflict', 'conflict', 'made', 'made', 'made']);
    const [newest] = await payments.orders.list(accountId, 1, null);
    await payments.topups.cancel(accountId, newest!.id);
    expect(await save()).toBe('made');
  });

  it('is one of at most 200 in a day, however many of them were cancelled', async () => {
    const accountId = await payments.newAccount();
    const order = { accountId, wish: { credits: parseAmount('1') }, provider: 'manual' as const };
    const { id } = await payments.orders.save({ ...order, requestId: newId() });
    await payments.orders.end(id, 'cancelled');
    await payments.ledger.billing.query('UPDATE attempts SET count = 200');
    const another = payments.orders.save({ ...order, requestId: newId() });
    await expect(another).rejects.toMatchObject({ code: 'too_many_attempts' });
  });

  it('exists for its own account only', async () => {
    const { id } = await orderOf(payments, await payments.newAccount());
    const stranger = await payments.newAccount();
    await expect(payments.orders.show(stranger, id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(payments.topups.cancel(stranger, id)).rejects.toMatchObject({ code: 'not_found' });
    expect(payments.stripe.sessionOf(id).status).toBe('open');
  });

  it('is listed newest first, page by page', async () => {
    const accountId = await payments.newAccount();
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1)
      made.unshift((await orderOf(payments, accountId, { provider: 'manual' })).id);
    const first = await payments.orders.list(accountId, 1, null);
    expect(first.map(({ id }) => id)).toEqual(made.slice(0, 2));
    const rest = await payments.orders.list(accountId, 1, made[0]!);
    expect(rest.map(({ id }) => id)).toEqual(made.slice(1));
  });
});

describe('a cancelled order', () => {
  it('can no longer be paid at Stripe, and a repeat changes nothing', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    expect(await payments.topups.cancel(accountId, id)).toMatchObject({ state: 'cancelled' });
    expect(payments.stripe.sessionOf(id).status).toBe('expired');
    expect(await payments.topups.cancel(accountId, id)).toMatchObject({ state: 'cancelled' });
  });

  it('that was paid a moment before is credited, and only once when its event arrives later', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event } = payments.stripe.pay(id);
    expect(await payments.topups.cancel(accountId, id)).toMatchObject({ state: 'paid' });
    await receive(payments, event);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    expect(await topupsOf(accountId)).toBe(1);
  });

  it('and its event at the same moment credit it once', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event } = payments.stripe.pay(id);
    await Promise.all([
      payments.topups.cancel(accountId, id),
      receive(payments, event),
      payments.topups.cancel(accountId, id),
    ]);
    expect(await stateOf(accountId, id)).toMatchObject({ state: 'paid' });
    expect(await topupsOf(accountId)).toBe(1);
  });

  it('stays open while Stripe does not answer', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    payments.stripe.lostAnswers = 1;
    const failed = payments.topups.cancel(accountId, id);
    await expect(failed).rejects.toMatchObject({ code: 'payment_provider_failed' });
    expect(await stateOf(accountId, id)).toMatchObject({ state: 'open' });
    expect(await payments.topups.cancel(accountId, id)).toMatchObject({ state: 'cancelled' });
  });
});

describe('an order that was not paid in time', () => {
  it('no longer counts as open', async () => {
    const { source, ledger, config } = payments;
    const short = new OrderStore({
      source,
      pool: ledger.billing,
      config: { payments: { ...config.payments, orderLifeMs: 0 } },
    });
    const accountId = await payments.newAccount();
    const wish = { credits: parseAmount('1') };
    for (let count = 0; count < 21; count += 1)
      await short.save({ accountId, wish, provider: 'manual', requestId: newId() });
    expect(await short.list(accountId, 30, null)).toHaveLength(21);
  });

  it('is ended by a check, unlike one that has time left', async () => {
    const accountId = await payments.newAccount();
    const inTime = await orderOf(payments, accountId, { provider: 'manual' });
    const late = await orderOf(payments, accountId, { provider: 'manual' });
    await payments.ledger.owner.query(`UPDATE topup_orders SET expires_at = created_at WHERE id = $1`, [
      late.id,
    ]);
    for (const { id } of [inTime, late])
      await payments.topups.check(await payments.orders.show(accountId, id));
    expect(await stateOf(accountId, inTime.id)).toMatchObject({ state: 'open' });
    expect(await stateOf(accountId, late.id)).toMatchObject({ state: 'expired' });
  });
});
