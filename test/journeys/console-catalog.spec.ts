import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person, visitor } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let admin: Person;
let colleague: Person;
let customer: Customer;

beforeAll(async () => {
  relay = await startRelay({ PRICE_LIST_AGE_SECONDS: '600' });
  admin = await person(relay, { roles: ['admin'] });
  colleague = await person(relay, { roles: ['admin'] });
  customer = await relay.customer('10');
});
afterAll(() => closeClean(relay));

async function change(...changes: Record<string, unknown>[]): Promise<void> {
  const { data } = await admin.api.POST('/api/admin/price-proposals', {
    body: { changes: changes as never },
  });
  const { response } = await colleague.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
    params: { path: { proposalId: data!.id } },
    body: { revision: 1 },
  });
  expect(response.status).toBe(200);
}

function image(model: string): Promise<Response> {
  return customer.send('/v1/images/generations', json({ model, prompt: 'a lighthouse [[instant]]' }));
}

const key = 'sk-upstream-secret-1';

describe('the catalog', () => {
  it('takes a model from nothing to its first sale', async () => {
    const { data: model } = await admin.api.POST('/api/admin/models', {
      body: {
        id: 'imgmodel-5',
        family: 'image',
        ownedBy: 'vendorb',
        limits: { maxImages: 4 },
        groups: ['Vendora-Main'],
      },
    });
    expect(model).toMatchObject({ unit: 'call', enabled: true, aliasOf: null, groups: ['Vendora-Main'] });
    const { data: channel } = await admin.api.POST('/api/admin/channels', {
      body: {
        id: 'vendor-b',
        protocol: 'openai-xai',
        baseUrl: `${relay.sandboxUrl}/`,
        apiKeys: [key, 'sandbox-key'],
        allowPrivateAddress: true,
        priority: 5,
        models: { 'imgmodel-5': 'imgmodel-4' },
        groups: ['Vendora-Main'],
      },
    });
    expect(channel).toMatchObject({
      baseUrl: relay.sandboxUrl,
      weight: 1,
      models: { 'imgmodel-5': 'imgmodel-4' },
    });
    expect(channel?.keyMarks).toHaveLength(2);
    expect(JSON.stringify(channel)).not.toContain(key);
    expect((await image('imgmodel-5')).status).toBe(404);
    await change({ kind: 'price', model: 'imgmodel-5', price: { unitPrice: '0.07' } });
    const { data: shown } = await admin.api.GET('/api/admin/channels/{channelId}', {
      params: { path: { channelId: 'vendor-b' } },
    });
    const { approvalId, ...created } = channel!;
    expect([shown, approvalId]).toEqual([created, null]);
    await admin.api.PATCH('/api/admin/channels/{channelId}', {
      params: { path: { channelId: 'vendor-b' } },
      body: { apiKeys: ['sandbox-key'] },
    });
    await until('it is for sale', async () => (await image('imgmodel-5')).status === 200);
    const { rows } = await relay.fixture.billing.query<{ amount: string; channel: string }>(
      `SELECT trim_scale(settled / 1e9)::text AS amount, channel_id AS channel FROM charges WHERE model_id = 'imgmodel-5'
       AND state = 'settled'`,
    );
    expect(rows).toEqual([{ amount: '0.07', channel: 'vendor-b' }]);
  });

  it('keeps upstream keys out of answers and out of the audit log', async () => {
    const { data } = await admin.api.GET('/api/admin/channels');
    const { rows } = await relay.fixture.billing.query(
      `SELECT action, before, after FROM audit_log WHERE subject = 'channel:vendor-b' ORDER BY id`,
    );
    expect(rows.map(({ action }: { action: string }) => action)).toEqual([
      'channel.created',
      'channel.changed',
    ]);
    expect(JSON.stringify([data, rows])).not.toContain(key);
    expect(relay.logged()).not.toContain(key);
  });

  it('creates aliases, which cost the same as their model', async () => {
    const create = (body: Record<string, unknown>) =>
      admin.api.POST('/api/admin/models', { body: { ownedBy: 'vendorb', ...body } as never });
    const { data } = await create({
      id: 'imgmodel-5-latest',
      aliasOf: 'imgmodel-5',
      groups: ['Vendora-Main'],
    });
    expect(data).toMatchObject({ family: 'image', unit: 'call', aliasOf: 'imgmodel-5' });
    const refused: [Record<string, unknown>, string][] = [
      [{ id: 'x1', aliasOf: 'nothing' }, 'aliasOf'],
      [{ id: 'x2', aliasOf: 'imgmodel-5-latest' }, 'aliasOf'],
      [{ id: 'x3', aliasOf: 'imgmodel-5', family: 'video' }, 'aliasOf'],
      [{ id: 'x4' }, 'family'],
      [{ id: 'x5', family: 'chat' }, 'unit'],
      [{ id: 'x6', family: 'video', unit: 'call' }, 'unit'],
      [{ id: 'x7', family: 'image', groups: ['Nobody'] }, 'groups'],
      [{ id: 'x8', family: 'video', limits: { minSeconds: 9, maxSeconds: 3 } }, 'limits'],
      [{ id: 'a//b', family: 'image' }, 'id'],
      [{ id: 'x9', family: 'image', ownedBy: '' }, 'ownedBy'],
    ];
    for (const [body, param] of refused) {
      const { error, response } = await create(body);
      expect({ body, status: response.status, param: error?.error.param }).toEqual({
        body,
        status: 400,
        param,
      });
    }
    expect((await create({ id: 'imgmodel-5', family: 'image' })).response.status).toBe(409);
  });

  it('switches a model off and on at once', async () => {
    const path = { params: { path: { model: 'imgmodel-4' } } };
    await admin.api.PATCH('/api/admin/models/{model}', { ...path, body: { enabled: false } });
    const until404 = async () => (await image('imgmodel-4')).status === 404;
    await until('it is off', until404);
    const { data } = await admin.api.PATCH('/api/admin/models/{model}', { ...path, body: { enabled: true } });
    expect(data).toMatchObject({ enabled: true, limits: { maxImages: 10 } });
    await until('it is on', async () => (await image('imgmodel-4')).status === 200);
    const missing = { params: { path: { model: 'nothing' } } };
    expect((await admin.api.GET('/api/admin/models/{model}', missing)).response.status).toBe(404);
    const patch = await admin.api.PATCH('/api/admin/models/{model}', { ...missing, body: { enabled: true } });
    expect(patch.response.status).toBe(404);
  });

  it('creates groups with their multiplier, rule, models and limits', async () => {
    const { data } = await admin.api.POST('/api/admin/groups', {
      body: {
        name: 'Partners',
        multiplier: '0.85',
        models: ['imgmodel-4', 'vendora-chat'],
        requestsPerMinute: 60,
      },
    });
    expect(data).toMatchObject({
      multiplier: '0.85',
      fixedPerCall: null,
      requestsPerMinute: 60,
      maxRunningTasks: null,
    });
    const path = { params: { path: { group: 'Partners' } } };
    await admin.api.PATCH('/api/admin/groups/{group}', {
      ...path,
      body: { requestsPerMinute: null, maxRunningTasks: 3, maxConcurrentRequests: 9 },
    });
    const set = await admin.api.PUT('/api/admin/groups/{group}/models', {
      ...path,
      body: { models: ['imgmodel-4'] },
    });
    expect(set.data).toMatchObject({
      requestsPerMinute: null,
      maxRunningTasks: 3,
      maxConcurrentRequests: 9,
      models: ['imgmodel-4'],
    });
    const unknown = await admin.api.PUT('/api/admin/groups/{group}/models', {
      ...path,
      body: { models: ['nothing'] },
    });
    expect(unknown.error?.error.message).toBe('models: there is no model nothing.');
    expect((await admin.api.POST('/api/admin/groups', { body: { name: 'Partners' } })).response.status).toBe(
      409,
    );
    const partners = { params: { query: { group: 'Partners' } } };
    const partner = await person(relay);
    await admin.api.PUT('/api/admin/accounts/{accountId}/groups/{group}', {
      params: { path: { accountId: partner.accountId, group: 'Partners' } },
      body: {},
    });
    expect((await partner.api.GET('/api/public/prices', partners)).data?.items).toEqual([]);
    await admin.api.PATCH('/api/admin/channels/{channelId}', {
      params: { path: { channelId: 'sandbox' } },
      body: { groups: ['Vendora-Main', 'Public-Relay', 'Partners'] },
    });
    const { data: listed } = await partner.api.GET('/api/public/prices', partners);
    expect(listed?.items).toMatchObject([
      {
        id: 'imgmodel-4',
        groups: expect.arrayContaining([
          expect.objectContaining({ group: 'Partners', price: { unitPrice: '0.0255' } }),
        ]),
      },
    ]);
  });

  it('lets a second administrator approve what a group sells far below its list price', async () => {
    const path = { params: { path: { group: 'Public-Relay' } } };
    const { data: before } = await admin.api.GET('/api/admin/groups/{group}', path);
    const { data: set } = await admin.api.PUT('/api/admin/groups/{group}/models', {
      ...path,
      body: { models: [...before!.models, 'imgmodel-5'] },
    });
    expect(set).toMatchObject({ models: before!.models, approvalId: expect.any(String) });
    const approve = (by: Person) =>
      by.api.POST('/api/approvals/{approvalId}/approve', {
        params: { path: { approvalId: set!.approvalId! } },
        body: {},
      });
    expect((await approve(admin)).error?.error.code).toBe('second_person_required');
    expect((await approve(colleague)).data).toMatchObject({
      kind: 'group.models',
      subject: 'group:Public-Relay',
      details: { sales: [{ group: 'Public-Relay', model: 'imgmodel-5' }] },
      state: 'approved',
    });
    const { data: after } = await admin.api.GET('/api/admin/groups/{group}', path);
    expect(after?.models).toEqual([...before!.models, 'imgmodel-5'].sort());
    const takeBack = (was: string[]) =>
      admin.api.PUT('/api/admin/groups/{group}/models', {
        ...path,
        body: { models: before!.models, was: { models: was } },
      });
    expect((await takeBack(before!.models)).error?.error).toMatchObject({
      code: 'conflict',
      param: 'was.models',
    });
    const { data: back } = await takeBack(after!.models);
    expect(back).toMatchObject({ models: before!.models, approvalId: null });
  });

  it('lets a second administrator approve that such a group is opened to everyone', async () => {
    const { data: group } = await admin.api.POST('/api/admin/groups', {
      body: { name: 'Shut', models: ['imgmodel-4'] } as never,
    });
    await relay.fixture.owner.query(
      `INSERT INTO multiplier_versions (group_name, multiplier, effective_from) VALUES ('Shut', 0.5, now())`,
    );
    const path = { params: { path: { group: 'Shut' } } };
    const { data: asked } = await admin.api.PATCH('/api/admin/groups/{group}', {
      ...path,
      body: { open: true },
    });
    expect(asked).toMatchObject({ ...group, multiplier: '0.5', approvalId: expect.any(String) });
    const { data: approved } = await colleague.api.POST('/api/approvals/{approvalId}/approve', {
      params: { path: { approvalId: asked!.approvalId! } },
      body: {},
    });
    expect(approved).toMatchObject({ kind: 'group.open', subject: 'group:Shut', state: 'approved' });
    const { data: open } = await admin.api.GET('/api/admin/groups/{group}', path);
    expect(open?.open).toBe(true);
    await admin.api.PATCH('/api/admin/groups/{group}', { ...path, body: { open: false } });
  });

  it('is listed page by page', async () => {
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const query: { limit: number; cursor?: string } = { limit: 4, ...(cursor ? { cursor } : {}) };
      const { data } = await admin.api.GET('/api/admin/models', { params: { query } });
      ids.push(...data!.items.map(({ id }) => id));
      cursor = data!.nextCursor;
    } while (cursor);
    expect(ids).toHaveLength(16);
    expect(new Set(ids).size).toBe(16);
    const { data: groups } = await admin.api.GET('/api/admin/groups');
    expect(groups?.items.find(({ name }) => name === 'Public-Relay')).toMatchObject({
      fixedPerCall: '0.0002',
    });
  });

  it('only accepts addresses that keys may be sent to', async () => {
    const create = (baseUrl: string, more: Record<string, unknown> = {}) =>
      admin.api.POST('/api/admin/channels', {
        body: { id: 'addressed', protocol: 'openai', baseUrl, apiKeys: [key], ...more } as never,
      });
    const refused = [
      'http://vendor.example',
      'https://127.0.0.1',
      'https://[::1]/v1',
      'https://10.1.2.3:8443',
      'https://localhost',
      'https://db.internal',
      'ftp://vendor.example',
      'vendor.example',
      'https://name:word@vendor.example',
      'https://vendor.example/?a=1',
      'https://169.254.169.254/latest',
      'https://2130706433/',
    ];
    for (const baseUrl of refused) {
      const { error, response } = await create(baseUrl);
      expect({ baseUrl, status: response.status, param: error?.error.param }).toEqual({
        baseUrl,
        status: 400,
        param: 'baseUrl',
      });
    }
    expect((await create('https://vendor.example/v1/')).data?.baseUrl).toBe('https://vendor.example/v1');
    const path = { params: { path: { channelId: 'addressed' } } };
    const patch = (body: Record<string, unknown>) =>
      admin.api.PATCH('/api/admin/channels/{channelId}', { ...path, body: body as never });
    expect((await patch({ baseUrl: 'https://elsewhere.example' })).error?.error.param).toBe('apiKeys');
    expect((await patch({ baseUrl: 'https://elsewhere.example', apiKeys: ['k2'] })).response.status).toBe(
      200,
    );
    expect((await patch({ apiKeys: [] })).response.status).toBe(400);
    expect((await patch({ weight: 0 })).response.status).toBe(400);
    expect((await patch({ groups: ['Nobody'] })).error?.error.param).toBe('groups');
    expect((await patch({ models: { nothing: 'x' } })).error?.error.param).toBe('models');
    expect((await patch({ enabled: false, maxConcurrency: 3 })).data).toMatchObject({
      enabled: false,
      maxConcurrency: 3,
    });
  });

  it('is for administrators', async () => {
    const finance = await person(relay, { roles: ['finance', 'support'] });
    for (const path of ['models', 'groups', 'channels']) {
      expect((await finance.send(`/api/admin/${path}`)).status).toBe(403);
    }
  });

  it('accepts many changes at once', async () => {
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        at % 2
          ? admin.api.PATCH('/api/admin/channels/{channelId}', {
              params: { path: { channelId: 'addressed' } },
              body: { priority: at },
            })
          : admin.api.PATCH('/api/admin/models/{model}', {
              params: { path: { model: 'vendora-3d' } },
              body: { ownedBy: `vendor${at}` },
            }),
      ),
    );
    expect(results.every(({ response }) => response.status === 200)).toBe(true);
  });
});

