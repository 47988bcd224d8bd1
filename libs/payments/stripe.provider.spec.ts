import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHmac } from 'node:crypto';
import { parseAmount } from '#money/amount.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { newId } from '#platform/ids.js';
import { StripeStandIn } from '../../test/support/stripe.js';
import type { PayableOrder, RefundOrder } from './payment.provider.js';
import { StripeProvider } from './stripe.provider.js';

const MINUTE_MS = 60_000;

let stripe: StripeStandIn;
let clock: ManualClock;
let provider: StripeProvider;

beforeAll(async () => {
  stripe = await StripeStandIn.start();
});
beforeEach(() => {
  clock = new ManualClock(Date.now());
  provider = providerAt(stripe.environment['STRIPE_API_BASE']!);
});
afterAll(() => stripe.close());

function providerAt(apiBase: string): StripeProvider {
  const config = { secretKey: 'sk_test', webhookSecret: StripeStandIn.webhookSecret, apiBase };
  return new StripeProvider(config, { consoleUrl: 'https://console.test', clock });
}

function newOrder(of: Partial<PayableOrder> = {}): PayableOrder {
  const createdAt = new Date(clock.nowMs());
  return {
    id: newId(),
    credits: parseAmount('10'),
    paidMinor: 1300n,
    currency: 'USD',
    providerReference: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 60 * MINUTE_MS),
    ...of,
  };
}

/** An order with its checkout, as stored. */
async function opened(of: Partial<PayableOrder> = {}): Promise<PayableOrder> {
  const order = newOrder(of);
  const { reference } = await provider.createCheckout(order);
  return { ...order, providerReference: reference };
}

function refundOrder(of: Partial<RefundOrder> = {}): RefundOrder {
  const ids = { refundId: newId(), paymentId: `pi_${newId()}` };
  return { ...ids, amountMinor: 260n, currency: 'USD', isRepeat: false, ...of };
}

function refundsOf({ paymentId }: RefundOrder): number {
  return [...stripe.refunds.values()].filter((each) => each.payment_intent === paymentId).length;
}

describe('a checkout', () => {
  it("asks for the cost of the order, with the order's address", async () => {
    const order = await opened({ paidMinor: 161n, currency: 'EUR' });
    expect(stripe.sessionOf(order.id)).toMatchObject({
      id: order.providerReference,
      amount_total: 161,
      currency: 'eur',
    });
  });

  it('exists once per order, also if requested concurrently, later, and after a lost answer', async () => {
    const order = newOrder();
    stripe.lostAnswers = 1;
    await expect(provider.createCheckout(order)).rejects.toThrow();
    const [one, two] = await Promise.all([provider.createCheckout(order), provider.createCheckout(order)]);
    clock.advance(20 * MINUTE_MS);
    expect(await provider.createCheckout(order)).toEqual(one);
    expect(two).toEqual(one);
    const made = [...stripe.sessions.values()].filter((each) => each.client_reference_id === order.id);
    expect(made.map(({ id }) => id)).toEqual([one.reference]);
  });

  it('expires with the order, but no sooner and no later than Stripe allows', async () => {
    const endOf = async (lifeMs: number) => {
      const order = newOrder({ expiresAt: new Date(clock.nowMs() + lifeMs) });
      await provider.createCheckout(order);
      return stripe.sessionOf(order.id).expires_at * 1000 - clock.nowMs();
    };
    expect(await endOf(60 * MINUTE_MS)).toBeGreaterThan(59 * MINUTE_MS);
    expect(await endOf(5 * MINUTE_MS)).toBeGreaterThan(30 * MINUTE_MS);
    expect(await endOf(7 * 24 * 60 * MINUTE_MS)).toBeLessThan(24 * 60 * MINUTE_MS);
  });

  it('is not created for an amount that no number represents exactly', async () => {
    const order = newOrder({ paidMinor: BigInt(Number.MAX_SAFE_INTEGER) + 1n });
    await expect(provider.createCheckout(order)).rejects.toThrow(RangeError);
    expect(() => stripe.sessionOf(order.id)).toThrow();
  });
});

