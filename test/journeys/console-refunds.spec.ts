import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { atOnce } from '../support/at-once.js';
import { type Person, person } from '../support/console.js';
import { type Customer, expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';

let relay: Relay;
let support: Person;

beforeAll(async () => {
  relay = await startRelay({
    REFUND_LIMIT: '1',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_POLL_SECONDS: '0.05',
  });
});
// A new person for each test, because what one person refunds adds up.
beforeEach(async () => {
  support = await person(relay, { roles: ['support'] });
});
afterAll(() => relay?.close());

interface Complaint {
  customer: Customer;
  owner: Person;
  ticketId: string;
}

async function complaint(credits = '10'): Promise<Complaint> {
  const customer = await relay.customer(credits);
  const owner = await person(relay, { accountId: customer.accountId });
  const { data } = await owner.api.POST('/api/tickets', {
    body: { kind: 'refund', subject: 'Money back', body: 'The pictures are bad.' },
  });
  return { customer, owner, ticketId: data!.id };
}

/** Makes a video of this many seconds at 0.05 USD, and waits until it is paid. */
async function paidVideo(customer: Customer, seconds = '15'): Promise<string> {
  const body = { model: 'vendora-imagine-video', prompt: 'a boat [[work:0.05]]', seconds };
  const { id } = (await (await customer.send('/v1/videos', json(body))).json()) as { id: string };
  let chargeId = '';
  await until('the video to be paid', async () => {
    const { rows } = await relay.fixture.billing.query<{ id: string }>(
      `SELECT id FROM charges WHERE task_id = $1 AND state = 'settled'`,
      [id],
    );
    chargeId = rows[0]?.id ?? '';
    return chargeId !== '';
  });
  return chargeId;
}

function refund(
  by: Person,
  ticketId: string,
  body: { chargeId: string; amount: string; requestId?: string },
) {
  return by.api.POST('/api/support/tickets/{ticketId}/refunds', {
    params: { path: { ticketId } },
    body: { reason: 'The pictures were bad.', requestId: newId(), ...body },
  });
}

describe('a refund after settlement', () => {
  it('comes from a ticket, is reported to the customer, and is in the audit log', async () => {
    const { customer, owner, ticketId } = await complaint();
    const receiver = await startWebhookReceiver();
    await owner.api.POST('/api/webhooks', {
      body: { url: `${receiver.url}/x`, events: ['charge.refunded'] },
    });
    const chargeId = await paidVideo(customer);
    const { data } = await refund(support, ticketId, { chargeId, amount: '0.5' });
    expect(data).toMatchObject({ state: 'refunded', approvalId: null, refund: { seq: 1, amount: '0.5' } });
    expect(await customer.balance()).toEqual({ main: '9.75', held: '0' });

    const list = await support.api.GET('/api/support/charges/{chargeId}/refunds', {
      params: { path: { chargeId } },
    });
    expect(list.data).toMatchObject({
      settled: '0.75',
      refundable: '0.25',
      items: [{ ticketId, approvedBy: null }],
    });
    const ticket = await owner.api.GET('/api/tickets/{ticketId}', { params: { path: { ticketId } } });
    expect(ticket.data).toMatchObject({ state: 'answered', outcome: 'refunded' });
    expect(ticket.data!.messages.at(-1)!.body).toContain('Refunded 0.5 credits');
    await until('the webhook', async () => receiver.received.length === 1);
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
      type: 'charge.refunded',
      data: { chargeId, kind: 'refund', amount: '0.5', refundId: data!.refund!.id },
    });
    await receiver.close();
    const { rows } = await relay.fixture.owner.query(
      'SELECT actor, action FROM audit_log WHERE subject = $1',
      [`charge:${chargeId}`],
    );
    expect(rows).toEqual([{ actor: `user:${support.userId}`, action: 'charge.refunded' }]);
    await expectCleanLedger(relay);
  });

  it('is made once for fifty copies of a request', async () => {
    const { customer, ticketId } = await complaint();
    const chargeId = await paidVideo(customer);
    const body = { chargeId, amount: '0.1', requestId: newId() };
    const answers = await atOnce(50, () => refund(support, ticketId, body));
    expect(new Set(answers.map(({ data }) => data?.refund?.id)).size).toBe(1);
    expect(await customer.balance()).toEqual({ main: '9.35', held: '0' });
    const other = await refund(support, ticketId, { ...body, amount: '0.2' });
    expect(other.response.status).toBe(409);
    await expectCleanLedger(relay);
  });

  it('is never more than was charged, in fifty requests at once', async () => {
    const { customer, ticketId } = await complaint();
    const chargeId = await paidVideo(customer);
    const answers = await atOnce(50, (requestId) =>
      refund(support, ticketId, { chargeId, amount: '0.1', requestId }),
    );
    expect(answers.filter(({ data }) => data?.state === 'refunded')).toHaveLength(7);
    expect(answers.filter(({ response }) => response.status === 409)).toHaveLength(43);
    expect(await customer.balance()).toEqual({ main: '9.95', held: '0' });
    await expectCleanLedger(relay);
  });

  it('above the limit waits for a second person, even if it comes in small parts', async () => {
    const { customer, ticketId } = await complaint();
    const [first, second] = [await paidVideo(customer), await paidVideo(customer)];
    expect((await refund(support, ticketId, { chargeId: first, amount: '0.7' })).data?.state).toBe(
      'refunded',
    );
    const body = { chargeId: second, amount: '0.4', requestId: newId() };
    const asked = await refund(support, ticketId, body);
    expect(asked.data).toMatchObject({ state: 'pending', refund: null, approvalId: expect.any(String) });
    expect((await refund(support, ticketId, body)).data).toEqual(asked.data);

    const approve = (by: Person) =>
      by.api.POST('/api/approvals/{approvalId}/approve', {
        params: { path: { approvalId: asked.data!.approvalId! } },
        body: {},
      });
    expect((await approve(support)).error?.error.code).toBe('second_person_required');
    expect((await approve(await person(relay, { roles: ['finance'] }))).response.status).toBe(403);
    const colleague = await person(relay, { roles: ['support'] });
    expect((await approve(colleague)).data).toMatchObject({ state: 'approved', outcome: { seq: 1 } });
    expect((await refund(support, ticketId, body)).data).toMatchObject({
      state: 'refunded',
      refund: { amount: '0.4', requestedBy: support.userId, approvedBy: colleague.userId },
    });
    expect(await customer.balance()).toEqual({ main: '9.6', held: '0' });
    await expectCleanLedger(relay);
  });

  it('is refused for another account’s charge, a closed ticket, and what was not charged', async () => {
    const [mine, theirs] = [await complaint(), await complaint()];
    const chargeId = await paidVideo(theirs.customer);
    const foreign = await refund(support, mine.ticketId, { chargeId, amount: '0.1' });
    expect(foreign.error?.error).toMatchObject({ code: 'invalid_value', param: 'chargeId' });
    const unknown = await refund(support, mine.ticketId, { chargeId: newId(), amount: '0.1' });
    expect(unknown.response.status).toBe(400);
    const failed = json({ model: 'vendora-imagine-image', prompt: 'none [[fault:reject-400]]' });
    await mine.customer.send('/v1/images/generations', failed);
    const { rows } = await relay.fixture.billing.query<{ id: string }>(
      'SELECT id FROM charges WHERE account_id = $1',
      [mine.customer.accountId],
    );
    const released = await refund(support, mine.ticketId, { chargeId: rows[0]!.id, amount: '0.01' });
    expect(released.error?.error).toMatchObject({ code: 'conflict' });
    await support.api.POST('/api/support/tickets/{ticketId}/close', {
      params: { path: { ticketId: theirs.ticketId } },
    });
    expect((await refund(support, theirs.ticketId, { chargeId, amount: '0.1' })).response.status).toBe(409);
    expect((await refund(mine.owner, mine.ticketId, { chargeId, amount: '0.1' })).response.status).toBe(403);
  });

  it.each(['0', '-1', '1e3', '0.0000000001', 'x'])('accepts no amount of %s', async (amount) => {
    const { ticketId } = await complaint();
    const { error } = await refund(support, ticketId, { chargeId: newId(), amount });
    expect(error?.error).toMatchObject({ code: 'invalid_value', param: 'amount' });
  });
});
