import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApprovalService } from '#approvals/approval.service.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { findTopupRefund, type TopupRefund } from '#ledger/postings/topup-refund.js';
import { parseAmount } from '#money/amount.js';
import { systemClock } from '#platform/clock.js';
import { newId } from '#platform/ids.js';
import { until } from '../../test/support/eventually.js';
import { buy } from '../../test/support/ledger-person.js';
import {
  asking,
  balanceOf,
  openPayments,
  paidOrder,
  type PaymentsFixture,
  receive,
  roundNow,
} from '../../test/support/payments.js';
import { onOneDay } from '../../test/support/utc-day.js';
import { BankProvider } from './bank.provider.js';
import { RefundRunner } from './refund.runner.js';
import { TopupRefundService } from './topup-refund.service.js';

let payments: PaymentsFixture;
let refunds: TopupRefundService;
/** A service that is killed after storing the refund, and before asking Stripe. */
let killed: TopupRefundService;

beforeAll(async () => {
  payments = await openPayments();
  const { source, approvals, runner, ledger } = payments;
  refunds = new TopupRefundService({ source, approvals, runner });
  killed = new TopupRefundService({
    source,
    approvals: new ApprovalService(source),
    runner: { run: () => Promise.reject(new Error('killed')) },
  });
  await recordLimit(ledger.billing, 'topup-refund', parseAmount('100'));
});
afterAll(() => payments.close());

/** How often finance was alerted to refunds that came back. */
async function alerts(): Promise<number> {
  const { values } = await payments.registry.getSingleMetric('tollgate_payment_alerts_total')!.get();
  return values.find(({ labels }) => labels['why'] === 'refund_failed')?.value ?? 0;
}

async function paidTopup(
  credits = '10',
): Promise<{ accountId: string; topupId: string; paymentId: string; orderId: string }> {
  const { accountId } = await payments.ledger.account({ credits: '0' });
  const { topupId, paymentId, order } = await paidOrder(payments, accountId, credits);
  return { accountId, topupId, paymentId, orderId: order.id };
}

function wanted(topupId: string, credits: string | null = null) {
  return { topupId, credits: credits === null ? null : parseAmount(credits), reason: 'not needed' };
}

/** Stripe's refunds of a payment. */
function atStripe(paymentId: string): number[] {
  return [...payments.stripe.refunds.values()]
    .filter((each) => each.payment_intent === paymentId)
    .map(({ amount }) => amount);
}

async function refundsOf(topupId: string): Promise<TopupRefund[]> {
  const { billing } = payments.ledger;
  const { rows } = await billing.query<{ id: string }>(
    'SELECT id FROM topup_refunds WHERE topup_id = $1 ORDER BY id',
    [topupId],
  );
  const found = await Promise.all(rows.map(({ id }) => findTopupRefund(billing, id)));
  return found.filter((each) => each !== null);
}

