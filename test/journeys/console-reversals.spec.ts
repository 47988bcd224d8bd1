import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatAmount, parseAmount } from '#money/amount.js';
import { recogniseAll } from '#ledger/lots/recognition.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { type Customer, expectCleanLedger, type Relay, startRelay, until } from '../support/relay.js';
import { StripeStandIn } from '../support/stripe.js';

const AT_ONCE = 50;
/** One image of the cheapest model in the seeded catalog. */
const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse [[instant]]' };

let relay: Relay;
let stripe: StripeStandIn;
let finance: Person;

beforeAll(async () => {
  stripe = await StripeStandIn.start();
  relay = await startRelay({
    ...stripe.environment,
    PAYMENT_RETRY_SECONDS: '0.1',
    PAYMENT_CHECK_SECONDS: '0.1',
    TOPUP_REFUND_LIMIT: '50',
  });
});
// A new person for each test, because what one person refunds adds up.
beforeEach(async () => {
  finance = await person(relay, { roles: ['finance'] });
});
afterAll(async () => {
  await relay?.close();
  await stripe?.close();
});
afterEach(() => expectCleanLedger(relay));

interface Buyer extends Person {
  customer: Customer;
  /** Buys credits with a card. Returns the top-up and the payment. */
  buy(credits: string): Promise<{ topupId: string; paymentId: string; orderId: string }>;
  /** Spends this much of the main balance on images, USD. */
  spend(images: number): Promise<void>;
  balance(): Promise<{ main: string; invite: string; refundPending: string; frozenReason: string | null }>;
}

async function buyer(inviter?: Person): Promise<Buyer> {
  const customer = await relay.customer('0');
  const someone = await person(relay, { accountId: customer.accountId });
  if (inviter) {
    await relay.fixture.billing.query(
      'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
      [customer.accountId, inviter.accountId],
    );
  }
  return {
    ...someone,
    customer,
    buy: async (credits) => {
      const body = { credits, provider: 'stripe', requestId: newId() } as const;
      const { data } = await someone.api.POST('/api/topups', { body });
      const { event, paymentId } = stripe.pay(data!.id);
      await stripe.deliver(relay.consoleUrl, event);
      const paid = await someone.api.GET('/api/topups/{orderId}', {
        params: { path: { orderId: data!.id } },
      });
      return { topupId: paid.data!.topupId!, paymentId, orderId: data!.id };
    },
    spend: async (images) => {
      for (let left = images; left > 0; left -= 10) {
        await customer.sdk().images.generate({ ...IMAGE, n: Math.min(left, 10) });
      }
    },
    balance: async () => {
      const { rows } = await relay.fixture.billing.query<{
        main: bigint;
        invite: bigint;
        pending: bigint;
        reason: string | null;
      }>(
        `SELECT main, invite, refund_pending AS pending, frozen_reason AS reason FROM customer_balances WHERE account_id = $1`,
        [customer.accountId],
      );
      const { main, invite, pending, reason } = rows[0]!;
      return {
        main: formatAmount(main),
        invite: formatAmount(invite),
        refundPending: formatAmount(pending),
        frozenReason: reason,
      };
    },
  };
}

function refund(topupId: string, credits?: string, requestId = newId()) {
  const body = { reason: 'asked for', requestId, ...(credits === undefined ? {} : { credits }) };
  return finance.api.POST('/api/finance/topups/{topupId}/refunds', { params: { path: { topupId } }, body });
}

/** What is on a ledger account of the house, in minor units. */
async function house(code: string): Promise<bigint> {
  const { rows } = await relay.fixture.billing.query<{ sum: string }>(
    `SELECT coalesce(sum(e.amount), 0)::text AS sum FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE a.code = $1`,
    [code],
  );
  return BigInt(rows[0]!.sum);
}

