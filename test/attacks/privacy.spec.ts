import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#platform/ids.js';
import { type Person, person, visitor } from '../support/console.js';
import { tablesWith } from '../support/everywhere.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({ RETENTION_PROMPTS_DAYS: '0', RETENTION_INTERVAL_SECONDS: '0.1' });
}, 60_000);
afterAll(() => relay?.close());

const auditText = async (accountId: string): Promise<string> => {
  const { rows } = await relay.fixture.owner.query<{ text: string }>(
    `SELECT coalesce(string_agg(l::text, E'\\n'), '') AS text FROM audit_log l WHERE account_id = $1`,
    [accountId],
  );
  return rows[0]!.text;
};

/** A customer with credits and a key. */
async function owner(credits = '5'): Promise<Person & { apiKey: string }> {
  const someone = await person(relay, { credits });
  const { data } = await someone.api.POST('/api/keys', { body: { name: 'a key', group: 'Vendora-Main' } });
  return { ...someone, apiKey: data!.apiKey };
}

async function createVideo({ apiKey }: { apiKey: string }, prompt: string): Promise<string> {
  const body = { model: 'vendora-imagine-video', prompt, seconds: '4', size: '1280x720' };
  const response = await fetch(
    `${relay.baseUrl}/v1/videos`,
    json(body, { authorization: `Bearer ${apiKey}` }),
  );
  return ((await response.json()) as { id: string }).id;
}

const view = (staff: Person, accountId: string, body: { reason: string; ticketId?: string }) =>
  staff.api.POST('/api/support/accounts/{accountId}/view', { params: { path: { accountId } }, body });

describe('the audit log', () => {
  it('keeps neither names nor addresses of a customer, whatever they and support do', async () => {
    const someone = await person(relay);
    const support = await person(relay, { roles: ['support'] });
    const name = `Ada ${newId()}`;
    await someone.api.PATCH('/api/account', { body: { name } });
    const { data: made } = await someone.api.POST('/api/keys', {
      body: { name, group: 'Public-Relay', allowedIps: ['192.0.2.77'] },
    });
    const params = { path: { accountId: someone.accountId } };
    await support.api.POST('/api/support/accounts/{accountId}/freeze', {
      params,
      body: { reason: `Asked for by ${someone.email}.` },
    });
    await support.api.POST('/api/support/accounts/{accountId}/unfreeze', {
      params,
      body: { note: `${someone.email} wrote again.` },
    });
    await view(support, someone.accountId, { reason: `A letter of ${someone.email}.` });
    const text = await auditText(someone.accountId);
    for (const action of ['account.changed', 'key.created', 'account.frozen', 'account.view_began'])
      expect(text).toContain(action);
    for (const secret of [someone.email, name, '192.0.2.77']) expect(text).not.toContain(secret);
    expect(text).toContain(made!.keyId);
  });
});

describe('a look of support at a console', () => {
  it('needs a reason, and a ticket that is named must be of that account', async () => {
    const [someone, other] = [await person(relay), await person(relay)];
    const support = await person(relay, { roles: ['support'] });
    const params = { path: { accountId: someone.accountId } };
    const path = '/api/support/accounts/{accountId}/view';
    for (const body of [undefined, {}, { reason: '' }, { reason: '   ' }] as never[]) {
      const { response } = await support.api.POST(path, { params, body });
      expect(response.status).toBe(400);
    }
    const { data: foreign } = await other.api.POST('/api/tickets', {
      body: { kind: 'question', subject: 'Mine', body: 'Not theirs.' },
    });
    const { error } = await view(support, someone.accountId, {
      reason: 'A question of theirs.',
      ticketId: foreign!.id,
    });
    expect(error).toMatchObject({ error: { code: 'invalid_value', param: 'ticketId' } });
    expect(await auditText(someone.accountId)).not.toContain('account.view_began');
  });

  it('is shown to the customer: which role, when and why, and no name', async () => {
    const [someone, stranger] = [await person(relay), await person(relay)];
    const support = await person(relay, { roles: ['support'] });
    const { data: ticket } = await someone.api.POST('/api/tickets', {
      body: { kind: 'question', subject: 'Why', body: 'Why did my call fail?' },
    });
    const ticketId = ticket!.id;
    await view(support, someone.accountId, { reason: 'To see the call of the ticket.', ticketId });
    const { data } = await someone.api.GET('/api/activity');
    expect(data!.items[0]).toMatchObject({
      action: 'account.view_began',
      by: 'support',
      reason: 'To see the call of the ticket.',
      ticketId,
    });
    expect(data!.items.at(-1)).toMatchObject({ action: 'session.opened', by: 'you' });
    expect(JSON.stringify(data)).not.toContain(support.userId);
    const { data: theirs } = await stranger.api.GET('/api/activity');
    expect(theirs!.items.map(({ action }) => action)).toEqual(['session.opened']);
  });
});

describe('the retention schedule', () => {
  it('is told to everybody, and its runs to administrators alone', async () => {
    const [admin, support] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['support'] }),
    ];
    const { data: told } = await visitor(relay).GET('/api/public/retention');
    expect(told!.items).toContainEqual({ class: 'prompts', keptSeconds: 0 });
    await until('a run', async () => {
      const { data } = await admin.api.GET('/api/admin/retention');
      return data!.items.every(({ lastRunAt }) => lastRunAt !== null);
    });
    expect((await support.api.GET('/api/admin/retention')).response.status).toBe(403);
  });

  it('leaves no prompt of a task that ended longer ago, and its views as they were', async () => {
    const secret = `a lighthouse for ${newId()}`;
    const someone = await owner();
    const id = await createVideo(someone, secret);
    const show = async () => (await someone.api.GET('/api/tasks')).data!.items[0]!;
    await until('the task to end', async () => (await show()).state === 'completed');
    await until(
      'the prompt to be gone',
      async () => (await tablesWith(relay.fixture.owner, secret)).length === 0,
    );
    expect(await show()).toMatchObject({ id, state: 'completed', prompt: '', seconds: 4, size: '1280x720' });
    const shown = await fetch(`${relay.baseUrl}/v1/videos/${id}`, {
      headers: { authorization: `Bearer ${someone.apiKey}` },
    });
    expect(await shown.json()).toMatchObject({ id, status: 'completed', prompt: '', size: '1280x720' });
  });
});
