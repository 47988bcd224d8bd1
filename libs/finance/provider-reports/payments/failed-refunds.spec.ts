import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { nanos, parseAmount } from '#money/amount.js';
import { SuspenseService } from '#payments/suspense/suspense.service.js';
import { newId } from '#platform/ids.js';
import {
  asking,
  balanceOf,
  NOBODY_WAITS,
  openPayments,
  paidOrder,
  type PaymentsFixture,
  receive,
  roundNow,
} from '../../../../test/support/payments.js';
import { ticketOf } from '../../../../test/support/tickets.js';
import { inSnapshot } from '../../snapshot.js';
import { listMatches } from './payment-matching.js';

let payments: PaymentsFixture;
let suspense: SuspenseService;

beforeAll(async () => {
  payments = await openPayments();
  const { source, config, approvals } = payments;
  suspense = new SuspenseService({ source, config, approvals, relay: NOBODY_WAITS });
});
afterAll(() => payments.close());

/** A payment of 13.00 for 10 credits, with a pending refund of some, and a dispute to be delivered. */
async function refunding(credits: string, amount = 1_300) {
  const accountId = await payments.newAccount();
  const inviterId = await payments.newAccount();
  await payments.ledger.owner.query(
    'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
    [accountId, inviterId],
  );
  const { topupId, paymentId } = await paidOrder(payments, accountId);
  const fail = await begin(topupId, credits);
  return { accountId, inviterId, topupId, paymentId, fail, ...disputing(paymentId, amount) };
}

function disputing(paymentId: string, amount: number) {
  const disputeId = `dp_${newId()}`;
  const deliver = (status: string) =>
    receive(payments, payments.stripe.dispute(disputeId, paymentId, { amount, status }));
  return { disputeId, deliver };
}

function ask(topupId: string, credits: string) {
  const request = { topupId, reason: 'asked', actor: 'user:1', requestId: newId() };
  return inTransaction(payments.ledger.billing, (client) =>
    beginTopupRefund(client, { ...request, credits: nanos(parseAmount(credits)) }),
  );
}

/** @returns reports that it failed */
async function begin(topupId: string, credits: string): Promise<() => Promise<unknown>> {
  const { id: refundId, paidMinor: amountMinor } = await ask(topupId, credits);
  const ours = { kind: 'refund', refundId, providerRefundId: `re_${newId()}`, currency: 'USD' } as const;
  const fact = { ...ours, state: 'failed', failure: 'closed', amountMinor } as const;
  return () => payments.inbox.accept({ provider: 'stripe', eventId: newId(), type: 'test', fact });
}

async function refundNow(topupId: string, credits: string): Promise<void> {
  const request = { topupId, reason: 'asked', actor: 'user:1', requestId: newId() };
  await inTransaction(payments.ledger.billing, async (client) => {
    const { id } = await beginTopupRefund(client, { ...request, credits: nanos(parseAmount(credits)) });
    await endTopupRefund(client, { refundId: id, providerRefundId: `re_${newId()}`, outcome: 'succeeded' });
  });
}

type Refunding = Awaited<ReturnType<typeof refunding>>;

const rewardOf = async ({ inviterId }: Refunding) =>
  (await readBalance(payments.ledger.billing, inviterId))!.invite;

/** The customer's credits, what is in suspense, and what our books say that the bank has taken. */
async function stand({ accountId, disputeId }: Refunding) {
  const { rows } = await payments.ledger.billing.query<{ item: string }>(
    `SELECT concat_ws(' ', why, amount_minor, state) AS item FROM suspense_items WHERE reference = $1 ORDER BY id`,
    [disputeId],
  );
  const query = { provider: null, from: null, to: null, states: null, graceMs: 0 };
  const matches = await inSnapshot(payments.ledger.billing, (client) =>
    listMatches(client, query, { limit: 1_000, after: null }),
  );
  const taken = -(matches.find(({ id }) => id === disputeId)?.ours?.amountMinor ?? 0n);
  const balance = await balanceOf(payments.ledger, accountId);
  return { balance, items: rows.map(({ item }) => item), taken };
}

