import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey, grantAccountGroup, withdrawAccountGroup } from '#people/accounts/customers.js';
import { groupsOfAccount } from '#groups/account-groups.js';
import { type ConsoleClient, type Person, person, visitor } from '../support/console.js';
import { closeClean, json, type Relay, startRelay } from '../support/relay.js';

const CHEAP = 'Low-Price';
const MODEL = 'vendora-chat-lite';

let relay: Relay;
let admin: Person;
let someone: Person;

beforeAll(async () => {
  relay = await startRelay({ CATALOG_LIFE_SECONDS: '0', KEY_CACHE_SECONDS: '60' });
  admin = await person(relay, { roles: ['admin'] });
  someone = await person(relay, { credits: '5' });
  const { response, data } = await admin.api.POST('/api/admin/groups', {
    body: { name: CHEAP, multiplier: '0.8', models: [MODEL] } as never,
  });
  expect({ status: response.status, open: data?.open }).toEqual({ status: 201, open: false });
  await relay.fixture.owner.query(`INSERT INTO channel_groups VALUES ('sandbox', $1)`, [CHEAP]);
});
afterAll(() => closeClean(relay));

const keyIn = (who: Person, group: string) => who.api.POST('/api/keys', { body: { name: 'a key', group } });
const grantTo = (who: Person, ticketId?: string) =>
  admin.api.PUT('/api/admin/accounts/{accountId}/groups/{group}', {
    params: { path: { accountId: who.accountId, group: CHEAP } },
    body: ticketId === undefined ? {} : { ticketId },
  });

async function withdrawFrom(who: Person): Promise<void> {
  const { response } = await admin.api.DELETE('/api/admin/accounts/{accountId}/groups/{group}', {
    params: { path: { accountId: who.accountId, group: CHEAP } },
  });
  expect(response.status).toBe(200);
}

async function chat(apiKey: string): Promise<{ status: number; code: string | undefined; message: string }> {
  const response = await fetch(`${relay.baseUrl}/v1/chat/completions`, {
    ...json({ model: MODEL, messages: [{ role: 'user', content: 'hello' }] }),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  });
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, code: body.error?.code, message: body.error?.message ?? '' };
}

async function groupsOf(who: Person): Promise<string[]> {
  return (await who.api.GET('/api/groups')).data!.groups;
}

describe('a group that was not granted', () => {
  it('is not for customers’ keys, whatever they name', async () => {
    expect(await groupsOf(someone)).toEqual(['Public-Relay', 'Vendora-Main']);
    for (const group of [CHEAP, 'Nowhere']) {
      const { response, error } = await keyIn(someone, group);
      expect({ group, status: response.status, error }).toMatchObject({
        group,
        status: 400,
        error: { error: { code: 'invalid_value', param: 'group' } },
      });
    }
    for (const group of ['Public-Relay', 'Vendora-Main']) {
      expect((await keyIn(someone, group)).response.status).toBe(201);
    }
  });

  it('is not for operators’ keys either until they grant it', async () => {
    const of = { accountId: someone.accountId, group: CHEAP };
    const { billing } = relay.fixture;
    const doer = { by: 'operator:me', actor: null };
    await expect(createKey(billing, { ...of, name: 'a key' })).rejects.toMatchObject({
      code: 'group_not_granted',
    });
    expect(await grantAccountGroup(billing, of, doer)).toBe(true);
    expect(await grantAccountGroup(billing, of, doer)).toBe(false);
    expect(await createKey(billing, { ...of, name: 'a key' })).toMatchObject({ apiKey: expect.any(String) });
    expect(await groupsOfAccount(billing, someone.accountId)).toContainEqual({
      group: CHEAP,
      isOpen: false,
      grant: { by: 'operator:me', at: expect.any(Date), ticketId: null },
    });
    expect(await withdrawAccountGroup(billing, of, doer)).toBe(true);
    expect(await withdrawAccountGroup(billing, of, doer)).toBe(false);
    await expect(grantAccountGroup(billing, { ...of, group: 'Nowhere' }, doer)).rejects.toMatchObject({
      code: 'group_not_found',
    });
  });

  it('is granted only by administrators, and not to themselves', async () => {
    for (const roles of [[], ['support'], ['finance']] as const) {
      const other = await person(relay, { roles });
      const { response } = await other.api.PUT('/api/admin/accounts/{accountId}/groups/{group}', {
        params: { path: { accountId: other.accountId, group: CHEAP } },
        body: {},
      });
      expect(response.status).toBe(403);
    }
    const { response, error } = await grantTo(admin);
    expect({ status: response.status, error }).toMatchObject({
      status: 409,
      error: { error: { code: 'second_person_required' } },
    });
  });
});