describe('a refund of a top-up', () => {
  it('refunds what is unused, through the provider, once', async () => {
    const someone = await buyer();
    const { topupId, paymentId } = await someone.buy('10');
    await someone.spend(10);
    const { main } = await someone.balance();
    await recogniseAll(relay.fixture.billing);
    const [psp, deferred] = [await house('psp:stripe'), await house('deferred-revenue')];
    const requestId = newId();
    const { data } = await refund(topupId, undefined, requestId);
    expect(data).toMatchObject({ approvalId: null, refund: { state: 'succeeded', credits: main } });
    const [sent] = [...stripe.refunds.values()].filter((each) => each.payment_intent === paymentId);
    const minor = BigInt(sent!.amount);
    expect(data?.refund?.pay).toBe(`${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`);
    expect(await someone.balance()).toMatchObject({ main: '0', refundPending: '0' });
    expect([await house('psp:stripe'), await house('deferred-revenue')]).toEqual([
      psp + minor,
      deferred - minor,
    ]);

    expect((await refund(topupId, undefined, requestId)).data).toEqual(data);
    expect((await refund(topupId)).error?.error.code).toBe('conflict');
    expect([...stripe.refunds.values()].filter((each) => each.payment_intent === paymentId)).toHaveLength(1);
  });

  it('uses the oldest credits first', async () => {
    const someone = await buyer();
    const [first, second] = [await someone.buy('1'), await someone.buy('1')];
    await someone.spend(10);
    expect((await refund(second.topupId, '1')).data?.refund).toMatchObject({ credits: '1', pay: '1.30' });
    const { main } = await someone.balance();
    expect((await refund(first.topupId, '1')).error?.error.code).toBe('conflict');
    expect((await refund(first.topupId)).data?.refund).toMatchObject({ credits: main });
  });

  it('is undone when the provider refuses it', async () => {
    const someone = await buyer();
    const { topupId } = await someone.buy('10');
    stripe.refundStatus = 'failed';
    const { data } = await refund(topupId);
    stripe.refundStatus = 'succeeded';
    expect(data?.refund).toMatchObject({ state: 'failed', failure: 'expired_or_canceled_card' });
    expect(await someone.balance()).toMatchObject({ main: '10', refundPending: '0' });
    expect((await refund(topupId)).data?.refund?.state).toBe('succeeded');
  });

  it('waits for a provider that answers later, with an event', async () => {
    const someone = await buyer();
    const { topupId, paymentId, orderId } = await someone.buy('10');
    stripe.refundStatus = 'pending';
    const { data } = await refund(topupId, '4');
    stripe.refundStatus = 'succeeded';
    expect(data?.refund).toMatchObject({ state: 'pending', credits: '4', pay: '5.20' });
    expect(await someone.balance()).toMatchObject({ main: '6', refundPending: '4' });
    const shown = () => someone.api.GET('/api/topups/{orderId}', { params: { path: { orderId } } });
    const given = { credits: '4', pay: '5.20', at: expect.any(String) };
    expect((await shown()).data).toMatchObject({
      refunds: [{ ...given, state: 'pending', endedAt: null }],
      disputes: [],
    });
    const sent = [...stripe.refunds.values()].find((each) => each.payment_intent === paymentId)!;
    const succeeded = stripe.event('refund.updated', { ...sent, status: 'succeeded' });
    for (let times = 0; times < 3; times += 1) await stripe.deliver(relay.consoleUrl, succeeded);
    expect(await someone.balance()).toMatchObject({ main: '6', refundPending: '0' });
    expect((await shown()).data?.refunds).toMatchObject([
      { state: 'succeeded', endedAt: expect.any(String) },
    ]);
    const cameBack = stripe.event('refund.failed', { ...sent, status: 'failed' });
    for (let times = 0; times < 2; times += 1) await stripe.deliver(relay.consoleUrl, cameBack);
    const { data: list } = await finance.api.GET('/api/finance/suspense', {
      params: { query: { state: 'open' } },
    });
    expect(list?.items).toMatchObject([{ why: 'refund_failed', amount: '5.20', reference: sent.id }]);
  });

  it('is requested again if the answer was lost, and made once', async () => {
    const someone = await buyer();
    const { topupId, paymentId } = await someone.buy('10');
    stripe.lostAnswers = 3;
    const { data } = await refund(topupId);
    expect(data?.refund?.state).toBe('pending');
    await until('the refund to end', async () => (await someone.balance()).refundPending === '0');
    expect(await someone.balance()).toMatchObject({ main: '0' });
    expect([...stripe.refunds.values()].filter((each) => each.payment_intent === paymentId)).toHaveLength(1);
  });

  it('needs a second person above the limit', async () => {
    const someone = await buyer();
    const { topupId } = await someone.buy('60');
    const { data } = await refund(topupId);
    expect(data).toMatchObject({ refund: null, approvalId: expect.any(String) });
    const second = await person(relay, { roles: ['finance'] });
    const params = { path: { approvalId: data!.approvalId! } };
    const { data: decided } = await second.api.POST('/api/approvals/{approvalId}/approve', {
      params,
      body: {},
    });
    expect(decided).toMatchObject({ state: 'approved', kind: 'topup.refund' });
    await until('the refund to end', async () => {
      const { main, refundPending } = await someone.balance();
      return main === '0' && refundPending === '0';
    });
  });

  it('needs one for small parts too, even at once', async () => {
    const someone = await buyer();
    const { topupId } = await someone.buy('60');
    const ids = Array.from({ length: 10 }, () => newId());
    const answers = await Promise.all(ids.map((each) => refund(topupId, '20', each)));
    // On a slow machine, the sweeper may be trying one again when it is answered: it is pending then.
    const made = answers.filter(({ data }) => ['succeeded', 'pending'].includes(data?.refund?.state ?? ''));
    expect(made).toHaveLength(2);
    expect(answers.filter(({ data }) => data?.approvalId)).toHaveLength(8);
    await until('both refunds to end', async () => (await someone.balance()).refundPending === '0');
    expect(await someone.balance()).toMatchObject({ main: '20', refundPending: '0' });
    const first = answers.indexOf(made[0]!);
    const { id } = made[0]!.data!.refund!;
    const again = await refund(topupId, '20', ids[first]);
    expect(again.data).toMatchObject({ refund: { id, state: 'succeeded' } });
    expect((await refund(topupId, '19', ids[first])).error?.error.code).toBe('conflict');
    const { rows } = await relay.fixture.billing.query(
      `SELECT FROM audit_log WHERE action = 'topup.refund.begun' AND subject = $1`,
      [`topup:${topupId}`],
    );
    expect(rows).toHaveLength(2);
  });

  it('cannot be made twice by many who ask at once', async () => {
    const someone = await buyer();
    const { topupId } = await someone.buy('10');
    const answers = await Promise.all(Array.from({ length: 20 }, () => refund(topupId, '1')));
    // On a slow machine, the sweeper may be trying one again when it is answered: it is pending then.
    expect(
      answers.filter(({ data }) => ['succeeded', 'pending'].includes(data?.refund?.state ?? '')),
    ).toHaveLength(10);
    expect(answers.filter(({ error }) => error?.error.code === 'conflict')).toHaveLength(10);
    await until('all refunds to end', async () => (await someone.balance()).refundPending === '0');
    expect(await someone.balance()).toMatchObject({ main: '0', refundPending: '0' });
  });

  it('is for finance', async () => {
    const someone = await buyer();
    const { topupId } = await someone.buy('10');
    const params = { path: { topupId } };
    const body = { reason: 'mine', requestId: 'r' };
    const { response } = await someone.api.POST('/api/finance/topups/{topupId}/refunds', { params, body });
    expect(response.status).toBe(403);
    const nothing = { path: { topupId: newId() } };
    const missing = await finance.api.POST('/api/finance/topups/{topupId}/refunds', {
      params: nothing,
      body,
    });
    expect(missing.response.status).toBe(404);
  });
});

