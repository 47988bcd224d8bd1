import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { findTopupRefund } from '#ledger/postings/topup-refund.js';
import { reverseWriteOff, writeOff } from '#ledger/postings/write-off.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { beginRefund } from '../../test/support/ledger-person.js';
import {
  balanceOf,
  openPayments,
  orderOf,
  paidOrder,
  type PaymentsFixture,
  receive,
  roundNow,
} from '../../test/support/payments.js';
import { ticketOf } from '../../test/support/tickets.js';
import { recordTopup } from '../../test/support/topups.js';
import type { PaymentEvent } from './payment.provider.js';

let payments: PaymentsFixture;

beforeAll(async () => {
  payments = await openPayments();
});
afterAll(() => payments.close());

/** An event's state, and its number of retries. */
async function outcomeOf(event: object): Promise<{ state: string; attempts: number } | undefined> {
  const { rows } = await payments.ledger.billing.query<{ state: string; attempts: number }>(
    'SELECT state, attempts FROM payment_events WHERE event_id = $1',
    [(event as { id: string }).id],
  );
  return rows[0];
}

async function suspenseOf(reference: string): Promise<{ why: string; amountMinor: bigint }[]> {
  const { rows } = await payments.ledger.billing.query<{ why: string; amountMinor: bigint }>(
    'SELECT why, amount_minor AS "amountMinor" FROM suspense_items WHERE reference = $1 ORDER BY id',
    [reference],
  );
  return rows;
}

async function disputesOf(topupId: string): Promise<{ state: string }[]> {
  const { billing } = payments.ledger;
  return (await billing.query('SELECT state FROM disputes WHERE topup_id = $1', [topupId])).rows;
}