/** How often finance was alerted to money that came back from disputes. */
async function alerts(): Promise<number> {
  const { values } = await payments.registry.getSingleMetric('tollgate_payment_alerts_total')!.get();
  return values.find(({ labels }) => labels['why'] === 'dispute_won')?.value ?? 0;
}

/** Books what a dispute took beyond the payment as a cost. */
async function expense({ disputeId }: Pick<Refunding, 'disputeId'>): Promise<void> {
  const { rows } = await payments.ledger.billing.query<{ id: string }>(
    `SELECT id FROM suspense_items WHERE reference = $1 AND amount_minor < 0 AND state = 'open'`,
    [disputeId],
  );
  await suspense.expenseSuspense(rows[0]!.id, 'lost', asking(await payments.finance()));
}

describe('a refund that fails after a bank took its payment', () => {
  it('leaves its credits to the dispute, with their reward, and all of it is undone if that is won', async () => {
    const one = await refunding('4');
    await one.deliver('lost');
    expect(await rewardOf(one)).toBe(parseAmount('0.4'));
    await Promise.all([one.fail(), one.fail(), one.deliver('lost')]);
    const items = ['dispute_beyond_payment -520 returned'];
    expect(await stand(one)).toEqual({ balance: '0', items, taken: 1_300n });
    expect(await rewardOf(one)).toBe(0n);
    await Promise.all([one.deliver('won'), one.deliver('won'), one.fail()]);
    expect(await stand(one)).toEqual({ balance: '10', items, taken: 0n });
    expect(await rewardOf(one)).toBe(parseAmount('1'));
  });

  it('takes the reward back for each dispute, and gives back only what a won one took', async () => {
    const one = await refunding('4', 900);
    const other = disputing(one.paymentId, 400);
    await one.deliver('lost');
    await other.deliver('lost');
    await one.fail();
    expect(await rewardOf(one)).toBe(0n);
    await one.deliver('won');
    expect(await stand(one)).toMatchObject({ balance: '6.923076923', taken: 0n });
    expect(await rewardOf(one)).toBe(parseAmount('0.692307692'));
    await other.deliver('won');
    expect(await balanceOf(payments.ledger, one.accountId)).toBe('10');
    expect(await rewardOf(one)).toBe(parseAmount('1'));
  });

  it('leaves all credits to a dispute that had found none', async () => {
    const one = await refunding('10');
    await one.deliver('needs_response');
    await one.fail();
    expect(await stand(one)).toMatchObject({ balance: '0', taken: 1_300n });
    await one.deliver('won');
    expect(await stand(one)).toMatchObject({ balance: '10', taken: 0n });
  });

  it('gives back what no bank took', async () => {
    const one = await refunding('5', 1_000);
    await one.deliver('lost');
    await one.fail();
    expect(await stand(one)).toMatchObject({ balance: '2.307692308', taken: 1_000n });
    await one.deliver('won');
    expect(await stand(one)).toMatchObject({ balance: '10', taken: 0n });
  });

  it('leaves in suspense what other refunds had paid back', async () => {
    const one = await refunding('3');
    await refundNow(one.topupId, '5');
    const failToo = await begin(one.topupId, '1');
    await one.deliver('lost');
    await one.fail();
    await failToo();
    expect(await stand(one)).toEqual({
      balance: '0',
      items: [
        'dispute_beyond_payment -1170 returned',
        'dispute_beyond_payment -780 returned',
        'dispute_beyond_payment -650 open',
      ],
      taken: 1_300n,
    });
    await one.deliver('won');
    expect(await stand(one)).toMatchObject({ balance: '5', taken: 0n });
  });

  it('undoes the cost that it was booked as', async () => {
    const one = await refunding('4');
    await one.deliver('lost');
    await expense(one);
    expect(await one.fail()).toMatchObject({ state: 'suspense', alert: 'dispute_won' });
    expect(await one.fail()).toMatchObject({ state: 'applied' });
    const items = ['dispute_beyond_payment -520 expensed', 'dispute_won 520 open'];
    expect(await stand(one)).toEqual({ balance: '0', items, taken: 1_300n });
    await one.deliver('won');
    expect(await stand(one)).toEqual({ balance: '10', items, taken: 0n });
  });

  it('says that a cost is undone, if the provider answers so to our own request', async () => {
    const accountId = await payments.newAccount();
    const { topupId, paymentId } = await paidOrder(payments, accountId);
    const { id } = await ask(topupId, '4');
    const one = disputing(paymentId, 1_300);
    await one.deliver('lost');
    await expense(one);
    payments.stripe.refundStatus = 'failed';
    const before = await alerts();
    try {
      await Promise.all([roundNow(payments), payments.runner.run(id)]);
    } finally {
      payments.stripe.refundStatus = 'succeeded';
    }
    expect((await alerts()) - before).toBe(1);
  });

  it('undoes each cost that it was booked as, and what remains is back if the dispute is won', async () => {
    const one = await refunding('3');
    await refundNow(one.topupId, '5');
    const failToo = await begin(one.topupId, '1');
    await one.deliver('lost');
    await expense(one);
    await one.fail();
    await expense(one);
    await Promise.all([failToo(), failToo(), one.deliver('lost')]);
    await expense(one);
    const costs = [
      'dispute_beyond_payment -1170 expensed',
      'dispute_won 1170 open',
      'dispute_beyond_payment -780 expensed',
      'dispute_won 780 open',
      'dispute_beyond_payment -650 expensed',
    ];
    expect(await stand(one)).toEqual({ balance: '0', items: costs, taken: 1_300n });
    await Promise.all([one.deliver('won'), one.deliver('won'), failToo()]);
    expect(await stand(one)).toEqual({ balance: '5', items: [...costs, 'dispute_won 650 open'], taken: 0n });
    const { rows } = await payments.ledger.billing.query<{ state: string }>(
      `SELECT state FROM payment_events WHERE payload ->> 'disputeId' = $1 AND payload ->> 'state' = 'won'`,
      [one.disputeId],
    );
    expect(rows.map(({ state }) => state).toSorted()).toEqual(['applied', 'suspense']);
  });

  it('leaves the debt of what was spent as it is', async () => {
    const one = await refunding('4');
    const { ticketId } = await ticketOf(payments.ledger, one.accountId);
    const terms = {
      accountId: one.accountId,
      ticketId,
      note: 'x',
      requestedBy: 'user:1',
      approvedBy: 'user:2',
    };
    const spent = { ...terms, amount: -parseAmount('3'), reason: 'correction', requestId: newId() } as const;
    await inTransaction(payments.ledger.billing, (client) => adjust(client, spent));
    await one.deliver('lost');
    await one.fail();
    expect(await stand(one)).toMatchObject({ balance: '-3', taken: 1_300n });
    await one.deliver('won');
    expect(await stand(one)).toMatchObject({ balance: '7', taken: 0n });
  });

  it('gives all back if the dispute was won before, or comes to nothing', async () => {
    const one = await refunding('4');
    await one.deliver('lost');
    await one.deliver('won');
    await one.fail();
    expect(await stand(one)).toMatchObject({ balance: '10', taken: 0n });
  });

  it('at the same moment is right in either order', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const one = await refunding('4');
      const both = [() => one.deliver('lost'), one.fail];
      await Promise.all(order.map((at) => both[at]!()));
      expect(await stand(one)).toMatchObject({ balance: '0', taken: 1_300n });
      await one.deliver('won');
      expect(await stand(one)).toMatchObject({ balance: '10', taken: 0n });
    }
  });
});