describe('the outcome of an order', () => {
  it('is open until it is paid, and paid from then on', async () => {
    const order = await opened();
    expect(await provider.findPayment(order)).toEqual({ state: 'open' });
    const { paymentId } = stripe.pay(order.id);
    const paid = { state: 'paid', paymentId, amountMinor: 1300n, currency: 'USD' };
    expect(await provider.findPayment(order)).toMatchObject(paid);
    // Too late to close it.
    expect(await provider.closeCheckout(order)).toMatchObject(paid);
  });

  it('is ended once closed, however often it is closed', async () => {
    const order = await opened();
    expect(await provider.closeCheckout(order)).toEqual({ state: 'ended' });
    expect(await provider.closeCheckout(order)).toEqual({ state: 'ended' });
    expect(await provider.findPayment(order)).toEqual({ state: 'ended' });
  });

  it('without a checkout depends on the clock alone, and Stripe is not asked', async () => {
    const alone = providerAt('http://127.0.0.1:9');
    const order = newOrder();
    expect(await alone.findPayment(order)).toEqual({ state: 'open' });
    clock.advance(60 * MINUTE_MS + 1);
    expect(await alone.findPayment(order)).toEqual({ state: 'ended' });
    expect(await alone.closeCheckout(order)).toEqual({ state: 'ended' });
  });
});

describe('a refund', () => {
  it('is made once, also if requested twice at once and after a lost answer', async () => {
    const order = refundOrder();
    stripe.lostAnswers = 1;
    await expect(provider.refund(order)).rejects.toThrow();
    const [one, two] = await Promise.all([provider.refund(order), provider.refund(order)]);
    expect(one).toMatchObject({ state: 'succeeded' });
    expect(two).toEqual(one);
    expect(refundsOf(order)).toBe(1);
  });

  it('with an unknown outcome is found by its mark if its key is forgotten', async () => {
    const order = refundOrder();
    const first = await provider.refund(order);
    // Another refund of the same payment is not mistaken for it.
    await provider.refund(refundOrder({ paymentId: order.paymentId }));
    stripe.forgetKeys();
    expect(await provider.refund({ ...order, isRepeat: true })).toEqual(first);
    expect(refundsOf(order)).toBe(2);
    const never = refundOrder({ paymentId: order.paymentId, isRepeat: true });
    expect(await provider.refund(never)).toMatchObject({ state: 'succeeded' });
    expect(refundsOf(order)).toBe(3);
  });

  it.each([
    ['pending', { state: 'pending' }],
    ['failed', { state: 'failed', failure: 'expired_or_canceled_card' }],
  ] as const)('that is %s at Stripe has that state here', async (status, answer) => {
    stripe.refundStatus = status;
    try {
      expect(await provider.refund(refundOrder())).toMatchObject(answer);
    } finally {
      stripe.refundStatus = 'succeeded';
    }
  });

  it('with the key of a different refund throws, and is not made', async () => {
    const order = refundOrder();
    await provider.refund(order);
    // The same key with another amount is a fault on our side, which a retry may fix.
    await expect(provider.refund({ ...order, amountMinor: 261n })).rejects.toThrow('other parameters');
    expect(refundsOf(order)).toBe(1);
  });
});