async function announced(accountId: string): Promise<number> {
  const { rows } = await payments.ledger.billing.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM outbox WHERE payload ->> 'accountId' = $1`,
    [accountId],
  );
  return rows[0]!.count;
}

function stateOf(accountId: string, orderId: string): Promise<{ state: string }> {
  return payments.orders.show(accountId, orderId);
}

describe('a payment', () => {
  it('is credited and announced once, however often and concurrently its event is delivered', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event } = payments.stripe.pay(id);
    await Promise.all(Array.from({ length: 5 }, () => receive(payments, event)));
    await receive(payments, event);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    expect(await announced(accountId)).toBe(1);
    expect(await outcomeOf(event)).toEqual({ state: 'applied', attempts: 1 });
  });

  it('with two events at once is credited once', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event, paymentId } = payments.stripe.pay(id);
    const { object } = (event as { data: { object: object } }).data;
    const later = payments.stripe.event('checkout.session.async_payment_succeeded', object);
    await Promise.all([receive(payments, event), receive(payments, later)]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    const outcomes = await Promise.all([outcomeOf(event), outcomeOf(later)]);
    expect(outcomes.map((each) => each?.state).sort()).toEqual(['applied', 'ignored']);
    expect(await suspenseOf(paymentId)).toEqual([]);
  });

  it('is credited even to a cancelled or expired order', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event } = payments.stripe.pay(id);
    const session = payments.stripe.sessionOf(id);
    const expired = payments.stripe.event('checkout.session.expired', { ...session });
    await receive(payments, expired);
    expect(await stateOf(accountId, id)).toMatchObject({ state: 'expired' });
    await receive(payments, event);
    expect(await stateOf(accountId, id)).toMatchObject({ state: 'paid' });
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });

  it('stays paid when the end of its checkout is reported afterwards', async () => {
    const accountId = await payments.newAccount();
    const { order } = await paidOrder(payments, accountId);
    const expired = payments.stripe.event('checkout.session.expired', payments.stripe.sessionOf(order.id));
    await receive(payments, expired);
    expect(await stateOf(accountId, order.id)).toMatchObject({ state: 'paid' });
    expect(await outcomeOf(expired)).toMatchObject({ state: 'ignored' });
  });

  it.each([
    ['another amount', { amount_total: 1_299 }, 'other_amount', 1_299n],
    ['another currency', { currency: 'eur' }, 'other_currency', 1_300n],
    ['an unknown order', { client_reference_id: 'nobody' }, 'no_order', 1_300n],
  ])('with %s goes to suspense once and leaves the order open', async (_, changed, why, amountMinor) => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event, paymentId } = payments.stripe.pay(id, changed);
    const again = { ...event, id: `evt_${newId()}` };
    await Promise.all([receive(payments, event), receive(payments, again)]);
    expect(await suspenseOf(paymentId)).toEqual([{ why, amountMinor }]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    expect(await stateOf(accountId, id)).toMatchObject({ state: 'open' });
  });

  it('of an order that another one pays at the same moment goes to suspense', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const paid = [payments.stripe.pay(id), payments.stripe.pay(id)];
    await Promise.all(paid.map(({ event }) => receive(payments, event)));
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    const items = await Promise.all(paid.map(({ paymentId }) => suspenseOf(paymentId)));
    expect(items.flat()).toEqual([{ why: 'paid_twice', amountMinor: 1_300n }]);
  });

  it('of an account in deletion goes to suspense', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    await payments.ledger.owner.query(`UPDATE accounts SET closing_at = now() WHERE id = $1`, [accountId]);
    const { event, paymentId } = payments.stripe.pay(id);
    await receive(payments, event);
    expect(await suspenseOf(paymentId)).toEqual([{ why: 'no_order', amountMinor: 1_300n }]);
  });
});

describe('an event', () => {
  it('changes nothing if Stripe did not sign it, or its provider is not configured', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event } = payments.stripe.pay(id);
    const { payload, headers } = payments.stripe.signed(event, 'whsec_of_somebody_else');
    const body = Buffer.from(payload);
    await expect(payments.inbox.receive('stripe', body, headers)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(payments.inbox.receive('sandbox', body, headers)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(payments.inbox.receive('manual', body, headers)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await outcomeOf(event)).toBeUndefined();
    expect(await stateOf(accountId, id)).toMatchObject({ state: 'open' });
  });

  it('whose transaction fails is not remembered, so that it is applied when it arrives again', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event } = payments.stripe.pay(id);
    const { owner } = payments.ledger;
    await owner.query('ALTER TABLE outbox RENAME TO outbox_away');
    try {
      await expect(receive(payments, event)).rejects.toThrow('outbox');
    } finally {
      await owner.query('ALTER TABLE outbox_away RENAME TO outbox');
    }
    expect(await outcomeOf(event)).toBeUndefined();
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    await receive(payments, event);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });

  it('that concerns nobody is stored and ignored', async () => {
    const event = payments.stripe.event('customer.created', { id: 'cus_1', object: 'customer' });
    await receive(payments, event);
    expect(await outcomeOf(event)).toMatchObject({ state: 'ignored' });
  });
});

describe('a dispute', () => {
  const AMOUNT = 1_300;

  const open = (paymentId: string) =>
    payments.stripe.dispute(`dp_${newId()}`, paymentId, { amount: AMOUNT, status: 'needs_response' });

  it('of an unknown payment waits, however often it is retried', async () => {
    const event = open(`pi_${newId()}`);
    await receive(payments, event);
    for (const attempts of [1, 2, 3]) {
      expect(await outcomeOf(event)).toEqual({ state: 'waiting', attempts });
      await roundNow(payments);
    }
  });

  it('that precedes its payment is applied after it, by one of several that try', async () => {
    const accountId = await payments.newAccount();
    const { id } = await orderOf(payments, accountId);
    const { event, paymentId } = payments.stripe.pay(id);
    const disputed = open(paymentId);
    await receive(payments, disputed);
    await receive(payments, event);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    await Promise.all([roundNow(payments), roundNow(payments)]);
    expect(await outcomeOf(disputed)).toEqual({ state: 'applied', attempts: 2 });
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
  });

  it('takes the credits once and returns them when it is won, whatever the order of events', async () => {
    for (const statuses of [
      ['needs_response', 'won'],
      ['won', 'needs_response'],
      ['needs_response', 'needs_response', 'won', 'needs_response', 'lost'],
      ['needs_response', 'lost', 'lost', 'won'],
      ['lost', 'won', 'won'],
    ]) {
      const accountId = await payments.newAccount();
      const { paymentId, topupId } = await paidOrder(payments, accountId);
      const disputeId = `dp_${newId()}`;
      for (const status of statuses)
        await receive(payments, payments.stripe.dispute(disputeId, paymentId, { amount: AMOUNT, status }));
      expect(await balanceOf(payments.ledger, accountId)).toBe('10');
      expect(await disputesOf(topupId)).toEqual([{ state: 'won' }]);
    }
  });

  it('that is lost keeps the credits, and the customer sees what was taken', async () => {
    const accountId = await payments.newAccount();
    const { order, paymentId } = await paidOrder(payments, accountId);
    const disputeId = `dp_${newId()}`;
    const deliver = (status: string) =>
      receive(payments, payments.stripe.dispute(disputeId, paymentId, { amount: AMOUNT, status }));
    await Promise.all([deliver('needs_response'), deliver('under_review'), deliver('lost')]);
    await deliver('needs_response');
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    expect(await payments.orders.reversalsOf(order)).toMatchObject({
      refunds: [],
      disputes: [{ credits: 10_000_000_000n, payMinor: 1_300n, state: 'lost' }],
    });
  });

  it('of a refunded payment takes nothing, and the customer does not see it', async () => {
    const accountId = await payments.newAccount();
    const { order, paymentId, topupId } = await paidOrder(payments, accountId);
    await beginRefund(payments.ledger, topupId, null);
    await receive(payments, open(paymentId));
    expect(await disputesOf(topupId)).toEqual([{ state: 'open' }]);
    const { refunds, disputes } = await payments.orders.reversalsOf(order);
    expect(refunds).toHaveLength(1);
    expect(disputes).toEqual([]);
  });

  it('that is won after its debt was written off asks for the reversal of that, since the customer has it twice', async () => {
    const accountId = await payments.newAccount();
    const { paymentId } = await paidOrder(payments, accountId);
    const dispute = { kind: 'dispute', disputeId: `dp_${newId()}`, paymentId } as const;
    const says = (state: 'lost' | 'won') => {
      const fact = { ...dispute, state, amountMinor: 1_300n, currency: 'USD' } as const;
      return payments.inbox.accept({ provider: 'stripe', eventId: newId(), type: 'test', fact });
    };
    const { ticketId } = await ticketOf(payments.ledger, accountId);
    const terms = { accountId, ticketId, note: 'x', requestedBy: 'user:1', approvedBy: 'user:2' };
    const spent = { ...terms, amount: -parseAmount('10'), reason: 'correction', requestId: newId() } as const;
    await inTransaction(payments.ledger.billing, (client) => adjust(client, spent));
    await says('lost');
    const { id } = await inTransaction(payments.ledger.billing, (client) =>
      writeOff(client, { ...terms, amount: null, requestId: newId() }),
    );
    const outcome = await says('won');
    expect(outcome).toMatchObject({ state: 'applied', alert: 'won_after_write_off' });
    expect(outcome?.detail).toContain(`by write-off ${id}: take back up to 10 credits`);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    const back = { ...terms, writeOffId: id, requestId: newId() };
    await inTransaction(payments.ledger.billing, (client) => reverseWriteOff(client, back));
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    expect((await says('won'))?.alert).toBeUndefined();
  });

  it('of an unpaid order shows nothing as taken', async () => {
    const order = await orderOf(payments, await payments.newAccount());
    expect(await payments.orders.reversalsOf(order)).toEqual({ refunds: [], disputes: [] });
  });
});

describe('what follows from a payment or a refund', () => {
  const DAY_MS = 24 * 3_600_000;
  const YESTERDAY = new Date(Date.now() - DAY_MS).toISOString();

  /** Paid by an account of last week, and learned of only now. */
  async function foundLate() {
    const accountId = await payments.newAccount();
    await payments.ledger.owner.query(
      `UPDATE accounts SET created_at = now() - interval '7 days' WHERE id = $1`,
      [accountId],
    );
    return paidOrder(payments, accountId);
  }

  const says = (fact: PaymentEvent['fact']) =>
    payments.inbox.accept({
      provider: 'stripe',
      eventId: newId(),
      type: 'test',
      fact,
      happenedAt: YESTERDAY,
    });

  /** Whether a posting is effective before the other. */
  async function isBefore(reference: string, other: string): Promise<boolean> {
    const { rows } = await payments.ledger.billing.query<{ before: boolean }>(
      `SELECT a.effective_at < date_trunc('milliseconds', b.effective_at) AS before FROM ledger_transactions a, ledger_transactions b
       WHERE a.reference = $1 AND b.reference = $2`,
      [reference, other],
    );
    return rows[0]!.before;
  }

  it('is not dated before it, whatever the clock of the provider says', async () => {
    const { paymentId, topupId } = await foundLate();
    const dispute = { kind: 'dispute', disputeId: `dp_${newId()}`, paymentId, currency: 'USD' } as const;
    const topup = `topup:stripe:${paymentId}`;
    await says({ ...dispute, state: 'lost', amountMinor: 650n });
    expect(await isBefore(`dispute:stripe:${dispute.disputeId}`, topup)).toBe(false);
    await says({ ...dispute, state: 'won', amountMinor: 650n });
    expect(
      await isBefore(`dispute-won:stripe:${dispute.disputeId}`, `dispute:stripe:${dispute.disputeId}`),
    ).toBe(false);
    const { id: refundId } = await beginRefund(payments.ledger, topupId, null);
    const refund = { kind: 'refund', refundId, providerRefundId: `re_${newId()}`, failure: null } as const;
    await says({ ...refund, state: 'succeeded', amountMinor: 1_300n, currency: 'USD' });
    expect(await isBefore(`topup-refunded:${refundId}`, `topup-refund:${refundId}`)).toBe(false);
  });

  it('is not dated before a payment in suspense', async () => {
    const { order } = await foundLate();
    const { event, paymentId } = payments.stripe.pay(order.id);
    await receive(payments, event);
    const disputeId = `dp_${newId()}`;
    const dispute = { kind: 'dispute', disputeId, paymentId, state: 'lost', currency: 'USD' } as const;
    await says({ ...dispute, amountMinor: 1_300n });
    const taken = `suspense:stripe:${disputeId}:payment_disputed`;
    expect(await isBefore(taken, `suspense:stripe:${paymentId}:paid_twice`)).toBe(false);
  });
});

describe("a refund made in Stripe's own dashboard", () => {
  const refund = (paymentId: string, status: string) => ({
    id: `re_${newId()}`,
    object: 'refund',
    amount: 300,
    currency: 'usd',
    payment_intent: paymentId,
    status,
    metadata: {},
  });

  it('appears in suspense once, as money that left, and does not change the balance', async () => {
    const accountId = await payments.newAccount();
    const { paymentId } = await paidOrder(payments, accountId);
    const made = refund(paymentId, 'succeeded');
    await Promise.all([
      receive(payments, payments.stripe.event('refund.created', made)),
      receive(payments, payments.stripe.event('refund.updated', made)),
    ]);
    expect(await suspenseOf(made.id)).toEqual([{ why: 'unknown_refund', amountMinor: -300n }]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });

  it('that fails afterwards is back in suspense, so that the books have what Stripe has', async () => {
    const { paymentId } = await paidOrder(payments, await payments.newAccount());
    const made = refund(paymentId, 'succeeded');
    const failed = { ...made, status: 'failed' };
    await receive(payments, payments.stripe.event('refund.created', made));
    await Promise.all([
      receive(payments, payments.stripe.event('refund.updated', failed)),
      receive(payments, payments.stripe.event('refund.failed', failed)),
    ]);
    expect(await suspenseOf(made.id)).toEqual([
      { why: 'unknown_refund', amountMinor: -300n },
      { why: 'refund_failed', amountMinor: 300n },
    ]);
  });

  it('that has failed did not leave, whichever event arrives first, or if both do at once', async () => {
    const { paymentId } = await paidOrder(payments, await payments.newAccount());
    const made = refund(paymentId, 'succeeded');
    const failed = () =>
      receive(payments, payments.stripe.event('refund.failed', { ...made, status: 'failed' }));
    const succeeded = () => receive(payments, payments.stripe.event('refund.created', made));
    await failed();
    await Promise.all([succeeded(), succeeded(), failed()]);
    expect(await suspenseOf(made.id)).toEqual([]);
    const other = refund(paymentId, 'succeeded');
    await Promise.all([
      receive(payments, payments.stripe.event('refund.created', other)),
      receive(payments, payments.stripe.event('refund.failed', { ...other, status: 'failed' })),
    ]);
    const booked = await suspenseOf(other.id);
    expect(booked.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(0n);
  });

  it('is ignored while pending, or if it failed', async () => {
    const { paymentId } = await paidOrder(payments, await payments.newAccount());
    for (const status of ['pending', 'failed']) {
      const made = refund(paymentId, status);
      await receive(payments, payments.stripe.event('refund.updated', made));
      expect(await suspenseOf(made.id)).toEqual([]);
    }
  });

  it('with the ID of another provider’s refund does not end that one', async () => {
    const { billing } = payments.ledger;
    const { accountId } = await payments.ledger.account({ credits: '0' });
    const bought = priceCredits(parseAmount('10'), '1.3');
    const payment = {
      provider: 'manual' as const,
      paymentId: newId(),
      currency: 'USD',
      rate: '1.3' as const,
    };
    const { topupId } = await recordTopup(billing, { accountId, ...payment, ...bought });
    const { id: refundId } = await beginRefund(payments.ledger, topupId, null);
    const fact = {
      kind: 'refund',
      refundId,
      providerRefundId: `re_${newId()}`,
      state: 'succeeded',
      failure: null,
      amountMinor: 300n,
      currency: 'USD',
    } as const;
    const event: PaymentEvent = { provider: 'stripe', eventId: newId(), type: 'refund.updated', fact };
    expect(await payments.inbox.accept(event)).toMatchObject({ state: 'suspense', alert: 'unknown_refund' });
    expect(await payments.inbox.accept(event)).toBeNull();
    expect(await findTopupRefund(billing, refundId)).toMatchObject({ state: 'pending' });
  });
});