describe('a refund of a top-up', () => {
  it('refunds the payment for unused credits once, however often and concurrently it is requested', async () => {
    const { accountId, topupId, paymentId } = await paidTopup();
    const request = asking(await payments.finance());
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => refunds.refund(wanted(topupId, '4'), request)),
    );
    answers.push(await refunds.refund(wanted(topupId, '4'), request));
    expect(new Set(answers.map(({ done }) => done?.id)).size).toBe(1);
    expect(await refundsOf(topupId)).toMatchObject([{ state: 'succeeded', paidMinor: 520n }]);
    expect(atStripe(paymentId)).toEqual([520]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('6');
  });

  it('by two people at once never refunds more than is unused', async () => {
    const { accountId, topupId, paymentId } = await paidTopup();
    const ends = await Promise.allSettled(
      [await payments.finance(), await payments.finance()].map((actor) =>
        refunds.refund(wanted(topupId, '6'), asking(actor)),
      ),
    );
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(atStripe(paymentId)).toEqual([780]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('4');
  });

  it('with another amount under the same request id is refused', async () => {
    const { topupId } = await paidTopup();
    const request = asking(await payments.finance());
    await refunds.refund(wanted(topupId, '4'), request);
    await expect(refunds.refund(wanted(topupId, '5'), request)).rejects.toMatchObject({
      code: 'conflict',
      param: 'requestId',
    });
  });

  it('is refused to people with an interest in it, and for an unknown top-up', async () => {
    const actor = await payments.finance();
    const topupId = await buy(payments.ledger, { accountId: actor.accountId, keyId: '' }, '10');
    await expect(refunds.refund(wanted(topupId), asking(actor))).rejects.toMatchObject({
      code: 'second_person_required',
    });
    await expect(refunds.refund(wanted('none'), asking(actor))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that Stripe refuses returns the credits', async () => {
    const { accountId, topupId } = await paidTopup();
    payments.stripe.refundStatus = 'failed';
    try {
      const { done } = await refunds.refund(wanted(topupId), asking(await payments.finance()));
      expect(done).toMatchObject({ state: 'failed', failure: 'expired_or_canceled_card' });
    } finally {
      payments.stripe.refundStatus = 'succeeded';
    }
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });
});

describe('above the limit of one person', () => {
  it('a refund waits for another person, and Stripe is asked once they agree', async () => {
    const { accountId, topupId, paymentId } = await paidTopup('101');
    const [asks, agrees] = [await payments.finance(), await payments.finance()];
    const request = asking(asks);
    const { approvalId } = await refunds.refund(wanted(topupId), request);
    expect((await refunds.refund(wanted(topupId), request)).approvalId).toBe(approvalId);
    expect(await refundsOf(topupId)).toEqual([]);
    const decision = { approvalId: approvalId as string, note: null, requestId: newId() };
    await expect(payments.approvals.approve({ ...decision, actor: asks })).rejects.toMatchObject({
      code: 'second_person_required',
    });
    await Promise.all([
      payments.approvals.approve({ ...decision, actor: agrees }),
      payments.approvals.approve({ ...decision, actor: agrees }),
    ]);
    await until('the refund', async () => (await refundsOf(topupId))[0]?.state === 'succeeded');
    expect(atStripe(paymentId)).toEqual([13_130]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    expect(await refunds.refund(wanted(topupId), request)).toMatchObject({ done: { state: 'succeeded' } });
  });

  it('a rejected refund moves nothing', async () => {
    const { accountId, topupId } = await paidTopup('101');
    const { approvalId } = await refunds.refund(wanted(topupId), asking(await payments.finance()));
    const decision = { approvalId: approvalId as string, note: 'no', requestId: newId() };
    await payments.approvals.reject({ ...decision, actor: await payments.finance() });
    await expect(
      payments.approvals.approve({ ...decision, actor: await payments.finance() }),
    ).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await refundsOf(topupId)).toEqual([]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('101');
  });

  it('are also two refunds that stay below it separately, requested at once', () =>
    onOneDay(async () => {
      const actor = await payments.finance();
      const topups = [await paidTopup('60'), await paidTopup('60')];
      const answers = await Promise.all(
        topups.map(({ topupId }) => refunds.refund(wanted(topupId), asking(actor))),
      );
      expect(answers.filter(({ done }) => done !== null)).toHaveLength(1);
      expect(answers.filter(({ approvalId }) => approvalId !== null)).toHaveLength(1);
    }));
});

describe('an interrupted refund', () => {
  it('that Stripe was not asked for is requested by the next round, once although several try', async () => {
    const { accountId, topupId, paymentId } = await paidTopup();
    await expect(killed.refund(wanted(topupId), asking(await payments.finance()))).rejects.toThrow('killed');
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    expect(atStripe(paymentId)).toEqual([]);
    await Promise.all([roundNow(payments), roundNow(payments)]);
    expect(await refundsOf(topupId)).toMatchObject([{ state: 'succeeded' }]);
    expect(atStripe(paymentId)).toEqual([1_300]);
  });

  it('that Stripe made unnoticed is found there and not repeated', async () => {
    const { topupId, paymentId } = await paidTopup();
    payments.stripe.lostAnswers = 1;
    const { done } = await refunds.refund(wanted(topupId), asking(await payments.finance()));
    expect(done).toMatchObject({ state: 'pending' });
    expect(atStripe(paymentId)).toEqual([1_300]);
    await roundNow(payments);
    expect(await refundsOf(topupId)).toMatchObject([{ state: 'succeeded' }]);
    expect(atStripe(paymentId)).toEqual([1_300]);
  });

  it('that another process is making at this moment is left to it', async () => {
    const { topupId, paymentId } = await paidTopup();
    await expect(killed.refund(wanted(topupId), asking(await payments.finance()))).rejects.toThrow('killed');
    const [{ id }] = (await refundsOf(topupId)) as [TopupRefund];
    await Promise.all(Array.from({ length: 4 }, () => payments.runner.run(id)));
    expect(await refundsOf(topupId)).toMatchObject([{ state: 'succeeded' }]);
    expect(atStripe(paymentId)).toEqual([1_300]);
    expect(await payments.runner.run(id)).toMatchObject({ state: 'succeeded' });
  });

  it("ends once with Stripe's answer and events, in any order", async () => {
    const { accountId, topupId, orderId } = await paidTopup();
    payments.stripe.refundStatus = 'pending';
    const { done } = await refunds
      .refund(wanted(topupId, '4'), asking(await payments.finance()))
      .finally(() => (payments.stripe.refundStatus = 'succeeded'));
    expect(done).toMatchObject({ state: 'pending' });
    const made = payments.stripe.refunds.get(done?.providerRefundId as string)!;
    made.status = 'succeeded';
    const deliver = (type: string) => receive(payments, payments.stripe.event(type, { ...made }));
    await Promise.all([deliver('refund.created'), deliver('refund.updated'), roundNow(payments)]);
    expect(await refundsOf(topupId)).toMatchObject([{ state: 'succeeded' }]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('6');
    const { refunds: shown } = await payments.orders.reversalsOf(
      await payments.orders.show(accountId, orderId),
    );
    expect(shown).toMatchObject([{ credits: parseAmount('4'), payMinor: 520n, state: 'succeeded' }]);
  });

  it('whose money came back to us after its end is in suspense, and its credits stay gone', async () => {
    const { accountId, topupId, paymentId } = await paidTopup();
    await refunds.refund(wanted(topupId), asking(await payments.finance()));
    const made = [...payments.stripe.refunds.values()].find((each) => each.payment_intent === paymentId)!;
    const failed = { ...made, status: 'failed', failure_reason: 'lost_or_stolen_card' };
    const deliver = () => receive(payments, payments.stripe.event('refund.failed', failed));
    const before = await alerts();
    await Promise.all([deliver(), deliver()]);
    expect((await alerts()) - before).toBe(1);
    const { rows } = await payments.ledger.billing.query(
      'SELECT why, amount_minor AS "amountMinor" FROM suspense_items WHERE reference = $1',
      [made.id],
    );
    expect(rows).toEqual([{ why: 'refund_failed', amountMinor: 1_300n }]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
  });
});

describe('a refund by bank transfer', () => {
  async function pendingAtBank(): Promise<{ accountId: string; refund: TopupRefund }> {
    const { accountId } = await payments.ledger.account({ credits: '0' });
    const topupId = await buy(payments.ledger, { accountId, keyId: '' }, '10');
    const { done } = await refunds.refund(wanted(topupId), asking(await payments.finance()));
    expect(done).toMatchObject({ state: 'pending', provider: 'manual' });
    return { accountId, refund: done as TopupRefund };
  }

  const confirmed = (refundId: string, outcome: 'succeeded' | 'failed') => ({
    refundId,
    outcome,
    reference: 'bank-1',
    note: 'as the bank says',
  });

  it('ends once as someone says, and as nothing else afterwards', async () => {
    const { accountId, refund } = await pendingAtBank();
    const say = async (outcome: 'succeeded' | 'failed') =>
      refunds.confirmRefund(confirmed(refund.id, outcome), asking(await payments.finance()));
    const ends = await Promise.allSettled([say('succeeded'), say('succeeded')]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    await expect(say('failed')).rejects.toMatchObject({ code: 'conflict' });
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
  });

  it('that the bank returned restores the credits', async () => {
    const { accountId, refund } = await pendingAtBank();
    await refunds.confirmRefund(confirmed(refund.id, 'failed'), asking(await payments.finance()));
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });

  it('keeps its reference when it is confirmed while the bank is asked again', async () => {
    const { refund } = await pendingAtBank();
    const { config, ledger } = payments;
    const actor = await payments.finance();
    class SlowBank extends BankProvider {
      override async refund() {
        await refunds.confirmRefund(confirmed(refund.id, 'succeeded'), asking(actor));
        return super.refund();
      }
    }
    const providers = new Map([['manual' as const, new SlowBank(systemClock)]]);
    const notices = { broughtBack: () => undefined };
    const runner = new RefundRunner({ pool: ledger.billing, config, log: ledger.log, providers, notices });
    await ledger.owner.query('UPDATE topup_refunds SET next_try_at = now() WHERE id = $1', [refund.id]);
    expect(await runner.run(refund.id)).toMatchObject({ state: 'succeeded', providerRefundId: 'bank-1' });
  });

  it('is not confirmed by its recipient, and one through Stripe by nobody', async () => {
    const { accountId, refund } = await pendingAtBank();
    const owner = { ...(await payments.finance()), accountId };
    await payments.ledger.owner.query('UPDATE users SET account_id = $2 WHERE id = $1', [
      owner.userId,
      accountId,
    ]);
    await expect(
      refunds.confirmRefund(confirmed(refund.id, 'succeeded'), asking(owner)),
    ).rejects.toMatchObject({ code: 'second_person_required' });
    const { topupId } = await paidTopup();
    const { done } = await refunds.refund(wanted(topupId), asking(await payments.finance()));
    await expect(
      refunds.confirmRefund(confirmed(done?.id as string, 'failed'), asking(await payments.finance())),
    ).rejects.toMatchObject({ code: 'conflict' });
    await expect(
      refunds.confirmRefund(confirmed('none', 'failed'), asking(await payments.finance())),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});
