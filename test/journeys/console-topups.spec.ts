import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningRelay, startRelay as compose } from '#apps/standalone/composition.js';
import { newId } from '#platform/ids.js';
import { type Person, person, visitor } from '../support/console.js';
import { expectCleanLedger, type Relay, startRelay, until } from '../support/relay.js';
import { StripeStandIn } from '../support/stripe.js';

const AT_ONCE = 50;
const RESELLER = { RESELLER_THRESHOLD_TOKENS: '10', MANUAL_TOPUP_LIMIT: '100' };
const PAYMENTS = {
  SANDBOX_PAYMENTS: 'true',
  BANK_TRANSFER_INSTRUCTIONS: 'Transfer to 0815.',
  PAYMENT_CHECK_SECONDS: '3600',
};

let relay: Relay;
let stripe: StripeStandIn;

beforeAll(async () => {
  stripe = await StripeStandIn.start();
  relay = await startRelay({ ...stripe.environment, ...PAYMENTS, ...RESELLER });
});
afterAll(async () => {
  await relay?.close();
  await stripe?.close();
});
afterEach(() => expectCleanLedger(relay));

async function order(
  buyer: Person,
  body: { credits: string } | { pay: string },
  provider: 'stripe' | 'sandbox' | 'manual' = 'stripe',
) {
  const { data, error } = await buyer.api.POST('/api/topups', {
    body: { ...body, provider, requestId: newId() },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

async function stateOf(buyer: Person, orderId: string): Promise<string | undefined> {
  const { data } = await buyer.api.GET('/api/topups/{orderId}', { params: { path: { orderId } } });
  return data?.state;
}

async function mainOf({ accountId }: Person): Promise<bigint> {
  const { rows } = await relay.fixture.billing.query<{ main: bigint }>(
    'SELECT main FROM customer_balances WHERE account_id = $1',
    [accountId],
  );
  return rows[0]!.main;
}

async function suspenseFor(finance: Person, orderId: string) {
  const { data } = await finance.api.GET('/api/finance/suspense', { params: { query: { state: 'open' } } });
  return data?.items.find((item) => item.orderId === orderId);
}

describe('an order', () => {
  it('says what credits cost and what a payment buys', async () => {
    const buyer = await person(relay);
    const quote = (query: { credits?: string; pay?: string }) =>
      buyer.api.GET('/api/topups/quote', { params: { query } });
    const { data } = await quote({ credits: '10' });
    expect(data).toEqual({
      credits: '10',
      pay: '13.00',
      currency: 'USD',
      rate: '1.3',
      providers: ['stripe', 'sandbox', 'manual'],
    });
    expect((await quote({ pay: '10' })).data).toMatchObject({ credits: '7.692307692', pay: '10.00' });
    expect((await quote({ pay: '1.29' })).error?.error).toMatchObject({
      code: 'invalid_value',
      param: 'pay',
    });
    for (const bad of [{}, { credits: '1', pay: '1' }, { credits: '0.999999999' }, { pay: '1.305' }]) {
      expect((await quote(bad)).response.status).toBe(400);
    }
  });

  it('is the same for the same request, and refused for a different one', async () => {
    const buyer = await person(relay);
    const body = { credits: '5', provider: 'stripe', requestId: 'once' } as const;
    const [first, second] = await Promise.all([
      buyer.api.POST('/api/topups', { body }),
      buyer.api.POST('/api/topups', { body }),
    ]);
    expect(first.data).toMatchObject({ state: 'open', pay: '6.50', rate: '1.3' });
    expect(first.data?.checkoutUrl).toMatch(/^https:\/\/checkout\.stripe\.test\//);
    expect(second.data).toEqual(first.data);
    const other = await buyer.api.POST('/api/topups', { body: { ...body, credits: '6' } });
    expect(other.error?.error).toMatchObject({ code: 'conflict', param: 'requestId' });
  });

  it('opens its checkout with the next repeat if the provider was unreachable', async () => {
    const buyer = await person(relay);
    const body = { credits: '5', provider: 'stripe', requestId: 'again' } as const;
    stripe.lostAnswers = 1;
    const failed = await buyer.api.POST('/api/topups', { body });
    expect(failed.response.status).toBe(502);
    expect(failed.error?.error.code).toBe('payment_provider_failed');
    const { data } = await buyer.api.POST('/api/topups', { body });
    expect(stripe.sessionOf(data!.id).url).toBe(data!.checkoutUrl);
    const sessions = [...stripe.sessions.values()].filter((each) => each.client_reference_id === data!.id);
    expect(sessions).toHaveLength(1);
  });

  it('is one of at most twenty open ones, even if they are made at once', async () => {
    const buyer = await person(relay);
    const make = (requestId: string) =>
      buyer.api.POST('/api/topups', { body: { credits: '1', provider: 'sandbox', requestId } });
    const ids = Array.from({ length: 25 }, () => newId());
    const answers = await Promise.all(ids.map(make));
    const made = answers.flatMap(({ data }) => (data ? [data] : []));
    expect(made).toHaveLength(20);
    const refused = answers.findIndex(({ error }) => error?.error.code === 'conflict');
    const repeated = answers.findIndex(({ data }) => data !== undefined);
    expect((await make(ids[repeated]!)).data?.id).toBe(answers[repeated]!.data!.id);
    await buyer.api.POST('/api/topups/{orderId}/cancel', { params: { path: { orderId: made[0]!.id } } });
    expect((await make(ids[refused]!)).data).toMatchObject({ state: 'open' });
  });

  it("is nobody else's to see or cancel", async () => {
    const { id: orderId } = await order(await person(relay), { credits: '5' });
    const stranger = await person(relay);
    const params = { path: { orderId } };
    expect((await stranger.api.GET('/api/topups/{orderId}', { params })).response.status).toBe(404);
    expect((await stranger.api.POST('/api/topups/{orderId}/cancel', { params })).response.status).toBe(404);
    expect((await stranger.api.GET('/api/topups')).data?.items).toEqual([]);
  });

  it('is cancelled at the provider too, and credited if the payment was faster', async () => {
    const buyer = await person(relay);
    const unwanted = await order(buyer, { credits: '5' });
    const params = { path: { orderId: unwanted.id } };
    const { data } = await buyer.api.POST('/api/topups/{orderId}/cancel', { params });
    expect(data?.state).toBe('cancelled');
    expect(stripe.sessionOf(unwanted.id).status).toBe('expired');

    const paid = await order(buyer, { credits: '5' });
    stripe.pay(paid.id);
    const late = await buyer.api.POST('/api/topups/{orderId}/cancel', {
      params: { path: { orderId: paid.id } },
    });
    expect(late.data?.state).toBe('paid');
    expect(await mainOf(buyer)).toBe(5_000_000_000n);
  });
});

describe("a provider's event", () => {
  it('credits its order once, however often it comes', async () => {
    const buyer = await person(relay);
    const { id } = await order(buyer, { credits: '10' });
    const { event } = stripe.pay(id);
    for (const response of [
      await stripe.deliver(relay.consoleUrl, event),
      await stripe.deliver(relay.consoleUrl, event),
    ]) {
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ received: true });
    }
    expect(await stateOf(buyer, id)).toBe('paid');
    expect(await mainOf(buyer)).toBe(10_000_000_000n);
  });

  it('credits once if two events report one payment, in any order', async () => {
    const buyer = await person(relay);
    const { id } = await order(buyer, { credits: '10' });
    const { event } = stripe.pay(id);
    const session = stripe.sessionOf(id);
    const succeeded = stripe.event('checkout.session.async_payment_succeeded', session);
    const expired = stripe.event('checkout.session.expired', { ...session, payment_status: 'unpaid' });
    const unpaid = stripe.event('checkout.session.completed', { ...session, payment_status: 'unpaid' });
    for (const each of [unpaid, expired]) await stripe.deliver(relay.consoleUrl, each);
    expect(await stateOf(buyer, id)).toBe('expired');
    for (const each of [succeeded, event]) await stripe.deliver(relay.consoleUrl, each);
    expect(await stateOf(buyer, id)).toBe('paid');
    expect(await mainOf(buyer)).toBe(10_000_000_000n);
  });

  it('is refused with a wrong signature, for another provider, and without a body', async () => {
    const buyer = await person(relay);
    const { id } = await order(buyer, { credits: '10' });
    const { event } = stripe.pay(id);
    const wrong = await stripe.deliver(relay.consoleUrl, event, 'whsec_of_somebody_else');
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({ error: { code: 'invalid_request' } });
    const send = (provider: string, body?: string) =>
      fetch(`${relay.consoleUrl}/api/payments/events/${provider}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    expect((await send('stripe', JSON.stringify(event))).status).toBe(400);
    expect((await send('sandbox', JSON.stringify(event))).status).toBe(400);
    expect((await send('manual', '{}')).status).toBe(400);
    expect((await send('nobody', '{}')).status).toBe(404);
    expect((await send('stripe')).status).toBe(400);
    expect(await stateOf(buyer, id)).toBe('open');
    expect(await mainOf(buyer)).toBe(0n);
  });

  it.each([
    ['another amount', { amount_total: 1 }, { why: 'other_amount', amount: '0.01', currency: 'USD' }],
    ['another currency', { currency: 'eur' }, { why: 'other_currency', amount: '13.00', currency: 'EUR' }],
  ])('of %s goes to suspense with an alert, never to a balance', async (_, changed, item) => {
    const [buyer, finance] = [await person(relay), await person(relay, { roles: ['finance'] })];
    const { id } = await order(buyer, { credits: '10' });
    const { event } = stripe.pay(id, changed);
    expect((await stripe.deliver(relay.consoleUrl, event)).status).toBe(200);
    expect((await stripe.deliver(relay.consoleUrl, event)).status).toBe(200);
    expect(await mainOf(buyer)).toBe(0n);
    expect(await stateOf(buyer, id)).toBe('open');
    expect(await suspenseFor(finance, id)).toMatchObject({ ...item, provider: 'stripe' });
    expect(await relay.registry.getSingleMetricAsString('tollgate_payment_alerts_total')).toContain(item.why);
    expect(relay.logged()).toContain(`"alert":"${item.why}"`);
  });

  it('for an order that was already paid goes to suspense too', async () => {
    const [buyer, finance] = [await person(relay), await person(relay, { roles: ['finance'] })];
    const { id } = await order(buyer, { credits: '10' });
    for (const { event } of [stripe.pay(id), stripe.pay(id)]) await stripe.deliver(relay.consoleUrl, event);
    expect(await mainOf(buyer)).toBe(10_000_000_000n);
    expect(await suspenseFor(finance, id)).toMatchObject({ why: 'paid_twice', amount: '13.00' });
  });

  it('credits once if 50 deliveries arrive at once, on two nodes', async () => {
    const buyer = await person(relay);
    const { id } = await order(buyer, { credits: '10' });
    const { event } = stripe.pay(id);
    const second = await startSecondNode();
    try {
      const nodes = [relay.consoleUrl, second.consoleUrl];
      const responses = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) => stripe.deliver(nodes[index % 2]!, event)),
      );
      expect(responses.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200));
    } finally {
      await second.close();
    }
    expect(await mainOf(buyer)).toBe(10_000_000_000n);
  });

  it('is listed for finance, and nobody else may read it', async () => {
    const finance = await person(relay, { roles: ['finance'] });
    const { data } = await finance.api.GET('/api/finance/payment-events', {
      params: { query: { limit: 3 } },
    });
    expect(data?.items).toHaveLength(3);
    const query = { limit: 3, cursor: data!.nextCursor! };
    const next = await finance.api.GET('/api/finance/payment-events', { params: { query } });
    expect(next.data?.items).toHaveLength(3);
    const ids = [...data!.items, ...next.data!.items].map(({ eventId }) => eventId);
    expect(new Set(ids).size).toBe(6);
    for (const roles of [[], ['support'], ['admin']] as const) {
      const other = await person(relay, { roles });
      expect((await other.api.GET('/api/finance/payment-events')).response.status).toBe(403);
    }
  });
});

async function startSecondNode(): Promise<RunningRelay> {
  const { fixture } = relay;
  const storageDir = await mkdtemp(join(tmpdir(), 'tollgate-node-'));
  const node = await compose({
    databaseUrls: {
      gateway: fixture.urlFor('gateway'),
      worker: fixture.urlFor('worker'),
      billing: fixture.urlFor('billing'),
    },
    storageDir,
    env: {
      ...stripe.environment,
      ...PAYMENTS,
      ...RESELLER,
      URL_SIGNING_SECRET: 'a secret of the tests, long enough to sign',
      SECRETS_KEY: 'YSBrZXkgb2YgdGhlIHRlc3RzLCBvZiAzMiBieXRlcyE=',
    },
    sandbox: false,
    log: fixture.log,
  });
  return {
    ...node,
    close: async () => {
      await node.close();
      await rm(storageDir, { recursive: true, force: true });
    },
  };
}

describe('the sandbox', () => {
  it('shows the order, takes the payment with a button, and says so', async () => {
    const buyer = await person(relay);
    const { id, checkoutUrl } = await order(buyer, { credits: '10' }, 'sandbox');
    const page = await fetch(relay.consoleUrl + checkoutUrl!);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(await page.text()).toMatch(/13\.00 USD[^]*<button class="pay">Pay</);
    const press = () =>
      fetch(`${relay.consoleUrl}${checkoutUrl}/pay`, { method: 'POST', redirect: 'manual' });
    const answers = await Promise.all([press(), press()]);
    const taken = answers.find(({ status }) => status === 303);
    expect(taken?.headers.get('location')).toBe(`/topups/${id}`);
    expect(await (await fetch(relay.consoleUrl + checkoutUrl!)).text()).toContain('<span>Paid</span>');
    expect(await stateOf(buyer, id)).toBe('paid');
    expect(await mainOf(buyer)).toBe(10_000_000_000n);
  });

  it('accepts no order of another provider, and none that does not exist', async () => {
    const { id } = await order(await person(relay), { credits: '10' });
    for (const each of [id, newId(), 'nonsense']) {
      expect((await fetch(`${relay.consoleUrl}/sandbox-pay/${each}`)).status).toBe(404);
      expect((await fetch(`${relay.consoleUrl}/sandbox-pay/${each}/pay`, { method: 'POST' })).status).toBe(
        404,
      );
    }
  });

  it('cancels', async () => {
    const buyer = await person(relay);
    const { id, checkoutUrl } = await order(buyer, { credits: '10' }, 'sandbox');
    await fetch(`${relay.consoleUrl}${checkoutUrl}/cancel`, { method: 'POST' });
    expect(await stateOf(buyer, id)).toBe('cancelled');
  });
});

describe('a bank transfer', () => {
  const transfer = (paid: string) =>
    ({
      paymentId: `bank-${newId()}`,
      paid,
      currency: 'USD',
      reason: 'seen on the account',
      requestId: newId(),
    }) as const;

  it('is recorded once for its order, to the cent', async () => {
    const [buyer, finance] = [await person(relay), await person(relay, { roles: ['finance'] })];
    const { id: orderId, instructions } = await order(buyer, { credits: '10' }, 'manual');
    expect(instructions).toContain(orderId);
    const record = (body: ReturnType<typeof transfer>) =>
      finance.api.POST('/api/finance/topups', { body: { ...body, orderId } });
    expect((await record(transfer('12'))).error?.error.code).toBe('conflict');
    const right = transfer('13');
    const answers = await Promise.all([record(right), record(right), record(right)]);
    for (const { data } of answers) expect(data?.topup).toMatchObject({ credits: '10', balance: '10' });
    expect((await record(transfer('13'))).error?.error.code).toBe('conflict');
    expect(await stateOf(buyer, orderId)).toBe('paid');
    expect(await mainOf(buyer)).toBe(10_000_000_000n);
  });

  it('needs a second person above the limit', async () => {
    const [buyer, finance] = [await person(relay), await person(relay, { roles: ['finance'] })];
    const { accountId } = buyer;
    const body = { ...transfer('260'), accountId };
    const { data } = await finance.api.POST('/api/finance/topups', { body });
    expect(data).toMatchObject({ topup: null, approvalId: expect.any(String) });
    expect((await finance.api.POST('/api/finance/topups', { body })).data).toEqual(data);
    expect(await mainOf(buyer)).toBe(0n);

    const params = { path: { approvalId: data!.approvalId! } };
    const approve = (by: Person) => by.api.POST('/api/approvals/{approvalId}/approve', { params, body: {} });
    expect((await approve(finance)).error?.error.code).toBe('second_person_required');
    expect((await approve(await person(relay, { roles: ['admin', 'support'] }))).response.status).toBe(403);
    expect((await approve(buyer)).response.status).toBe(403);
    const second = await person(relay, { roles: ['finance'] });
    const seen = await second.api.GET('/api/approvals', { params: { query: { state: 'pending' } } });
    expect(seen.data?.items).toMatchObject([{ kind: 'topup.manual', amount: '200', accountId }]);
    const decided = await Promise.all(Array.from({ length: AT_ONCE }, () => approve(second)));
    for (const each of decided)
      expect(each.data).toMatchObject({ state: 'approved', decidedBy: second.userId });
    expect(decided[0]?.data?.outcome).toMatchObject({ credits: '200', balance: '200' });
    expect(await mainOf(buyer)).toBe(200_000_000_000n);
  });

  it('needs one for small parts too, even at once', async () => {
    const roles = ['finance'] as const;
    const [buyer, finance] = [await person(relay, { roles }), await person(relay, { roles })];
    const bodies = Array.from({ length: 10 }, () => ({ ...transfer('52'), accountId: buyer.accountId }));
    const record = (body: (typeof bodies)[number]) => finance.api.POST('/api/finance/topups', { body });
    const answers = await Promise.all(bodies.map(record));
    const made = answers.flatMap(({ data }, index) => (data?.topup ? [{ data, index }] : []));
    expect(made).toHaveLength(2);
    expect(await mainOf(buyer)).toBe(80_000_000_000n);
    const [first] = made;
    expect((await record(bodies[first!.index]!)).data?.topup?.id).toBe(first!.data.topup!.id);

    const asked = answers.find(({ data }) => data?.approvalId)!;
    const approve = (by: Person) =>
      by.api.POST('/api/approvals/{approvalId}/approve', {
        params: { path: { approvalId: asked.data!.approvalId! } },
        body: {},
      });
    expect((await approve(buyer)).error?.error.code).toBe('second_person_required');
    expect((await approve(await person(relay, { roles }))).data).toMatchObject({ state: 'approved' });
    // What two people agreed on does not count as done by one person.
    const small = { ...transfer('26'), accountId: buyer.accountId };
    expect((await record(small)).data?.topup).toMatchObject({ credits: '20', balance: '140' });
    expect((await record({ ...transfer('2'), accountId: buyer.accountId })).data?.topup).toBeNull();
  });

  it('is refused without an account, in another currency, and with missing details', async () => {
    const finance = await person(relay, { roles: ['finance'] });
    const post = (body: object) =>
      finance.send('/api/finance/topups', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { accountId } = await person(relay);
    const good = { ...transfer('13'), accountId };
    for (const bad of [
      { ...good, accountId: newId() },
      { ...good, accountId: undefined },
      { ...good, accountId: undefined, orderId: newId() },
      { ...good, currency: 'EUR' },
      { ...good, paid: '0.001' },
      { ...good, paid: '-1' },
      { ...good, paid: '0' },
      { ...good, reason: '' },
      { ...good, extra: 1 },
    ]) {
      expect((await post(bad)).status).toBe(400);
    }
    expect((await post(good)).status).toBe(200);
    expect((await post({ ...good, paid: '26' })).status).toBe(409);
  });
});

describe('money in suspense', () => {
  it('is credited once to the account that it was meant for, or returned', async () => {
    const [buyer, finance] = [await person(relay), await person(relay, { roles: ['finance'] })];
    const orders = [await order(buyer, { credits: '10' }), await order(buyer, { credits: '10' })];
    for (const { id } of orders)
      await stripe.deliver(relay.consoleUrl, stripe.pay(id, { amount_total: 650 }).event);
    const [first, second] = [
      await suspenseFor(finance, orders[0]!.id),
      await suspenseFor(finance, orders[1]!.id),
    ];
    const body = { accountId: buyer.accountId, note: 'the customer said so', requestId: 'r' };
    const credit = () =>
      finance.api.POST('/api/finance/suspense/{itemId}/credit', {
        params: { path: { itemId: first!.id } },
        body,
      });
    const answers = await Promise.all(Array.from({ length: 10 }, credit));
    for (const { data } of answers) expect(data?.topup).toMatchObject({ credits: '5', balance: '5' });
    const back = (itemId: string) =>
      finance.api.POST('/api/finance/suspense/{itemId}/return', {
        params: { path: { itemId } },
        body: { note: 'sent back' },
      });
    expect((await back(second!.id)).data).toEqual({ approvalId: null });
    expect((await back(second!.id)).data).toEqual({ approvalId: null });
    expect((await back(first!.id)).response.status).toBe(409);
    expect(await mainOf(buyer)).toBe(5_000_000_000n);
    expect(await suspenseFor(finance, orders[1]!.id)).toBeUndefined();
  });
});

describe('the reseller rate', () => {
  it('needs the verified volume, and prices orders from its time on', async () => {
    const customer = await relay.customer('5');
    const { accountId } = customer;
    const [buyer, admin] = [await person(relay, { accountId }), await person(relay, { roles: ['admin'] })];
    const before = await order(buyer, { credits: '10' });
    const params = { path: { accountId } };
    const set = (body: { rate: '1.2' | '1.3'; requestId: string; effectiveFrom?: string }) =>
      admin.api.POST('/api/admin/accounts/{accountId}/rate', {
        params,
        body: { ...body, reason: 'a ticket' },
      });
    expect((await set({ rate: '1.2', requestId: 'a' })).error?.error.code).toBe('conflict');

    await customer.sdk().chat.completions.create({
      model: 'vendora-chat',
      messages: [{ role: 'user', content: 'Tell me a story about a lighthouse and its keeper.' }],
    });
    const seen = await until('the call to be counted', async () => {
      const { data } = await admin.api.GET('/api/support/accounts/{accountId}/rate', { params });
      return BigInt(data!.verifiedTokens) >= BigInt(data!.thresholdTokens) && data;
    });
    expect(seen).toMatchObject({ rate: '1.3', versions: [] });
    const past = { rate: '1.2', requestId: 'b', effectiveFrom: '2020-01-01T00:00:00Z' } as const;
    expect((await set(past)).error?.error.code).toBe('conflict');
    const now = { rate: '1.2', requestId: 'c' } as const;
    const answers = await Promise.all([set(now), set(now)]);
    for (const { data } of answers) expect(data).toMatchObject({ rate: '1.2', versions: [{ rate: '1.2' }] });
    expect((await set({ rate: '1.3', requestId: 'c' })).error?.error.code).toBe('conflict');

    expect(await order(buyer, { credits: '10' })).toMatchObject({ pay: '12.00', rate: '1.2' });
    await stripe.deliver(relay.consoleUrl, stripe.pay(before.id).event);
    expect(await stateOf(buyer, before.id)).toBe('paid');
    const { data } = await buyer.api.GET('/api/topups');
    expect(data?.items.map(({ pay }) => pay)).toEqual(['12.00', '13.00']);
  });

  it('is granted by administrators', async () => {
    const { accountId } = await person(relay);
    const params = { path: { accountId } };
    const body = { rate: '1.3', reason: 'a ticket', requestId: 'x' } as const;
    for (const roles of [[], ['support'], ['finance']] as const) {
      const other = await person(relay, { roles });
      const { response } = await other.api.POST('/api/admin/accounts/{accountId}/rate', { params, body });
      expect(response.status).toBe(403);
    }
    const admin = await person(relay, { roles: ['admin'] });
    const nowhere = { path: { accountId: newId() } };
    const { response } = await admin.api.POST('/api/admin/accounts/{accountId}/rate', {
      params: nowhere,
      body,
    });
    expect(response.status).toBe(404);
  });
});

describe('someone who is not signed in', () => {
  it('sees none of this', async () => {
    const api = visitor(relay);
    expect((await api.GET('/api/topups')).response.status).toBe(401);
    expect((await api.GET('/api/approvals')).response.status).toBe(401);
  });
});
