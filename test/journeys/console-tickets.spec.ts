import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let support: Person;

beforeAll(async () => {
  relay = await startRelay({ RESELLER_THRESHOLD_TOKENS: '50' });
  support = await person(relay, { roles: ['support'] });
});
afterAll(() => relay?.close());

type Kind = 'question' | 'billing' | 'reseller_rate' | 'refund';

async function open(customer: Person, kind: Kind = 'question', body = 'How do I…?'): Promise<string> {
  const { data, error } = await customer.api.POST('/api/tickets', {
    body: { kind, subject: 'A question', body },
  });
  if (!data) throw new Error(`no ticket: ${JSON.stringify(error)}`);
  return data.id;
}

const at = (ticketId: string) => ({ params: { path: { ticketId } } });

describe('a ticket', () => {
  it('goes back and forth until it is closed, and can be reopened', async () => {
    const customer = await person(relay);
    const ticketId = await open(customer);
    const answered = await support.api.POST('/api/support/tickets/{ticketId}/messages', {
      ...at(ticketId),
      body: { body: 'Like this.' },
    });
    expect(answered.data).toMatchObject({ state: 'answered' });
    const asked = await customer.api.POST('/api/tickets/{ticketId}/messages', {
      ...at(ticketId),
      body: { body: 'And then?\nSecond line.' },
    });
    expect(asked.data).toMatchObject({ state: 'open' });
    const closed = await customer.api.POST('/api/tickets/{ticketId}/close', at(ticketId));
    expect(closed.data).toMatchObject({ state: 'closed', closedAt: expect.any(String) });
    const late = await customer.api.POST('/api/tickets/{ticketId}/messages', {
      ...at(ticketId),
      body: { body: 'x' },
    });
    expect(late.response.status).toBe(409);
    const again = await support.api.POST('/api/support/tickets/{ticketId}/reopen', at(ticketId));
    expect(again.data).toMatchObject({ state: 'open', closedAt: null });
    const { data } = await customer.api.GET('/api/tickets/{ticketId}', at(ticketId));
    expect(data?.messages.map(({ kind, fromStaff, body }) => [kind, fromStaff, body])).toEqual([
      ['message', false, 'How do I…?'],
      ['message', true, 'Like this.'],
      ['message', false, 'And then?\nSecond line.'],
      ['event', false, 'Closed.'],
      ['event', true, 'Reopened.'],
    ]);
    expect(JSON.stringify(data)).not.toContain(support.userId);
  });

  it('has notes that only staff read, and what staff do is in the audit log', async () => {
    const customer = await person(relay);
    const ticketId = await open(customer);
    const noted = await support.api.POST('/api/support/tickets/{ticketId}/messages', {
      ...at(ticketId),
      body: { body: 'Looks odd.', isNote: true },
    });
    expect(noted.data).toMatchObject({ state: 'open' });
    expect(noted.data?.messages.at(-1)).toMatchObject({ kind: 'note', authorId: support.userId });
    const { data } = await customer.api.GET('/api/tickets/{ticketId}', at(ticketId));
    expect(data?.messages).toHaveLength(1);
    const { rows } = await relay.fixture.owner.query(
      'SELECT actor, action FROM audit_log WHERE subject = $1',
      [`ticket:${ticketId}`],
    );
    expect(rows).toEqual([{ actor: `user:${support.userId}`, action: 'ticket.noted' }]);
  });

  it('is nobody else’s', async () => {
    const [customer, stranger] = [await person(relay), await person(relay)];
    const ticketId = await open(customer);
    const base = `/api/tickets/${ticketId}`;
    const answers = await Promise.all([
      stranger.send(base),
      stranger.send(`${base}/messages`, json({ body: 'x' })),
      stranger.send(`${base}/close`, { method: 'POST' }),
      stranger.send(`${base}/reopen`, { method: 'POST' }),
      support.send(base),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await stranger.api.GET('/api/support/tickets')).response.status).toBe(403);
  });

  it('names a charge of its account, or none', async () => {
    const customer = await person(relay);
    const { response, error } = await customer.api.POST('/api/tickets', {
      body: { kind: 'refund', subject: 'Money back', body: 'It was bad.', chargeId: newId() },
    });
    expect(response.status).toBe(400);
    expect(error?.error).toMatchObject({ param: 'chargeId' });
  });

  it.each([
    ['an empty subject', { kind: 'question', subject: ' ', body: 'x' }],
    ['a subject of two lines', { kind: 'question', subject: 'a\nb', body: 'x' }],
    ['a long message', { kind: 'question', subject: 'a', body: 'x'.repeat(10_001) }],
    ['a NUL', { kind: 'question', subject: 'a', body: 'x\u0000' }],
    ['an unknown kind', { kind: 'praise', subject: 'a', body: 'x' }],
  ])('is refused with %s', async (_, body) => {
    const customer = await person(relay);
    expect((await customer.send('/api/tickets', json(body))).status).toBe(400);
  });

  it('is one of at most twenty open ones, even if they are opened at once', async () => {
    const customer = await person(relay);
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async () => {
        const body = { kind: 'question', subject: 's', body: 'b' };
        return (await customer.send('/api/tickets', json(body))).status;
      }),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
  });
});

