import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '#identity/role.js';
import { inTransaction } from '#database/database.js';
import { beginTopupRefund, endTopupRefund, findTopupRefund } from '#ledger/postings/topup-refund.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { actionsOn } from '../../../test/support/audit.js';
import {
  asking,
  balanceOf,
  openPayments,
  paidOrder,
  type PaymentsFixture,
  receive,
  roundNow,
} from '../../../test/support/payments.js';
import { lineOfPayment } from '../../../test/support/reported-lines.js';
import { recordTopup } from '../../../test/support/topups.js';
import { LineBookings } from './line-booking.js';

let payments: PaymentsFixture;
let bookings: LineBookings;
let finance: Actor;
let paymentId: string;
let lineId: string;

beforeAll(async () => {
  payments = await openPayments();
  const { source, approvals, inbox, ledger } = payments;
  bookings = new LineBookings({ source, approvals, inbox });
  await recordLimit(ledger.billing, 'adjustment', parseAmount('20'));
});
beforeEach(async () => {
  finance = await payments.finance();
  paymentId = `pi_${newId()}`;
  lineId = await lineOfPayment(payments.ledger.owner, paymentId);
});
afterAll(() => payments.close());

const book = (by = finance) => bookings.book({ provider: 'stripe', lineId }, 'found it', asking(by));

async function suspended(): Promise<string[]> {
  const { rows } = await payments.ledger.billing.query<{ why: string }>(
    'SELECT why FROM suspense_items WHERE reference = $1',
    [paymentId],
  );
  return rows.map(({ why }) => why);
}

