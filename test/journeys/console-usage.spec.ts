import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let customer: Customer;
let owner: Person;
let support: Person;

beforeAll(async () => {
  relay = await startRelay();
  customer = await relay.customer('10');
  owner = await person(relay, { accountId: customer.accountId });
  support = await person(relay, { roles: ['support'] });
});
afterAll(() => closeClean(relay));

function image(model: string, n = 1, prompt = 'a lighthouse [[instant]]'): Promise<Response> {
  return customer.send('/v1/images/generations', json({ model, n, prompt }));
}

async function newest(filter: { model?: string; state?: 'refused' | 'held' | 'settled' | 'released' } = {}) {
  const { data } = await owner.api.GET('/api/usage', { params: { query: { limit: 1, ...filter } } });
  return data!.items[0]!;
}

async function explained(chargeId: string, by = owner) {
  const { data } = await by.api.GET('/api/charges/{chargeId}', { params: { path: { chargeId } } });
  return data!;
}

describe('a charge', () => {
  it('is explained with price, versions, rounding, hold, settlement and postings, and recalculated', async () => {
    await image('imgmodel-4', 3);
    const { chargeId } = await newest();
    const charge = await explained(chargeId);
    expect(charge).toMatchObject({
      state: 'settled',
      model: 'imgmodel-4',
      pricing: {
        rule: 'list',
        units: '3',
        unitPrice: '0.03',
        multiplier: '1',
        lines: null,
        versions: { price: { effectiveFrom: null }, multiplier: { effectiveFrom: null }, groupRule: null },
      },
      hold: { amount: '0.09' },
      settlement: { amount: '0.09', deliveredUnits: '3' },
      release: null,
      operatorLoss: '0',
      recomputed: { hold: '0.09', settlement: '0.09', operatorLoss: '0' },
      agrees: true,
      upstream: { status: 200, latencyMs: expect.any(Number), channel: null },
    });
    expect(charge.timeline.map(({ what }) => what)).toEqual(['held', 'settled']);
    expect(
      charge.transactions.map(({ kind, entries }) => [kind, entries.map((e) => [e.ledgerAccount, e.amount])]),
    ).toEqual([
      [
        'hold',
        [
          ['main', '-0.09'],
          ['held', '0.09'],
        ],
      ],
      [
        'settle',
        [
          ['held', '-0.09'],
          ['usage:image', '0.09'],
        ],
      ],
    ]);
  });

  it('that failed shows what was refunded', async () => {
    expect((await image('imgmodel-4', 1, 'a boat [[fault:reject-500]]')).status).toBeGreaterThanOrEqual(500);
    const charge = await explained((await newest({ state: 'released' })).chargeId);
    expect(charge).toMatchObject({ settlement: null, release: { amount: '0.03' }, agrees: true });
  });

  it('for tokens shows its lines, held and used', async () => {
    const messages = [{ role: 'user' as const, content: 'one two three' }];
    await customer.sdk().chat.completions.create({ model: 'vendora-chat', messages });
    const { chargeId } = await until('the answer is charged', () =>
      newest({ model: 'vendora-chat', state: 'settled' }),
    );
    const charge = await explained(chargeId);
    expect(charge.pricing).toMatchObject({
      unitPrice: null,
      lines: [{ kind: 'input', unitPrice: '0.0000025' }, {}, {}],
    });
    expect(charge.settlement?.lines?.map(({ kind }) => kind)).toEqual(['input', 'cached_input', 'output']);
    expect(charge).toMatchObject({ agrees: true });
    expect(charge.recomputed?.settlement).toBe(charge.settlement?.amount);
  });

  it('at a fixed price names the group’s rule', async () => {
    const relayed = await relay.customer('1', 'Public-Relay');
    const someone = await person(relay, { accountId: relayed.accountId });
    await relayed.send(
      '/v1/images/generations',
      json({ model: 'imgmodel-lite', prompt: 'a boat [[instant]]' }),
    );
    const { data } = await someone.api.GET('/api/usage');
    const charge = await explained(data!.items[0]!.chargeId, someone);
    expect(charge).toMatchObject({
      pricing: {
        rule: 'fixed_per_call',
        unitPrice: '0.0002',
        versions: { price: null, groupRule: { effectiveFrom: null } },
      },
      agrees: true,
    });
  });

  it('for a video names its task', async () => {
    const created = await customer.send(
      '/v1/videos',
      json({ model: 'vidmodel-3', prompt: 'waves', seconds: '2' }),
    );
    expect(created.status).toBe(200);
    const { chargeId } = await until('the video is charged', () =>
      newest({ model: 'vidmodel-3', state: 'settled' }),
    );
    const charge = await explained(chargeId);
    expect(charge).toMatchObject({ task: { state: 'completed' }, hold: { amount: '0.1' }, agrees: true });
    expect(charge.timeline[0]?.what).toBe('task created');
  });

  it('that was refused has a reason and no price', async () => {
    const poor = await relay.customer('0');
    const someone = await person(relay, { accountId: poor.accountId });
    await poor.send('/v1/images/generations', json({ model: 'imgmodel-4', prompt: 'a boat' }));
    const { data } = await someone.api.GET('/api/usage', {
      params: { query: { state: 'refused', family: 'image' } },
    });
    expect(data?.items).toMatchObject([
      { refusalCode: 'insufficient_user_quota', held: '0', family: 'image' },
    ]);
    expect(await explained(data!.items[0]!.chargeId, someone)).toMatchObject({
      refusal: { code: 'insufficient_user_quota' },
      pricing: null,
      hold: null,
      agrees: null,
    });
  });

  it('of somebody else does not exist, except for staff', async () => {
    const { chargeId } = await newest();
    const stranger = await person(relay);
    const path = { params: { path: { chargeId } } };
    expect((await stranger.api.GET('/api/charges/{chargeId}', path)).response.status).toBe(404);
    expect((await stranger.api.GET('/api/support/charges/{chargeId}', path)).response.status).toBe(403);
    const { data } = await support.api.GET('/api/support/charges/{chargeId}', path);
    expect(data?.upstream.channel).toMatch(/^sandbox/);
    const nothing = { params: { path: { chargeId: newId() } } };
    expect((await support.api.GET('/api/support/charges/{chargeId}', nothing)).response.status).toBe(404);
  });

  it('shows a mismatch if it was tampered with', async () => {
    await image('imgmodel-lite');
    await image('imgmodel-4');
    const { chargeId } = await newest();
    await relay.fixture.owner.query('UPDATE charges SET unit_price = 0.03, units = 2 WHERE id = $1', [
      chargeId,
    ]);
    expect(await explained(chargeId)).toMatchObject({ agrees: false, recomputed: { hold: '0.06' } });
    await relay.fixture.owner.query('UPDATE charges SET units = 1 WHERE id = $1', [chargeId]);
    expect(await explained(chargeId)).toMatchObject({ agrees: true });
  });
});