describe('lists', () => {
  it('show a customer the newest first, page by page', async () => {
    const customer = await person(relay);
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.unshift(await open(customer));
    const first = await customer.api.GET('/api/tickets', { params: { query: { limit: 3 } } });
    const cursor = first.data!.nextCursor!;
    const second = await customer.api.GET('/api/tickets', { params: { query: { limit: 3, cursor } } });
    expect([...first.data!.items, ...second.data!.items].map(({ id }) => id)).toEqual(made);
    expect(second.data!.nextCursor).toBeNull();
  });

  it('show support the newest or the longest waiting first, by state, type and account', async () => {
    const customer = await person(relay);
    const made = [await open(customer, 'billing'), await open(customer), await open(customer, 'billing')];
    await customer.api.POST('/api/tickets/{ticketId}/close', at(made[2]!));
    const query = { accountId: customer.accountId, limit: 2 };
    const listed = async (more: { state?: 'open'; kind?: 'billing'; cursor?: string }) =>
      (await support.api.GET('/api/support/tickets', { params: { query: { ...query, ...more } } })).data!;
    const all = await listed({});
    expect(all.items.map(({ id }) => id)).toEqual([made[2], made[1]]);
    const next = await listed({ cursor: all.nextCursor! });
    expect(next.items.map(({ id }) => id)).toEqual(made.slice(0, 1));
    const waiting = await listed({ state: 'open' });
    expect(waiting.items.map(({ id }) => id)).toEqual(made.slice(0, 2));
    expect((await listed({ state: 'open', kind: 'billing' })).items).toEqual(waiting.items.slice(0, 1));
  });

  it('have an assignee on the support team, whom customers do not see', async () => {
    const customer = await person(relay);
    const ticketId = await open(customer);
    const { data } = await support.api.GET('/api/support/colleagues');
    expect(data!.items).toContainEqual({ id: support.userId, email: support.email });
    const assign = (assigneeId: string | null) =>
      support.api.PUT('/api/support/tickets/{ticketId}/assignee', { ...at(ticketId), body: { assigneeId } });
    expect((await assign(support.userId)).data).toMatchObject({ assigneeId: support.userId });
    expect((await assign(customer.userId)).response.status).toBe(400);
    const seen = (await customer.api.GET('/api/tickets/{ticketId}', at(ticketId))).data!;
    expect(Object.keys(seen)).not.toContain('assigneeId');
  });
});

describe('a request for the reseller rate', () => {
  const grant = (by: Person, ticketId: string, requestId: string = newId()) =>
    by.api.POST('/api/admin/tickets/{ticketId}/reseller-rate', { ...at(ticketId), body: { requestId } });

  it('shows support the verified volume, and is refused below the threshold', async () => {
    const customer = await person(relay);
    const ticketId = await open(customer, 'reseller_rate');
    const { data } = await support.api.GET('/api/support/tickets/{ticketId}', at(ticketId));
    expect(data?.reseller).toEqual({
      verifiedTokens: '0',
      thresholdTokens: '50',
      isEligible: false,
      rate: '1.3',
    });
    const admin = await person(relay, { roles: ['admin'] });
    expect((await grant(admin, ticketId)).response.status).toBe(409);
    expect((await grant(support, ticketId)).response.status).toBe(403);
  });

  it('is granted once by an administrator, from now on', async () => {
    const reseller = await relay.customer('5');
    const customer = await person(relay, { accountId: reseller.accountId });
    const chat = {
      model: 'vendora-chat',
      messages: [{ role: 'user', content: 'word '.repeat(100) }],
      max_tokens: 50,
    };
    expect((await reseller.send('/v1/chat/completions', json(chat))).status).toBe(200);
    const ticketId = await open(customer, 'reseller_rate');
    await until('the volume to be settled', async () => {
      const { data } = await support.api.GET('/api/support/tickets/{ticketId}', at(ticketId));
      return data?.reseller?.isEligible === true;
    });
    const admin = await person(relay, { roles: ['admin'] });
    const requestId = newId();
    const answers = await Promise.all(Array.from({ length: 10 }, () => grant(admin, ticketId, requestId)));
    expect(answers.map(({ data }) => data?.outcome)).toEqual(answers.map(() => 'rate_granted'));
    expect((await grant(admin, ticketId)).data).toMatchObject({
      state: 'answered',
      reseller: { rate: '1.2' },
    });
    const { rows } = await relay.fixture.owner.query(
      'SELECT count(*)::int AS count FROM account_rate_versions WHERE account_id = $1',
      [reseller.accountId],
    );
    expect(rows).toEqual([{ count: 1 }]);
    const { data } = await customer.api.GET('/api/tickets/{ticketId}', at(ticketId));
    expect(data?.messages.filter(({ kind }) => kind === 'event')).toHaveLength(1);
    // The mail about the top-up comes with the event.
    const mails = await relay.fixture.owner.query(
      `SELECT template FROM mail_outbox WHERE recipient = $1 AND template <> 'top_up'`,
      [customer.email],
    );
    expect(mails.rows).toEqual([{ template: 'ticket_answered' }]);
  });

  it('is granted on no other type of ticket', async () => {
    const ticketId = await open(await person(relay), 'question');
    const admin = await person(relay, { roles: ['admin'] });
    expect((await grant(admin, ticketId)).response.status).toBe(409);
  });
});