describe('the public price list', () => {
  const guest = () => visitor(relay);

  it('shows everyone what is for sale, by type and vendor, in every group', async () => {
    const { data } = await guest().GET('/api/public/prices', { params: { query: { limit: 200 } } });
    const keys = data!.items.map(({ family, vendor, id }) => `${family} ${vendor} ${id}`);
    expect(keys).toEqual([...keys].sort());
    expect(data!.items.find(({ id }) => id === 'vendora-chat')).toMatchObject({
      unit: 'million_tokens',
      listPrice: { input: '2.5', cachedInput: '1.25', output: '10' },
      groups: [{ group: 'Vendora-Main', rule: 'list', multiplier: '1', available: true }],
    });
    expect(data!.items.find(({ id }) => id === 'imgmodel-lite')).toMatchObject({
      listPrice: { unitPrice: '0.01' },
      groups: [{ group: 'Public-Relay', rule: 'fixed_per_call', price: { unitPrice: '0.0002' } }],
    });
    expect(data!.items.find(({ id }) => id === 'vendora-imagine-video-1.5-preview')).toMatchObject({
      aliasOf: 'vendora-imagine-video-1.5',
      unit: 'second',
      listPrice: { unitPrice: '0.05' },
    });
  });

  it('is filtered and read page by page', async () => {
    const read = async (query: Record<string, unknown>) =>
      (await guest().GET('/api/public/prices', { params: { query: query as never } })).data!;
    const names = async (query: Record<string, unknown>) => (await read(query)).items.map(({ id }) => id);
    // The alias has no channel.
    expect(await names({ vendor: 'vendorb' })).toEqual([
      'chatmodel-2',
      'imgmodel-4',
      'imgmodel-5',
      'imgmodel-lite',
      'vidmodel-3',
    ]);
    expect(await names({ group: 'Public-Relay' })).toEqual(['vendora-chat-lite', 'imgmodel-lite']);
    expect(await names({ text: 'VIDEO-1' })).toEqual([
      'vendora-imagine-video-1.5',
      'vendora-imagine-video-1.5-preview',
    ]);
    const first = await read({ family: 'image', limit: 2 });
    const second = await read({ family: 'image', limit: 2, cursor: first.nextCursor });
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(4);
    expect(await names({ text: 'nothing like it' })).toEqual([]);
    expect(
      (await guest().GET('/api/public/prices', { params: { query: { family: 'dance' as never } } })).response
        .status,
    ).toBe(400);
  });

  it('says when nothing has changed', async () => {
    const url = `${relay.consoleUrl}/api/public/prices?family=image`;
    const first = await fetch(url);
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    const again = await fetch(url, { headers: { 'if-none-match': `W/${etag}, "other"` } });
    expect({ status: again.status, body: await again.text(), etag: again.headers.get('etag') }).toEqual({
      status: 304,
      body: '',
      etag,
    });
    await change({ kind: 'price', model: 'imgmodel-5', price: { unitPrice: '0.08' } });
    const changed = await fetch(url, { headers: { 'if-none-match': etag } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  it('has the history of a price, including announced changes, and is not cached past them', async () => {
    const later = new Date(Date.now() + 300_000).toISOString();
    const { data: proposal } = await admin.api.POST('/api/admin/price-proposals', {
      body: {
        changes: [{ kind: 'price', model: 'imgmodel-5', price: { unitPrice: '0.09' } }],
        effectiveAt: later,
      },
    });
    await colleague.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
      params: { path: { proposalId: proposal!.id } },
      body: { revision: 1 },
    });
    const { data, response } = await guest().GET('/api/public/prices/{model}/history', {
      params: { path: { model: 'imgmodel-5-latest' } },
    });
    const prices = data!.items.filter(({ kind }) => kind === 'price');
    expect(prices).toMatchObject([
      { price: { unitPrice: '0.09' }, state: 'announced', effectiveFrom: later },
      { price: { unitPrice: '0.08' }, state: 'in_force' },
      { price: { unitPrice: '0.07' }, state: 'past' },
    ]);
    expect(data!.items.at(-1)).toMatchObject({ kind: 'multiplier', group: 'Vendora-Main', multiplier: '1' });
    expect(Number(/max-age=(\d+)/.exec(response.headers.get('cache-control')!)?.[1])).toBeLessThan(300);
    const { data: list } = await guest().GET('/api/public/prices', {
      params: { query: { vendor: 'vendorb' } },
    });
    expect(list?.items.find(({ id }) => id === 'imgmodel-5')).toMatchObject({
      listPrice: { unitPrice: '0.08' },
      nextChangeAt: later,
    });
    const page = await guest().GET('/api/public/prices/{model}/history', {
      params: { path: { model: 'imgmodel-5' }, query: { limit: 2 } },
    });
    const rest = await guest().GET('/api/public/prices/{model}/history', {
      params: { path: { model: 'imgmodel-5' }, query: { cursor: page.data!.nextCursor! } },
    });
    expect([...page.data!.items, ...rest.data!.items]).toEqual(data!.items);
    const nothing = await guest().GET('/api/public/prices/{model}/history', {
      params: { path: { model: 'nothing' } },
    });
    expect(nothing.response.status).toBe(404);
  });

  it('does not list what no upstream serves', async () => {
    await admin.api.PATCH('/api/admin/channels/{channelId}', {
      params: { path: { channelId: 'sandbox-mesh3d' } },
      body: { enabled: false },
    });
    const { data } = await guest().GET('/api/public/prices', { params: { query: { family: '3d' } } });
    expect(data?.items).toEqual([]);
  });
});