describe('a quote', () => {
  const quote = async (body: Record<string, unknown>) => {
    const { data, error, response } = await owner.api.POST('/api/quote', { body: body as never });
    return { data, error: error?.error, status: response.status };
  };

  it('says what a request would cost, and charges nothing', async () => {
    const before = await customer.balance();
    expect((await quote({ model: 'imgmodel-4', n: 3 })).data).toMatchObject({
      amount: '0.09',
      units: '3',
      covered: true,
    });
    expect((await quote({ model: 'vidmodel-3', seconds: 4 })).data).toMatchObject({ amount: '0.2' });
    expect((await quote({ model: 'vidmodel-3' })).data).toMatchObject({ units: '5', amount: '0.25' });
    const tokens = { input: 1_000, output: 10 };
    expect((await quote({ model: 'vendora-chat', tokens })).data).toMatchObject({
      amount: '0.0026',
      unitPrice: null,
      lines: [{ amount: '0.0025' }, { amount: '0' }, { amount: '0.0001' }],
    });
    const poor = await person(relay);
    const { data: uncovered } = await poor.api.POST('/api/quote', { body: { model: 'imgmodel-4', n: 3 } });
    expect(uncovered).toMatchObject({ amount: '0.09', covered: false });
    expect((await quote({ model: 'vidmodel-3', seconds: 1_000_000 })).status).toBe(400);
    expect(await customer.balance()).toEqual(before);
  });

  it('for a text is what a gateway would hold for it, and for a key what it may use', async () => {
    const text = 'What is a toll gate? '.repeat(20);
    const { data } = await quote({ model: 'vendora-chat', text, maxOutputTokens: 100 });
    const { estimate, lines } = data!;
    expect(estimate).toMatchObject({ output: '100' });
    expect(Number(estimate!.likelyInput)).toBeLessThan(Number(estimate!.input));
    const body = { model: 'vendora-chat', messages: [{ role: 'user', content: text }], max_tokens: 100 };
    await customer.send('/v1/chat/completions', json(body));
    const { rows } = await relay.fixture.billing.query<{ lines: { units: string }[]; amount: bigint }>(
      'SELECT lines, amount FROM charges WHERE account_id = $1 ORDER BY id DESC LIMIT 1',
      [customer.accountId],
    );
    // The gateway counts the other fields of the body too.
    const [held, quoted] = [Number(rows[0]!.lines[0]!.units), Number(lines![0]!.units)];
    expect(held - quoted).toBeGreaterThanOrEqual(0);
    expect(held - quoted).toBeLessThan(30);

    const key = await owner.api.POST('/api/keys', {
      body: { name: 'bound', group: 'Vendora-Main', allowedModels: ['imgmodel-4'] },
    });
    const { keyId } = key.data!;
    expect((await quote({ model: 'imgmodel-4', keyId })).data).toMatchObject({ amount: '0.03' });
    const refused = [
      [{ model: 'vendora-chat', text, keyId }, 'model_not_allowed'],
      [{ model: 'imgmodel-4', keyId, group: 'Vendora-Main' }, 'invalid_value'],
      [{ model: 'imgmodel-4', keyId: '0'.repeat(26) }, 'not_found'],
      [{ model: 'imgmodel-4', text }, 'invalid_value'],
    ] as const;
    for (const [asked, code] of refused) expect(await quote(asked)).toMatchObject({ error: { code } });
    await owner.api.DELETE('/api/keys/{keyId}', { params: { path: { keyId } } });
  });

  it('requires valid groups and units', async () => {
    expect(await quote({ model: 'imgmodel-4', group: 'Public-Relay' })).toMatchObject({
      status: 400,
      error: { param: 'group' },
    });
    expect(await quote({ model: 'imgmodel-lite' })).toMatchObject({
      status: 404,
      error: { code: 'model_not_found' },
    });
    expect(await quote({ model: 'imgmodel-4', seconds: 3 })).toMatchObject({
      status: 400,
      error: { param: 'seconds' },
    });
    expect(await quote({ model: 'vendora-chat' })).toMatchObject({ status: 400, error: { param: 'tokens' } });
    const tooMany = await quote({ model: 'imgmodel-4', n: 1_000_000 });
    expect(tooMany).toMatchObject({ status: 400, error: { code: 'invalid_value', param: 'n' } });
    expect(await quote({ model: 'imgmodel-4', n: 0 })).toMatchObject({ status: 400 });
    expect(await quote({ model: 'imgmodel-4', n: 1.5 })).toMatchObject({ status: 400 });
    const keyless = await person(relay, {});
    await relay.fixture.billing.query('UPDATE api_keys SET revoked_at = now() WHERE account_id = $1', [
      keyless.accountId,
    ]);
    const { error } = await keyless.api.POST('/api/quote', { body: { model: 'imgmodel-4' } });
    expect(error?.error.message).toMatch(/has no key/);
  });
});