describe('the price in a group that is not open', () => {
  /** All public prices, as a given person sees them. */
  async function seenBy(api: ConsoleClient, model: string) {
    const params = { path: { model } };
    const [list, history, record] = await Promise.all([
      api.GET('/api/public/prices', { params: { query: { limit: 200 } } }),
      api.GET('/api/public/prices/{model}/history', { params }),
      api.GET('/api/public/models/{model}/record', { params }),
    ]);
    return {
      text: JSON.stringify([list.data, history.data]),
      ids: list.data!.items.map(({ id }) => id),
      statuses: [history.response.status, record.response.status],
      keeping: [list, history, record].map(({ response }) => response.headers.get('cache-control')!),
    };
  }

  beforeAll(async () => {
    const { owner } = relay.fixture;
    await owner.query(
      `INSERT INTO models (id, family, unit, owned_by) VALUES ('for-them-alone', 'chat', 'call', 'vendorb')`,
    );
    await owner.query(`INSERT INTO group_models (group_name, model_id) VALUES ($1, 'for-them-alone')`, [
      CHEAP,
    ]);
    await owner.query(`INSERT INTO price_versions (model_id, unit_price) VALUES ('for-them-alone', 1)`);
    await owner.query(
      `INSERT INTO channel_models (channel_id, model_id, upstream_model) VALUES ('sandbox', 'for-them-alone', 'x')`,
    );
  });

  it('is hidden from everyone who does not have the group, including staff', async () => {
    const finance = await person(relay, { roles: ['finance'] });
    for (const api of [visitor(relay), someone.api, finance.api]) {
      const seen = await seenBy(api, MODEL);
      expect(seen.statuses).toEqual([200, 200]);
      expect(seen.ids).toContain(MODEL);
      expect(seen.ids).not.toContain('for-them-alone');
      expect(seen.text).not.toContain(CHEAP);
      expect((await seenBy(api, 'for-them-alone')).statuses).toEqual([404, 404]);
      for (const keeping of seen.keeping) expect(keeping).toMatch(/^public, max-age=/);
    }
    const { data } = await visitor(relay).GET('/api/public/prices', {
      params: { query: { group: CHEAP } },
    });
    expect(data!.items).toEqual([]);
  });

  it('is shown to accounts in the group, in answers that no cache may share, and to those who set prices', async () => {
    const partner = await person(relay);
    await grantTo(partner);
    const seen = await seenBy(partner.api, MODEL);
    expect(seen.text).toContain(CHEAP);
    expect(seen.ids).toContain('for-them-alone');
    expect(seen.keeping).toEqual(Array<string>(3).fill('private, no-cache'));
    const whole = { params: { path: { model: 'for-them-alone' } } };
    const { data } = await admin.api.GET('/api/admin/prices/{model}/history', whole);
    expect(data!.items.map(({ group }) => group)).toContain(CHEAP);
    expect((await partner.api.GET('/api/admin/prices/{model}/history', whole)).response.status).toBe(403);
  });
});

describe('a group that was granted', () => {
  it('serves the account until it is withdrawn, whatever gateways have cached', async () => {
    expect((await grantTo(someone)).response.status).toBe(200);
    expect(await groupsOf(someone)).toContain(CHEAP);
    const { data } = await keyIn(someone, CHEAP);
    expect(await chat(data!.apiKey)).toMatchObject({ status: 200 });
    const stranger = await person(relay, { credits: '5' });
    expect((await keyIn(stranger, CHEAP)).response.status).toBe(400);

    await withdrawFrom(someone);
    const before = (await someone.api.GET('/api/account')).data?.balance;
    const refused = await chat(data!.apiKey);
    expect(refused).toMatchObject({ status: 403, code: 'group_not_granted' });
    expect(refused.message).toContain(CHEAP);
    expect(refused.message).toContain('ask support');
    expect((await someone.api.GET('/api/account')).data?.balance).toEqual(before);

    await grantTo(someone);
    expect(await chat(data!.apiKey)).toMatchObject({ status: 200 });
    await withdrawFrom(someone);
  });

  it('answers the ticket that asked for it, and no other account’s', async () => {
    const asking = await person(relay);
    const { data: ticket } = await asking.api.POST('/api/tickets', {
      body: { kind: 'question', subject: 'The cheap group', body: 'May I use it?' },
    });
    expect((await grantTo(someone, ticket!.id)).response.status).toBe(400);
    expect((await grantTo(asking, ticket!.id)).data?.groups).toContainEqual({
      group: CHEAP,
      isOpen: false,
      grant: { by: `user:${admin.userId}`, at: expect.any(String), ticketId: ticket!.id },
    });
    const { data: answered } = await asking.api.GET('/api/tickets/{ticketId}', {
      params: { path: { ticketId: ticket!.id } },
    });
    expect(answered?.state).toBe('answered');
    expect(answered?.messages.at(-1)).toMatchObject({ kind: 'event', body: expect.stringContaining(CHEAP) });
  });

  it('can be opened to everyone, and closed again', async () => {
    const other = await person(relay, { credits: '1' });
    const params = { path: { group: CHEAP } };
    await admin.api.PATCH('/api/admin/groups/{group}', { params, body: { open: true } });
    const { data } = await keyIn(other, CHEAP);
    expect(await chat(data!.apiKey)).toMatchObject({ status: 200 });
    await admin.api.PATCH('/api/admin/groups/{group}', { params, body: { open: false } });
    expect(await chat(data!.apiKey)).toMatchObject({ status: 403, code: 'group_not_granted' });
  });
});
