import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAmount } from '#money/amount.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import type { PayableOrder } from './payment.provider.js';
import { SandboxProvider } from './sandbox.provider.js';

let ledger: LedgerFixture;
let clock: ManualClock;
let provider: SandboxProvider;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  await Promise.all(Array.from({ length: 8 }, () => ledger.billing.query('SELECT 1')));
  clock = new ManualClock(Date.now());
  provider = providerWith('a secret of the tests');
});
afterAll(() => ledger.close());

function providerWith(secret: string): SandboxProvider {
  return new SandboxProvider(ledger.billing, { secret, clock });
}

function newOrder(): PayableOrder {
  return {
    id: newId(),
    credits: parseAmount('10'),
    paidMinor: 1300n,
    currency: 'USD',
    providerReference: null,
    createdAt: new Date(clock.nowMs()),
    expiresAt: new Date(clock.nowMs() + 60_000),
  };
}

describe('a simulated payment', () => {
  it('is reported by a signed event, and found at the provider', async () => {
    const order = newOrder();
    expect(await provider.createCheckout(order)).toEqual({
      reference: order.id,
      url: `/sandbox-pay/${order.id}`,
    });
    expect(await provider.findPayment(order)).toEqual({ state: 'open' });
    const { rawBody, headers } = await provider.pay(order);
    const event = provider.verifyEvent(rawBody, headers);
    const paid = { amountMinor: 1300n, currency: 'USD' };
    expect(event).toMatchObject({ provider: 'sandbox', fact: { kind: 'paid', orderId: order.id, ...paid } });
    expect(await provider.findPayment(order)).toMatchObject({ state: 'paid', ...paid });
    // Too late to close it.
    expect(await provider.closeCheckout(order)).toMatchObject({ state: 'paid' });
  });

  it('exists once per order, however often and concurrently the button is pressed', async () => {
    const order = newOrder();
    const presses = Array.from({ length: 5 }, () =>
      provider.pay(order).catch((error: { code: string }) => error.code),
    );
    const events = (await Promise.all(presses)).filter((each) => typeof each !== 'string');
    expect(events.length).toBeGreaterThan(0);
    events.push(await provider.pay(order));
    const ids = events.map(({ rawBody, headers }) => provider.verifyEvent(rawBody, headers).eventId);
    expect(new Set(ids).size).toBe(1);
    const { rows } = await ledger.owner.query('SELECT FROM sandbox_payments WHERE order_id = $1', [order.id]);
    expect(rows).toHaveLength(1);
  });

  it('that the customer cancels ends the order, and so does its expiry', async () => {
    const order = newOrder();
    const { rawBody, headers } = provider.cancel(order);
    expect(provider.verifyEvent(rawBody, headers).fact).toEqual({
      kind: 'ended',
      orderId: order.id,
      as: 'cancelled',
    });
    expect(await provider.closeCheckout(order)).toEqual({ state: 'ended' });
    const late = newOrder();
    clock.advance(60_001);
    expect(await provider.findPayment(late)).toEqual({ state: 'ended' });
  });
});

describe('a simulated refund', () => {
  it('is made once, however often it is requested', async () => {
    const refund = { refundId: newId(), paymentId: 'p', amountMinor: 260n, currency: 'USD', isRepeat: false };
    const answers = await Promise.all([1, 2, 3].map(() => provider.refund(refund)));
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(answers[0]).toMatchObject({ state: 'succeeded' });
    const { rows } = await ledger.owner.query('SELECT FROM sandbox_refunds WHERE refund_id = $1', [
      refund.refundId,
    ]);
    expect(rows).toHaveLength(1);
  });
});

describe('an event of the sandbox', () => {
  const invalid = expect.objectContaining({ code: 'invalid_request' });

  it('is accepted only with the signature of these bytes by this secret', async () => {
    const { rawBody, headers } = await provider.pay(newOrder());
    const [name, signature] = Object.entries(headers)[0]!;
    const forged = Buffer.from(rawBody.toString().replace('1300', '9300'));
    expect(() => provider.verifyEvent(forged, headers)).toThrow(invalid);
    expect(() => provider.verifyEvent(rawBody, {})).toThrow(invalid);
    expect(() => provider.verifyEvent(rawBody, { [name]: signature.slice(1) })).toThrow(invalid);
    expect(() => providerWith('another secret').verifyEvent(rawBody, headers)).toThrow(invalid);
  });

  it('that is signed but makes no sense is refused', () => {
    // No order has such an ID, so the sandbox would not have sent it.
    const { rawBody, headers } = provider.cancel({ ...newOrder(), id: '' });
    expect(() => provider.verifyEvent(rawBody, headers)).toThrow("does not have the sandbox's format");
  });
});