describe('the usage log', () => {
  it('has one row per request, with its latency and the upstream status', async () => {
    const { data } = await owner.api.GET('/api/usage', { params: { query: { limit: 200 } } });
    const { rows } = await relay.fixture.billing.query<{ count: bigint }>(
      'SELECT count(*) FROM charges WHERE account_id = $1',
      [customer.accountId],
    );
    expect(BigInt(data!.items.length)).toBe(rows[0]!.count);
    const ended = data!.items.filter(({ state, taskId }) => state === 'settled' && !taskId);
    expect(ended.length).toBeGreaterThan(1);
    expect(ended.every(({ latencyMs, upstreamStatus }) => latencyMs !== null && upstreamStatus === 200)).toBe(
      true,
    );
  });

  it('says how long a task took', async () => {
    const video = json({ model: 'vendora-imagine-video', prompt: 'a river [[instant]]', seconds: '1' });
    expect((await customer.send('/v1/videos', video)).status).toBe(200);
    const row = await until('the video to be settled', async () => {
      const latest = await newest({ model: 'vendora-imagine-video' });
      return latest.state === 'settled' ? latest : undefined;
    });
    expect(row.latencyMs).toBeGreaterThan(0);
  });

  it('is read page by page, by any filter', async () => {
    const everything: string[] = [];
    let cursor: string | null = null;
    do {
      const query: { limit: number; cursor?: string } = { limit: 2, ...(cursor ? { cursor } : {}) };
      const { data } = await owner.api.GET('/api/usage', { params: { query } });
      everything.push(...data!.items.map(({ chargeId }) => chargeId));
      cursor = data!.nextCursor;
    } while (cursor);
    const { data: all } = await owner.api.GET('/api/usage', { params: { query: { limit: 200 } } });
    expect(everything).toEqual(all!.items.map(({ chargeId }) => chargeId));
    const filters = [
      { model: 'vendora-chat' },
      { family: 'video' as const },
      { group: 'Vendora-Main', keyId: customer.keyId, state: 'settled' as const },
      { from: new Date(Date.now() - 900_000).toISOString(), to: new Date(Date.now() + 60_000).toISOString() },
    ];
    for (const filter of filters) {
      const { data } = await owner.api.GET('/api/usage', { params: { query: filter } });
      expect(data?.items.length).toBeGreaterThan(0);
    }
    const past = { to: new Date(Date.now() - 3_600_000).toISOString() };
    for (const none of [{ keyId: newId() }, { model: 'vendora-3d' }, { group: 'Public-Relay' }, past]) {
      const { data } = await owner.api.GET('/api/usage', { params: { query: none } });
      expect(data).toEqual({ items: [], nextCursor: null });
    }
  });

  it('is totalled by day, model and key', async () => {
    const { data: total } = await owner.api.GET('/api/usage/daily');
    const { rows } = await relay.fixture.billing.query<{ sum: string }>(
      `SELECT trim_scale(sum(settled) / 1e9)::text AS sum FROM charges WHERE account_id = $1`,
      [customer.accountId],
    );
    expect(total?.items).toMatchObject([{ model: null, keyId: null, amount: rows[0]?.sum }]);
    const { data: byModel } = await owner.api.GET('/api/usage/daily', {
      params: { query: { by: 'model', limit: 2 } },
    });
    expect(byModel?.items).toHaveLength(2);
    const { data: rest } = await owner.api.GET('/api/usage/daily', {
      params: { query: { by: 'model', limit: 2, cursor: byModel!.nextCursor! } },
    });
    const models = [...byModel!.items, ...rest!.items].map(({ model }) => model);
    expect(models).toEqual([...new Set(models)].sort());
    const { data: byKey } = await owner.api.GET('/api/usage/daily', { params: { query: { by: 'key' } } });
    expect(byKey?.items).toMatchObject([{ keyId: customer.keyId, requests: total!.items[0]!.requests }]);
  });

  it('is available as a file that a spreadsheet opens', async () => {
    const file = await (await owner.send('/api/usage.csv?state=settled')).text();
    const [header, ...lines] = file.trim().split('\n');
    expect(header).toMatch(/^time,ended,charge,request,key,requested_model,model,.*settled_credits,/);
    const { data } = await owner.api.GET('/api/usage', {
      params: { query: { state: 'settled', limit: 200 } },
    });
    expect(lines).toHaveLength(data!.items.length);
    expect(header).not.toMatch(/channel/);
    const path = `/api/support/accounts/${customer.accountId}/usage.csv`;
    expect((await (await support.send(path)).text()).split('\n')[0]).toMatch(/,channel$/);
  });

  it('of an account is for support and finance', async () => {
    const accountId = customer.accountId;
    for (const path of ['usage', 'usage.csv', 'usage/daily', 'statement', 'statement.csv']) {
      expect((await owner.send(`/api/support/accounts/${accountId}/${path}`)).status).toBe(403);
      expect((await support.send(`/api/support/accounts/${accountId}/${path}`)).status).toBe(200);
      expect((await support.send(`/api/support/accounts/${newId()}/${path}`)).status).toBe(404);
      expect((await support.send(`/api/support/accounts/x'--/${path}`)).status).toBe(404);
    }
  });
});