describe('a dispute', () => {
  const deliverDispute = (disputeId: string, paymentId: string, of: { amount: number; status: string }) =>
    stripe.deliver(relay.consoleUrl, stripe.dispute(disputeId, paymentId, of));

  it('takes the credits back below zero, freezes the account, and ends with new credits that make up for the loss', async () => {
    const someone = await buyer();
    const { paymentId, orderId } = await someone.buy('1');
    await someone.spend(30);
    const { main } = await someone.balance();
    const loss = await house('expense:chargeback-loss');
    const disputeId = `dp_${newId()}`;
    const open = { amount: 130, status: 'needs_response' };
    const deliveries = await Promise.all(
      Array.from({ length: 10 }, () => deliverDispute(disputeId, paymentId, open)),
    );
    expect(deliveries.every(({ status }) => status === 200)).toBe(true);
    const { data: order } = await someone.api.GET('/api/topups/{orderId}', { params: { path: { orderId } } });
    expect(order?.disputes).toMatchObject([{ credits: '1', pay: '1.30', state: 'open', endedAt: null }]);
    const owed = formatAmount(parseAmount(main) - parseAmount('1'));
    expect(await someone.balance()).toMatchObject({ main: owed, frozenReason: 'debt' });
    const refused = await someone.customer.send('/v1/images/generations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(IMAGE),
    });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'account_frozen' } });
    expect(await house('expense:chargeback-loss')).toBeLessThan(loss);

    await someone.buy('10');
    expect(await someone.balance()).toMatchObject({ frozenReason: null });
    expect(await house('expense:chargeback-loss')).toBe(loss);
    await someone.spend(1);
    await deliverDispute(disputeId, paymentId, { amount: 130, status: 'lost' });
    const { data } = await finance.api.GET('/api/finance/disputes', {
      params: { query: { accountId: someone.accountId } },
    });
    expect(data?.items).toMatchObject([{ disputeId, state: 'lost', credits: '1', amount: '1.30' }]);
  });

  it('that is won returns exactly what it took', async () => {
    const someone = await buyer();
    const { paymentId } = await someone.buy('1');
    await someone.spend(20);
    await someone.buy('2');
    const before = await someone.balance();
    const accounts = ['expense:chargeback-loss', 'deferred-revenue', 'psp:stripe', 'issued:credit'];
    await recogniseAll(relay.fixture.billing);
    const books = await Promise.all(accounts.map(house));
    const disputeId = `dp_${newId()}`;
    await deliverDispute(disputeId, paymentId, { amount: 130, status: 'under_review' });
    expect(await someone.balance()).not.toEqual(before);
    for (const status of ['won', 'won', 'needs_response', 'lost'])
      await deliverDispute(disputeId, paymentId, { amount: 130, status });
    expect(await someone.balance()).toEqual(before);
    expect(await Promise.all(accounts.map(house))).toEqual(books);
  });

  it('takes nothing if it was won before it reached us, or is only an inquiry', async () => {
    const someone = await buyer();
    const { paymentId } = await someone.buy('1');
    await deliverDispute('dp_inquiry', paymentId, { amount: 130, status: 'warning_needs_response' });
    const disputeId = `dp_${newId()}`;
    for (const status of ['won', 'needs_response'])
      await deliverDispute(disputeId, paymentId, { amount: 130, status });
    expect(await someone.balance()).toMatchObject({ main: '1', frozenReason: null });
  });

  it('waits for a payment that it overtook', async () => {
    const someone = await buyer();
    const body = { credits: '1', provider: 'stripe', requestId: newId() } as const;
    const { data } = await someone.api.POST('/api/topups', { body });
    const { event, paymentId } = stripe.pay(data!.id);
    await deliverDispute(`dp_${newId()}`, paymentId, { amount: 130, status: 'needs_response' });
    expect(relay.logged()).toContain('unknown_dispute');
    await stripe.deliver(relay.consoleUrl, event);
    await until('the dispute to be applied', async () => (await someone.balance()).main === '0');
    await until('the order to say so', async () => {
      const { data: order } = await someone.api.GET('/api/topups/{orderId}', {
        params: { path: { orderId: data!.id } },
      });
      return order?.state === 'disputed';
    });
  });

  it('of a partly refunded payment takes the rest, and the excess is in suspense', async () => {
    const someone = await buyer();
    const { paymentId, topupId } = await someone.buy('10');
    await refund(topupId, '5');
    const disputeId = `dp_${newId()}`;
    await deliverDispute(disputeId, paymentId, { amount: 1300, status: 'needs_response' });
    expect(await someone.balance()).toMatchObject({ main: '0', frozenReason: null });
    const { data } = await finance.api.GET('/api/finance/suspense', { params: { query: { state: 'open' } } });
    expect(data?.items[0]).toMatchObject({ why: 'dispute_beyond_payment', amount: '-6.50' });
    await deliverDispute(disputeId, paymentId, { amount: 1300, status: 'won' });
    expect(await someone.balance()).toMatchObject({ main: '5' });
  });
});

