import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { signPath } from '#storage/signed-url.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import {
  closeClean,
  type Customer,
  json,
  type Relay,
  startRelay,
  until,
  URL_SIGNING_SECRET,
} from '../support/relay.js';

const PNG = '89504e470d0a1a0a';
const MODEL = 'vendora-imagine-image';

describe('images, by the OpenAI SDK', () => {
  let relay: Relay;
  let upstream: GatedUpstream;

  beforeAll(async () => {
    relay = await startRelay({ IMAGE_REQUEST_LIMIT_SECONDS: '15' });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  const failing = (customer: Customer, prompt: string, n = 1): Promise<unknown> =>
    customer
      .sdk({ retries: 2 })
      .images.generate({ model: MODEL, prompt, n })
      .catch((error: unknown) => error);

  it('returns signed links that anyone can open until they expire', async () => {
    const before = Date.now();
    const customer = await relay.customer('1');
    const result = await customer
      .sdk()
      .images.generate({ model: MODEL, prompt: 'a lighthouse', n: 2, size: '512x512' });
    expect(result.data).toHaveLength(2);
    expect(result.usage).toEqual({ cost_in_usd_ticks: 400_000_000 });
    const url = result.data?.[0]?.url ?? '';
    expect(url).toMatch(new RegExp(`^${relay.baseUrl}/v1/images/files/`));
    expect(result.data?.[0]?.b64_json).toBeUndefined();
    const expires = Number(new URL(url).searchParams.get('exp')) * 1000;
    expect(expires).toBeGreaterThan(before);
    expect(expires).toBeLessThanOrEqual(Date.now() + 3_600_000);

    const picture = await fetch(url);
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(
      Buffer.from(await picture.arrayBuffer())
        .subarray(0, 8)
        .toString('hex'),
    ).toBe(PNG);
    expect(await customer.balance()).toEqual({ main: '0.96', held: '0' });

    const forged = await fetch(url.replace(/sig=.../, 'sig=AAA'));
    expect(forged.status).toBe(404);
    expect(await forged.json()).toMatchObject({ error: { code: 'file_not_found' } });
    const { pathname } = new URL(url);
    const over = signPath(URL_SIGNING_SECRET, pathname, Date.now() - 1_000);
    expect((await fetch(relay.baseUrl + pathname + over)).status).toBe(404);
    const open = signPath(URL_SIGNING_SECRET, pathname, Date.now() + 3_600_000);
    expect((await fetch(relay.baseUrl + pathname + open)).status).toBe(200);
  });

  it('returns plain base64 on request', async () => {
    const customer = await relay.customer('1');
    const result = await customer
      .sdk({ path: '/vendora/v1' })
      .images.generate({ model: 'imgmodel-4', prompt: 'a lighthouse', response_format: 'b64_json' });
    const image = result.data?.[0];
    expect(image?.url).toBeUndefined();
    expect(
      Buffer.from(image?.b64_json ?? '', 'base64')
        .subarray(0, 8)
        .toString('hex'),
    ).toBe(PNG);
    expect(await customer.balance()).toEqual({ main: '0.97', held: '0' });
  });

  it('charges only the delivered images if fewer came than were requested', async () => {
    const customer = await relay.customer('1');
    const result = await customer
      .sdk()
      .images.generate({ model: MODEL, prompt: 'three [[fault:partial]]', n: 3 });
    expect(result.data).toHaveLength(2);
    expect(result.usage).toEqual({ cost_in_usd_ticks: 400_000_000 });
    expect(await customer.balance()).toEqual({ main: '0.96', held: '0' });
  });

  it("charges the fixed price of the Public-Relay group, whatever the model's list price", async () => {
    const customer = await relay.customer('0.001', 'Public-Relay');
    const { data } = await customer.sdk().images.generate({ model: 'imgmodel-lite', prompt: 'cheap', n: 3 });
    expect(data).toHaveLength(3);
    expect(await customer.balance()).toEqual({ main: '0.0004', held: '0' });
  });

  it.each([
    ['moderation', OpenAI.BadRequestError, 400, 'content_policy_violation'],
    ['reject-400', OpenAI.BadRequestError, 400, 'upstream_rejected'],
    ['reject-415', OpenAI.APIError, 415, 'unsupported_media_type'],
    ['reject-422', OpenAI.UnprocessableEntityError, 422, 'upstream_rejected'],
  ])("passes on the upstream's refusal, once and for free: %s", async (fault, kind, status, code) => {
    const customer = await relay.customer('1');
    const error = await failing(customer, `no [[fault:${fault}]]`);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status, code });
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    expect(await chargesOf(customer)).toEqual(['released']);
  });

  it("refunds, and forbids a retry, if the upstream's outcome is unknown", async () => {
    const customer = await relay.customer('1');
    for (const fault of ['truncated', 'accept-then-timeout']) {
      const error = await failing(customer, `late [[fault:${fault}]]`);
      expect(error).toBeInstanceOf(OpenAI.InternalServerError);
      expect(error).toMatchObject({ status: 502, code: 'generation_failed' });
    }
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    expect(await chargesOf(customer)).toEqual(['released', 'released']);
  });

  it('asks for a retry if the upstream was busy, and charges nothing', async () => {
    const customer = await relay.customer('1');
    const response = await customer.send(
      '/v1/images/generations',
      json({ model: MODEL, prompt: '[[fault:reject-503]]' }),
    );
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(5);
    expect(await response.json()).toMatchObject({
      error: { code: 'service_unavailable', type: 'server_error' },
    });
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it('refuses what exceeds the balance before any upstream call', async () => {
    const customer = await relay.customer('0.05');
    const error = await failing(customer, 'dear', 3);
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ code: 'insufficient_user_quota', type: 'insufficient_quota' });
    expect(await customer.balance()).toEqual({ main: '0.05', held: '0' });
    expect(await chargesOf(customer)).toEqual(['refused']);
  });

  it('accepts exactly one of 64 requests if the balance covers one', async () => {
    const customer = await relay.customer('0.02');
    const sdk = customer.sdk();
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, () =>
        sdk.images.generate({ model: MODEL, prompt: 'one' }).then(
          () => 'accepted',
          (error: { code: string }) => error.code,
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'insufficient_user_quota')).toHaveLength(63);
    expect(await customer.balance()).toEqual({ main: '0', held: '0' });
  });

  it('charges a disconnected client for what was delivered', async () => {
    const customer = await relay.customer('1');
    const leaving = new AbortController();
    upstream.shut(/slowly/);
    const call = customer.send('/v1/images/generations', {
      ...json({ model: MODEL, prompt: 'gone slowly' }),
      signal: leaving.signal,
    });
    await until('the hold', async () => (await customer.balance()).held === '0.02');
    leaving.abort();
    await expect(call).rejects.toThrow();
    upstream.open();
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.98', held: '0' });
  });

  it('applies a new price at once, and does not charge the old one', async () => {
    const customer = await relay.customer('1');
    await customer.sdk().images.generate({ model: 'imgmodel-4', prompt: 'before' });
    await relay.fixture.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('imgmodel-4', 0.05, now())`,
    );
    const { usage } = await customer.sdk().images.generate({ model: 'imgmodel-4', prompt: 'after' });
    expect(usage).toEqual({ cost_in_usd_ticks: 500_000_000 });
    expect(await customer.balance()).toEqual({ main: '0.92', held: '0' });
  });

  it('refuses the hold of a key that was just revoked', async () => {
    const customer = await relay.customer('1');
    await customer.sdk().images.generate({ model: MODEL, prompt: 'still' });
    await relay.fixture.revoke(customer.keyId);
    expect(await failing(customer, 'no more')).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('drops cached keys and catalog when they change', async () => {
    const customer = await relay.customer('1');
    const status = async () => (await customer.send('/v1/models')).status;
    expect(await status()).toBe(200);
    await relay.fixture.revoke(customer.keyId);
    await announce('key.changed', { keyId: customer.keyId, accountId: customer.accountId });
    await until('the key to be forgotten', async () => (await status()) === 401);

    const other = await relay.customer('1');
    await relay.fixture.owner.query(`DELETE FROM channel_models WHERE model_id = 'imgmodel-4'`);
    await announce('catalog.changed', { revision: '1', what: 'channels' });
    await until('the catalog to be read again', async () => {
      const response = await other.send(
        '/v1/images/generations',
        json({ model: 'imgmodel-4', prompt: '[[fault:reject-400]]' }),
      );
      return response.status === 404;
    });
    expect(await other.balance()).toEqual({ main: '1', held: '0' });
  });

  async function announce(topic: string, payload: object): Promise<void> {
    await relay.fixture.owner.query(
      `INSERT INTO outbox (producer, topic, key, payload) VALUES ('billing', $1, 'changed', $2)`,
      [topic, JSON.stringify(payload)],
    );
  }

  async function chargesOf(customer: Customer): Promise<string[]> {
    const { rows } = await relay.fixture.billing.query<{ state: string }>(
      'SELECT state FROM charges WHERE account_id = $1 ORDER BY id',
      [customer.accountId],
    );
    return rows.map(({ state }) => state);
  }
});