describe('a line that our books miss', () => {
  it('is booked once, as if the provider had reported it, and logged each time', async () => {
    const [first] = await Promise.all([book(), book()]);
    expect(first).toBeDefined();
    expect(await book()).toMatchObject({ state: 'ignored' });
    expect(await suspended()).toEqual(['no_order']);
    expect(await actionsOn(payments.ledger, `line:stripe:${lineId}`)).toEqual(
      Array.from({ length: 3 }, () => 'provider-line.booked'),
    );
  });

  it('cannot be booked by the person who paid', async () => {
    const paid = { accountId: finance.accountId, paymentId, provider: 'stripe', currency: 'USD' } as const;
    await recordTopup(payments.ledger.billing, { ...paid, ...priceCredits(parseAmount('10'), '1.3') });
    await expect(book()).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await suspended()).toEqual([]);
    expect(await actionsOn(payments.ledger, `line:stripe:${lineId}`)).toEqual([]);
  });

  it('is left alone if it is posted automatically', async () => {
    lineId = await lineOfPayment(payments.ledger.owner, paymentId, 'fee');
    await expect(book()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a refund of ours', () => {
  /** Of 5.20 that Stripe has not ended yet, and the line of a report that says so. */
  async function refunded() {
    const accountId = await payments.newAccount();
    const { topupId, paymentId: of } = await paidOrder(payments, accountId);
    const refund = { topupId, credits: nanos(parseAmount('4')), reason: 'asked', actor: 'user:1' };
    const { id: refundId } = await inTransaction(payments.ledger.billing, (client) =>
      beginTopupRefund(client, { ...refund, requestId: newId() }),
    );
    payments.stripe.refundStatus = 'pending';
    await payments.runner.run(refundId);
    const state = async () => {
      const found = await findTopupRefund(payments.ledger.billing, refundId);
      return `${found!.state} ${await balanceOf(payments.ledger, accountId)}`;
    };
    const { providerRefundId } = (await findTopupRefund(payments.ledger.billing, refundId))!;
    lineId = await lineOfPayment(payments.ledger.owner, of, 'refund', providerRefundId);
    paymentId = providerRefundId!;
    const end = (outcome: 'succeeded' | 'failed') =>
      inTransaction(payments.ledger.billing, (client) =>
        endTopupRefund(client, { refundId, providerRefundId, outcome }),
      );
    return { state, end };
  }

  it('ends once, by its line or by its event', async () => {
    const { state, end } = await refunded();
    await Promise.all([book(), end('succeeded')]);
    expect(await state()).toBe('succeeded 6');
    expect(await suspended()).toEqual([]);
  });

  it('that has ended stays as it is', async () => {
    for (const outcome of ['succeeded', 'failed'] as const) {
      const { state, end } = await refunded();
      await end(outcome);
      await book();
      expect(await state()).toBe(outcome === 'failed' ? 'failed 10' : 'succeeded 6');
      expect(await suspended()).toEqual([]);
    }
  });
});

describe('a refund of ours whose answer by Stripe was lost', () => {
  it('is not booked from its line as one that we did not ask for', async () => {
    const accountId = await payments.newAccount();
    const { topupId, paymentId: of } = await paidOrder(payments, accountId);
    const refund = { topupId, credits: nanos(parseAmount('4')), reason: 'asked', actor: 'user:1' };
    const { id } = await inTransaction(payments.ledger.billing, (client) =>
      beginTopupRefund(client, { ...refund, requestId: newId() }),
    );
    payments.stripe.refundStatus = 'succeeded';
    payments.stripe.lostAnswers = 1;
    await payments.runner.run(id);
    const made = [...payments.stripe.refunds.values()].find((each) => each.payment_intent === of)!;
    paymentId = made.id;
    lineId = await lineOfPayment(payments.ledger.owner, of, 'refund', made.id);
    await expect(book()).rejects.toMatchObject({ code: 'conflict', message: /pending refund of ours/ });
    const foreign = { ...made, id: `re_${newId()}`, amount: 100, metadata: null };
    await receive(payments, payments.stripe.event('refund.created', foreign));
    await roundNow(payments);
    await roundNow(payments);
    await book();
    expect(await balanceOf(payments.ledger, accountId)).toBe('6');
    expect(await suspended()).toEqual([]);
    paymentId = foreign.id;
    expect(await suspended()).toHaveLength(1);
  });
});

describe('a dispute that our books miss', () => {
  /** A report line about a dispute of the payment. */
  async function lineOfDispute(
    type: 'dispute' | 'dispute_reversal',
    disputeId: string,
    amountMinor = 1_300,
  ): Promise<string> {
    const made = await lineOfPayment(payments.ledger.owner, paymentId, type, disputeId);
    await payments.ledger.owner.query(
      `ALTER TABLE provider_report_lines DISABLE TRIGGER USER;
       UPDATE provider_report_lines SET amount_minor = ${amountMinor} WHERE line_id = '${made}';
       ALTER TABLE provider_report_lines ENABLE TRIGGER USER`,
    );
    return made;
  }

  /** A payment of 130.00 for 100 credits, disputed and lost. */
  async function lost() {
    const accountId = await payments.newAccount();
    const paid = await paidOrder(payments, accountId, '100');
    const disputeId = `dp_${newId()}`;
    await receive(
      payments,
      payments.stripe.dispute(disputeId, paid.paymentId, { amount: 13_000, status: 'lost' }),
    );
    paymentId = paid.paymentId;
    const balance = () => balanceOf(payments.ledger, accountId);
    expect(await balance()).toBe('0');
    return { disputeId, balance };
  }

  it('takes credits by one person within the limit, and once', async () => {
    const accountId = await payments.newAccount();
    ({ paymentId } = await paidOrder(payments, accountId));
    lineId = await lineOfDispute('dispute', `dp_${newId()}`);
    const answers = await Promise.all([book(), book()]);
    expect(answers.map(({ state }) => state).sort()).toEqual(['applied', 'ignored']);
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
  });

  it('gives more credits than the limit back only once another person agrees', async () => {
    const { disputeId, balance } = await lost();
    lineId = await lineOfDispute('dispute_reversal', disputeId);
    const { state, approvalId } = await book();
    expect(state).toBe('pending');
    expect(await book()).toMatchObject({ state: 'pending', approvalId });
    expect(await balance()).toBe('0');
    await expect(payments.approve(approvalId, finance)).rejects.toMatchObject({
      code: 'second_person_required',
    });
    const other = await payments.finance();
    await Promise.all([payments.approve(approvalId, other), payments.approve(approvalId, other)]);
    expect(await balance()).toBe('100');
    expect(await book()).toMatchObject({ state: 'ignored', approvalId: null });
  });

  it('that is known already moves nothing, and needs nobody else', async () => {
    const { disputeId, balance } = await lost();
    lineId = await lineOfDispute('dispute', disputeId);
    expect(await book()).toMatchObject({ approvalId: null });
    expect(await balance()).toBe('0');
  });

  it('gives nothing to the account of another payment', async () => {
    const { disputeId, balance } = await lost();
    const friend = await payments.newAccount();
    ({ paymentId } = await paidOrder(payments, friend));
    lineId = await lineOfDispute('dispute_reversal', disputeId);
    await expect(book()).rejects.toMatchObject({ code: 'conflict', message: /another payment/ });
    expect(await balanceOf(payments.ledger, friend)).toBe('10');
    expect(await balance()).toBe('0');
  });

  it('moves what the other person saw, or nothing', async () => {
    const accountId = await payments.newAccount();
    const paid = await paidOrder(payments, accountId, '100');
    ({ paymentId } = paid);
    const refund = { topupId: paid.topupId, credits: nanos(parseAmount('70')), reason: 'asked' };
    const { id: refundId } = await inTransaction(payments.ledger.billing, (client) =>
      beginTopupRefund(client, { ...refund, actor: 'user:1', requestId: newId() }),
    );
    lineId = await lineOfDispute('dispute', `dp_${newId()}`, 13_000);
    const { approvalId } = await book();
    const failed = { refundId, providerRefundId: null, outcome: 'failed', failure: 'closed' } as const;
    await inTransaction(payments.ledger.billing, (client) => endTopupRefund(client, failed));
    await expect(payments.approve(approvalId, await payments.finance())).rejects.toMatchObject({
      code: 'conflict',
      message: /100 credits instead of 30/,
    });
    expect(await balanceOf(payments.ledger, accountId)).toBe('100');
  });

  it('is booked after its payment', async () => {
    lineId = await lineOfDispute('dispute', `dp_${newId()}`);
    await expect(book()).rejects.toMatchObject({ code: 'conflict', message: /payment/ });
  });
});