/** How many payments were found by asking, including some whose event was only slow. */
async function paymentsFound(): Promise<number> {
  const { values } = await relay.registry.getSingleMetric('tollgate_payments_found_total')!.get();
  return values.find(({ labels }) => labels['provider'] === 'stripe')?.value ?? 0;
}

describe('a payment whose event never came', () => {
  it('is found by asking', async () => {
    const someone = await buyer();
    const body = { credits: '3', provider: 'stripe', requestId: newId() } as const;
    const { data } = await someone.api.POST('/api/topups', { body });
    const before = await paymentsFound();
    const { event } = stripe.pay(data!.id);
    await until('the payment to be found', async () => (await someone.balance()).main === '3');
    await stripe.deliver(relay.consoleUrl, event);
    expect(await someone.balance()).toMatchObject({ main: '3' });
    expect(await paymentsFound()).toBe(before + 1);
  });
});

describe('an order that was paid with another amount', () => {
  it('ends at its time, and then the provider is no longer asked', async () => {
    const someone = await buyer();
    const body = { credits: '10', provider: 'stripe', requestId: newId() } as const;
    const { data } = await someone.api.POST('/api/topups', { body });
    const { id: orderId } = data!;
    Object.assign(stripe.sessionOf(orderId), { amount_total: 650 });
    stripe.pay(orderId);
    await until('the payment to be found', async () => {
      const { data: list } = await finance.api.GET('/api/finance/suspense', {
        params: { query: { state: 'open' } },
      });
      return list!.items.some((item) => item.orderId === orderId && item.why === 'other_amount');
    });
    await relay.fixture.owner.query(
      `UPDATE topup_orders SET expires_at = now(), next_check_at = now() WHERE id = $1`,
      [orderId],
    );
    await until('the order to end', async () => {
      const { data: order } = await someone.api.GET('/api/topups/{orderId}', {
        params: { path: { orderId } },
      });
      return order?.state === 'expired';
    });
    expect(await someone.balance()).toMatchObject({ main: '0' });
  });
});

