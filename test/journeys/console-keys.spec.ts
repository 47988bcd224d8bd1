import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({ KEY_USE_SECONDS: '0.1', TRUST_PROXY: 'true' });
});
afterAll(() => relay?.close());

async function createKey(someone: Person, rules: Record<string, unknown> = {}) {
  const { data, error } = await someone.api.POST('/api/keys', {
    body: { name: 'a key', group: 'Vendora-Main', ...rules },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

/** Makes one image for 0.02. Returns the answer's status and code. */
async function draw(apiKey: string, ip?: string, more: Record<string, unknown> = {}) {
  const headers = { authorization: `Bearer ${apiKey}`, ...(ip ? { 'x-forwarded-for': ip } : {}) };
  const body = { model: 'vendora-imagine-image', prompt: 'a cat', ...more };
  const response = await fetch(`${relay.baseUrl}/v1/images/generations`, json(body, headers));
  const answer = (await response.json()) as { error?: { code: string } };
  return [response.status, answer.error?.code];
}

const change = (someone: Person, keyId: string, body: Record<string, unknown>) =>
  someone.api.PATCH('/api/keys/{keyId}', { params: { path: { keyId } }, body });

describe('keys', () => {
  it('are shown once, listed with what they spent and when, renamed, and deleted', async () => {
    const someone = await person(relay, { credits: '1' });
    const { apiKey, keyId, prefix } = await createKey(someone, { name: ' first ' });
    expect(apiKey.startsWith(prefix!)).toBe(true);
    expect(await draw(apiKey)).toEqual([200, undefined]);
    const show = () => someone.api.GET('/api/keys/{keyId}', { params: { path: { keyId } } });
    await until('the last use of the key', async () => (await show()).data?.lastUsedAt);
    const { data } = await someone.api.GET('/api/keys');
    const mine = data?.items.find((key) => key.keyId === keyId);
    expect(mine).toMatchObject({ name: 'first', spent: '0.02', spentThisMonth: '0.02', totalLimit: null });
    expect(JSON.stringify(data)).not.toContain(apiKey);
    expect((await change(someone, keyId, { name: 'second' })).data?.name).toBe('second');

    const params = { path: { keyId } };
    expect((await someone.api.DELETE('/api/keys/{keyId}', { params })).response.status).toBe(204);
    expect(await draw(apiKey)).toEqual([401, 'invalid_api_key']);
    expect((await show()).response.status).toBe(404);
    expect((await someone.api.DELETE('/api/keys/{keyId}', { params })).response.status).toBe(404);
    const { rows } = await relay.fixture.owner.query(
      'SELECT action, before, after FROM audit_log WHERE subject = $1 ORDER BY id',
      [`key:${keyId}`],
    );
    expect(rows.map(({ action }) => action)).toEqual(['key.created', 'key.changed', 'key.deleted']);
    expect(JSON.stringify(rows)).not.toContain(apiKey);
  });

  it('begin with one, which is created and shown once, however often it is requested', async () => {
    const someone = await person(relay, { credits: '1' });
    const before = (await someone.api.GET('/api/keys')).data!.items;
    for (const { keyId } of before)
      await someone.api.DELETE('/api/keys/{keyId}', { params: { path: { keyId } } });
    const quote = { model: 'vendora-imagine-image', n: 1, group: 'Vendora-Main' };
    expect((await someone.api.POST('/api/quote', { body: quote })).data?.amount).toBe('0.02');
    const body = { name: 'Playground', group: 'Vendora-Main' };
    const asked = await Promise.all(
      Array.from({ length: 5 }, () => someone.api.POST('/api/keys/first', { body })),
    );
    const answers = asked.map(({ data }) => data!);
    expect(new Set(answers.map(({ keyId }) => keyId)).size).toBe(1);
    const secrets = answers.flatMap(({ apiKey }) => apiKey ?? []);
    expect(secrets).toHaveLength(1);
    expect(await draw(secrets[0]!)).toEqual([200, undefined]);
    const other = { name: 'Other', group: 'no-such-group' };
    expect((await someone.api.POST('/api/keys/first', { body: other })).data?.keyId).toBe(answers[0]!.keyId);
    expect((await someone.api.GET('/api/keys')).data!.items).toHaveLength(1);
  });

  it('begin in a group that the account has', async () => {
    const someone = await person(relay);
    const before = (await someone.api.GET('/api/keys')).data!.items;
    for (const { keyId } of before)
      await someone.api.DELETE('/api/keys/{keyId}', { params: { path: { keyId } } });
    const body = { name: 'Playground', group: 'no-such-group' };
    expect((await someone.api.POST('/api/keys/first', { body })).response.status).toBe(400);
    const quote = { model: 'vendora-imagine-image', n: 1, group: 'no-such-group' };
    expect((await someone.api.POST('/api/quote', { body: quote })).response.status).toBe(400);
  });

  it('belong to their account alone', async () => {
    const [owner, stranger] = [await person(relay), await person(relay, { roles: ['support', 'admin'] })];
    const { keyId } = await createKey(owner);
    const params = { path: { keyId } };
    expect((await stranger.api.GET('/api/keys/{keyId}', { params })).response.status).toBe(404);
    expect((await change(stranger, keyId, { name: 'mine' })).response.status).toBe(404);
    expect((await stranger.api.DELETE('/api/keys/{keyId}', { params })).response.status).toBe(404);
    expect((await owner.api.GET('/api/keys/{keyId}', { params })).data?.name).toBe('a key');
  });

  it('are listed page by page', async () => {
    const someone = await person(relay);
    for (const name of ['one', 'two', 'three']) await createKey(someone, { name });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await someone.api.GET('/api/keys', {
        params: { query: { limit: 2, ...(cursor ? { cursor } : {}) } },
      });
      names.push(...data!.items.map(({ name }) => name));
      cursor = data!.nextCursor ?? undefined;
    } while (cursor);
    expect(names.slice(0, 3)).toEqual(['three', 'two', 'one']);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['no name', { name: '' }, 'name'],
    ['an unknown group', { group: 'Nowhere' }, 'group'],
    ['an unknown model', { allowedModels: ['nothing-like-it'] }, 'allowedModels'],
    ['no model', { allowedModels: [] }, 'allowedModels'],
    ['an unknown fallback', { fallbackModels: ['nothing-like-it'] }, 'fallbackModels'],
    ['five fallbacks', { fallbackModels: ['a', 'b', 'c', 'd', 'e'] }, 'fallbackModels'],
    ['an invalid range', { allowedIps: ['10.0.0.0/64'] }, 'allowedIps.0'],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['a limit that is a number', { monthlyLimit: 5 }, 'monthlyLimit'],
    ['a limit below zero', { totalLimit: '-1' }, 'totalLimit'],
    ['an unknown field', { keyHash: 'x' }, 'keyHash'],
  ])('are not created with %s', async (_what, rules, param) => {
    const someone = await person(relay);
    const { error } = await someone.api.POST('/api/keys', {
      body: { name: 'a key', group: 'Vendora-Main', ...rules },
    });
    expect(error).toMatchObject({ error: { param } });
  });
});

describe('what a key may do is decided in the hold', () => {
  it('its monthly limit and its total limit', async () => {
    const someone = await person(relay, { credits: '1' });
    const { apiKey, keyId } = await createKey(someone, { monthlyLimit: '0.04' });
    await draw(apiKey);
    await draw(apiKey);
    expect(await draw(apiKey)).toEqual([403, 'key_limit_exceeded']);
    await change(someone, keyId, { monthlyLimit: null, totalLimit: '0.06' });
    expect(await draw(apiKey)).toEqual([200, undefined]);
    expect(await draw(apiKey)).toEqual([403, 'key_limit_exceeded']);
    // Spending from past months counts towards the total limit, but not the monthly one.
    await relay.fixture.owner.query(`INSERT INTO key_spend VALUES ($1, '2020-01-01', 1000000000)`, [keyId]);
    await change(someone, keyId, { monthlyLimit: '1', totalLimit: '1.07' });
    expect(await draw(apiKey)).toEqual([403, 'key_limit_exceeded']);
    await change(someone, keyId, { totalLimit: '1.08' });
    expect(await draw(apiKey)).toEqual([200, undefined]);
  });

  it('returns to a limit what was released', async () => {
    const someone = await person(relay, { credits: '1' });
    const { apiKey } = await createKey(someone, { totalLimit: '0.02' });
    const failing = await draw(apiKey, undefined, { prompt: 'a cat [[fault:moderation]]' });
    expect(failing[0]).not.toBe(200);
    expect(await draw(apiKey)).toEqual([200, undefined]);
    expect(await draw(apiKey)).toEqual([403, 'key_limit_exceeded']);
  });

  it('never exceeds a limit, even with 50 calls at once', async () => {
    const someone = await person(relay, { credits: '5' });
    const { apiKey } = await createKey(someone, { totalLimit: '0.1' });
    const answers = await Promise.all(Array.from({ length: 50 }, () => draw(apiKey)));
    expect(answers.filter(([status]) => status === 200)).toHaveLength(5);
    expect(answers.filter(([, code]) => code === 'key_limit_exceeded')).toHaveLength(45);
  });

  it('the limit of its account, over all keys', async () => {
    const someone = await person(relay, { credits: '5' });
    const keys = [await createKey(someone), await createKey(someone)];
    await someone.api.PATCH('/api/account', { body: { monthlyLimit: '0.1' } });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => draw(keys[index % 2]!.apiKey)),
    );
    expect(answers.filter(([status]) => status === 200)).toHaveLength(5);
    expect(answers.filter(([, code]) => code === 'account_limit_exceeded')).toHaveLength(45);
    await someone.api.PATCH('/api/account', { body: { monthlyLimit: null } });
    expect(await draw(keys[0]!.apiKey)).toEqual([200, undefined]);
  });

  it('its models', async () => {
    const someone = await person(relay, { credits: '1' });
    const { apiKey, keyId } = await createKey(someone, { allowedModels: ['imgmodel-4'] });
    expect(await draw(apiKey)).toEqual([403, 'model_not_allowed']);
    const { data } = await change(someone, keyId, { allowedModels: ['imgmodel-4', 'vendora-imagine-image'] });
    await until('the list of its models', async () => {
      const listed = await fetch(`${relay.baseUrl}/v1/models`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const models = (await listed.json()) as { data: { id: string }[] };
      return models.data.map(({ id }) => id).join() === data?.allowedModels?.join();
    });
    expect(await draw(apiKey)).toEqual([200, undefined]);
  });

  it('its models, by their other names too', async () => {
    const someone = await person(relay, { credits: '5' });
    const start = async (allowedModels: string[], model: string) => {
      const { apiKey } = await createKey(someone, { allowedModels });
      const { status } = await fetch(
        `${relay.baseUrl}/v1/videos`,
        json({ model, prompt: 'a cat', seconds: '1' }, { authorization: `Bearer ${apiKey}` }),
      );
      return status;
    };
    expect(await start(['vendora-imagine-video-1.5'], 'vendora-imagine-video-1.5-preview')).toBe(200);
    expect(await start(['vendora-imagine-video-1.5-preview'], 'vendora-imagine-video-1.5-preview')).toBe(200);
    expect(await start(['vendora-imagine-video-1.5-preview'], 'vendora-imagine-video-1.5')).toBe(403);
  });

  it('its addresses, of both kinds, by range, even if a gateway has cached older ones', async () => {
    const someone = await person(relay, { credits: '1' });
    const { apiKey, keyId, allowedIps } = await createKey(someone, {
      allowedIps: ['192.0.2.77/24', '2001:DB8::/32'],
    });
    expect(allowedIps).toEqual(['192.0.2.0/24', '2001:db8::/32']);
    expect(await draw(apiKey, '192.0.2.9')).toEqual([200, undefined]);
    expect(await draw(apiKey, '2001:db8::9')).toEqual([200, undefined]);
    expect(await draw(apiKey, '192.0.3.9')).toEqual([403, 'ip_not_allowed']);
    const models = await fetch(`${relay.baseUrl}/v1/models`, {
      headers: { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': '203.0.113.1' },
    });
    expect(models.status).toBe(403);
    // Changed behind the gateway's back, so the hold refuses.
    await relay.fixture.owner.query(`UPDATE api_keys SET allowed_ips = '{203.0.113.0/24}' WHERE id = $1`, [
      keyId,
    ]);
    expect(await draw(apiKey, '192.0.2.9')).toEqual([403, 'ip_not_allowed']);
    const { rows } = await relay.fixture.owner.query(
      `SELECT refusal_code FROM charges WHERE key_id = $1 AND state = 'refused'`,
      [keyId],
    );
    expect(rows).toEqual([{ refusal_code: 'ip_not_allowed' }]);
  });

  it('its expiry', async () => {
    const someone = await person(relay, { credits: '1' });
    const { apiKey, keyId } = await createKey(someone, { expiresAt: '2100-01-01T00:00:00Z' });
    expect(await draw(apiKey)).toEqual([200, undefined]);
    await relay.fixture.owner.query(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [keyId]);
    expect(await draw(apiKey)).toEqual([401, 'invalid_api_key']);
  });

  it('whether its account is frozen', async () => {
    const [someone, support] = [
      await person(relay, { credits: '1' }),
      await person(relay, { roles: ['support'] }),
    ];
    const { apiKey } = await createKey(someone);
    const path = { accountId: someone.accountId };
    await support.api.POST('/api/support/accounts/{accountId}/freeze', {
      params: { path },
      body: { reason: `seen on a list, ${newId()}` },
    });
    expect(await draw(apiKey)).toEqual([403, 'account_frozen']);
    await support.api.POST('/api/support/accounts/{accountId}/unfreeze', {
      params: { path },
      body: { note: 'a mistake' },
    });
    expect(await draw(apiKey)).toEqual([200, undefined]);
  });

  it('the ledger stays clean', () => expectCleanLedger(relay));
});