describe('the statement', () => {
  it('shows every movement with the balance after it, page by page', async () => {
    const lines: { balance: string; amount: string; balanceAfter: string | null }[] = [];
    let cursor: string | null = null;
    do {
      const query: { limit: number; cursor?: string } = { limit: 3, ...(cursor ? { cursor } : {}) };
      const { data } = await owner.api.GET('/api/statement', { params: { query } });
      lines.push(...data!.items);
      cursor = data!.nextCursor;
    } while (cursor);
    const main = lines.filter(({ balance }) => balance === 'main');
    expect(main.at(-1)).toMatchObject({ kind: 'topup', amount: '10', balanceAfter: '10' });
    expect(main[0]?.balanceAfter).toBe((await customer.balance()).main);
    const { rows } = await relay.fixture.billing.query<{ count: bigint }>(
      `SELECT count(*) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id WHERE a.account_id = $1`,
      [customer.accountId],
    );
    expect(BigInt(lines.length)).toBe(rows[0]!.count);
  });

  it('has one line per request, which adds up to its cost', async () => {
    const { data } = await owner.api.GET('/api/statement', {
      params: { query: { view: 'requests', limit: 200 } },
    });
    const ofRequests = data!.items.flatMap(({ chargeId }) => chargeId ?? []);
    expect(new Set(ofRequests).size).toBe(ofRequests.length);
    const { data: usage } = await owner.api.GET('/api/usage', { params: { query: { limit: 200 } } });
    const costs = usage!.items.filter(({ state }) => state !== 'refused');
    expect(
      data!.items.filter(({ chargeId }) => chargeId).map(({ state, amount }) => [state, amount]),
    ).toEqual(
      costs.map(({ state, settled }) => [state, settled === '0' || settled === null ? '0' : `-${settled}`]),
    );
    expect(costs.map(({ state }) => state)).toEqual(expect.arrayContaining(['settled', 'released']));
  });

  it('is filtered by balance, type, key, model and time', async () => {
    const read = async (query: Record<string, string>) => {
      const { data } = await owner.api.GET('/api/statement', {
        params: { query: { limit: 200, ...query } as never },
      });
      return data!.items;
    };
    expect((await read({ kind: 'topup' })).map(({ balance }) => balance)).toEqual(['main']);
    expect((await read({ balance: 'held' })).every(({ balance }) => balance === 'held')).toBe(true);
    expect(new Set((await read({ model: 'vendora-chat' })).map(({ model }) => model))).toEqual(
      new Set(['vendora-chat']),
    );
    expect((await read({ keyId: newId() })).length).toBe(0);
    const all = await read({});
    const middle = all[Math.floor(all.length / 2)]!.at;
    const [older, newer] = [await read({ to: middle }), await read({ from: middle })];
    expect([...newer, ...older]).toEqual(all);
    expect(older.length).toBeGreaterThan(0);
  });

  it('is available as a file with plain amounts', async () => {
    const file = await (await owner.send('/api/statement.csv')).text();
    expect(file.split('\n')[0]).toBe(
      'time,transaction,kind,reference,balance,amount_credits,balance_after_credits,charge,state,model,key',
    );
    expect(file).toMatch(/,hold,charge:\w+:hold,main,-0\.09,/);
  });

  it('refuses unknown filters and foreign cursors', async () => {
    const bad = Buffer.from(JSON.stringify(['a b'])).toString('base64url');
    const nul = Buffer.from(JSON.stringify(['\u0000'])).toString('base64url');
    const paths = [
      `/api/statement?cursor=${bad}`,
      `/api/usage?cursor=${nul}`,
      `/api/usage?cursor=x`,
      `/api/usage/daily?cursor=${Buffer.from('["x","y"]').toString('base64url')}`,
      '/api/usage?limit=0',
      '/api/usage?limit=201',
      '/api/usage?from=yesterday',
      '/api/usage?colour=red',
      '/api/usage?keyId=%00',
      '/api/usage/daily?from=2020-01-01T00:00:00Z',
      '/api/statement?kind=%27',
    ];
    for (const path of paths)
      expect({ path, status: (await owner.send(path)).status }).toEqual({ path, status: 400 });
  });
});