describe('an invitation', () => {
  it('rewards the first two top-ups with a tenth, at once, and no more', async () => {
    const inviter = await buyer();
    const invitee = await buyer(inviter);
    await Promise.all([invitee.buy('10'), invitee.buy('10'), invitee.buy('10')]);
    expect(await inviter.balance()).toMatchObject({ main: '0', invite: '2' });
    const { data } = await inviter.api.GET('/api/invites');
    expect(data).toMatchObject({
      balance: '2',
      owed: '0',
      invitees: [
        {
          name: 'Invitee 1',
          rewards: [
            { ordinal: 1, amount: '1' },
            { ordinal: 2, amount: '1' },
          ],
        },
      ],
    });
    expect(data?.link).toContain(data?.code);
    expect(JSON.stringify(data)).not.toContain(invitee.email);
    expect((await invitee.api.GET('/api/invites')).data?.invitees).toEqual([]);
  });

  it('lets any part of the reward be transferred, once per request, and never more than there is', async () => {
    const inviter = await buyer();
    const invitee = await buyer(inviter);
    await invitee.buy('10');
    const move = (amount: string, requestId: string) =>
      inviter.api.POST('/api/invites/transfers', { body: { amount, requestId } });
    const same = await Promise.all(Array.from({ length: AT_ONCE }, () => move('0.1', 'one')));
    for (const { data } of same) expect(data).toMatchObject({ moved: '0.1', invite: '0.9', main: '0.1' });
    expect((await move('0.2', 'one')).error?.error.code).toBe('conflict');
    const many = await Promise.all(Array.from({ length: AT_ONCE }, () => move('0.05', newId())));
    expect(many.filter(({ data }) => data !== undefined)).toHaveLength(18);
    expect(many.filter(({ response }) => response.status === 409)).toHaveLength(AT_ONCE - 18);
    expect(await inviter.balance()).toMatchObject({ main: '1', invite: '0' });
    for (const amount of ['0', '-1', '1e3', '', '0.0000000001', '1'])
      expect((await move(amount, newId())).response.status).toBe(amount === '1' ? 409 : 400);
    await inviter.spend(10);
  });

  it('takes the reward back in proportion to the refund, from the main balance if it was transferred', async () => {
    const inviter = await buyer();
    const invitee = await buyer(inviter);
    const { topupId, paymentId } = await invitee.buy('10');
    await refund(topupId, '4');
    expect(await inviter.balance()).toMatchObject({ invite: '0.6' });
    await inviter.api.POST('/api/invites/transfers', { body: { amount: '0.5', requestId: newId() } });
    const disputeId = `dp_${newId()}`;
    const dispute = (status: string) =>
      stripe.deliver(relay.consoleUrl, stripe.dispute(disputeId, paymentId, { amount: 780, status }));
    await dispute('needs_response');
    expect(await inviter.balance()).toMatchObject({ main: '0', invite: '0', frozenReason: null });
    expect((await inviter.api.GET('/api/invites')).data).toMatchObject({
      owed: '0',
      invitees: [{ rewards: [{ amount: '1', takenBack: '1' }] }],
    });
    await dispute('won');
    expect(await inviter.balance()).toMatchObject({ main: '0.5', invite: '0.1' });
    const shown = (await inviter.api.GET('/api/invites')).data;
    expect(shown).toMatchObject({ owed: '0', movable: '0.1', pending: '0', nextMovableAt: null });
    await invitee.buy('10');
    await invitee.buy('10');
    expect(await inviter.balance()).toMatchObject({ invite: '1.1' });
  });
});