describe('an event', () => {
  const SECRET = StripeStandIn.webhookSecret;
  const body = (event: object) => Buffer.from(JSON.stringify(event));
  const seconds = () => Math.floor(clock.nowMs() / 1000);
  const v1 = (payload: Buffer, at: number, secret = SECRET) =>
    createHmac('sha256', secret).update(`${at}.${payload.toString()}`).digest('hex');

  function signed(payload: Buffer, of: { at?: number; secret?: string } = {}): string {
    const { at = seconds(), secret = SECRET } = of;
    return `t=${at},v1=${v1(payload, at, secret)}`;
  }

  function verify(payload: Buffer, signature: string) {
    return provider.verifyEvent(payload, { 'stripe-signature': signature });
  }

  const anEvent = () => body(stripe.event('invoice.paid', { id: 'in_1' }));
  const notSigned = { code: 'invalid_request', message: expect.stringContaining('not signed') };

  it('is accepted with the signature of these bytes, also beside one by another secret', () => {
    const payload = anEvent();
    expect(verify(payload, signed(payload))).toMatchObject({ fact: { kind: 'nothing' } });
    const other = v1(payload, seconds(), 'whsec_before');
    const both = `t=${seconds()},v1=${other},v1=${v1(payload, seconds())}`;
    expect(verify(payload, both)).toMatchObject({ provider: 'stripe', type: 'invoice.paid' });
  });

  it.each([
    ['no signature', () => ''],
    ['another secret', (payload: Buffer) => signed(payload, { secret: 'whsec_other' })],
    ['other bytes', () => signed(anEvent())],
    ['the test scheme', (payload: Buffer) => signed(payload).replace('v1=', 'v0=')],
    ['no time', (payload: Buffer) => signed(payload).replace(/^t=\d+,/, '')],
    ['another time', (payload: Buffer) => signed(payload).replace(/^t=\d+/, `t=${seconds() - 1}`)],
    ['a time 301 s ago', (payload: Buffer) => signed(payload, { at: seconds() - 301 })],
  ])('with %s is refused', (_, sign) => {
    const payload = anEvent();
    const refused = () => verify(payload, sign(payload));
    expect(refused).toThrow(expect.objectContaining(notSigned));
  });

  it('that is signed in the future is refused beyond five minutes', () => {
    const payload = anEvent();
    const ahead = (by: number) => verify(payload, signed(payload, { at: seconds() + by }));
    expect(ahead(295)).toMatchObject({ type: 'invoice.paid' });
    expect(() => ahead(302)).toThrow('in the future');
  });

  it('that is signed but unreadable is refused, and its id named', () => {
    const broken = Buffer.from('{');
    expect(() => verify(broken, signed(broken))).toThrow('is not JSON');
    const payload = body(
      stripe.event('refund.updated', { id: 're_1', status: 'succeeded', currency: 'usd' }),
    );
    expect(() => verify(payload, signed(payload))).toThrow(
      expect.objectContaining({ param: 'data.object.amount' }),
    );
  });

  const session = {
    client_reference_id: 'order',
    payment_status: 'paid',
    payment_intent: { id: 'pi_1' },
    amount_total: 1300,
    currency: 'usd',
  };
  const refund = { id: 're_1', amount: 260, currency: 'usd', status: 'failed', metadata: null };
  const dispute = { id: 'dp_1', amount: 1300, currency: 'usd', payment_intent: 'pi_1', status: 'lost' };
  const money = { amountMinor: 1300n, currency: 'USD' };

  it.each([
    ['checkout.session.completed', session, { kind: 'paid', orderId: 'order', paymentId: 'pi_1', ...money }],
    ['checkout.session.async_payment_succeeded', session, { kind: 'paid' }],
    ['checkout.session.completed', { ...session, payment_status: 'unpaid' }, { kind: 'nothing' }],
    ['checkout.session.completed', { ...session, payment_intent: null }, { kind: 'nothing' }],
    ['checkout.session.expired', session, { kind: 'ended', orderId: 'order', as: 'expired' }],
    ['checkout.session.async_payment_failed', session, { kind: 'ended' }],
    ['refund.updated', refund, { kind: 'refund', refundId: null, state: 'failed', failure: 'failed' }],
    ['refund.updated', { ...refund, status: 'pending' }, { kind: 'nothing' }],
    [
      'refund.created',
      { ...refund, status: 'succeeded', metadata: { tollgate_refund: 'ours' } },
      { kind: 'refund', refundId: 'ours', state: 'succeeded', failure: null, amountMinor: 260n },
    ],
    ['charge.dispute.closed', dispute, { kind: 'dispute', paymentId: 'pi_1', state: 'lost', ...money }],
    ['charge.dispute.created', { ...dispute, status: 'needs_response' }, { kind: 'dispute', state: 'open' }],
    ['charge.dispute.created', { ...dispute, status: 'warning_needs_response' }, { kind: 'nothing' }],
  ])('%s says what happened', (type, object, fact) => {
    const payload = body(stripe.event(type, object));
    expect(verify(payload, signed(payload))).toMatchObject({ type, fact });
  });
});
