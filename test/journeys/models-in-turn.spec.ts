import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Anthropic from '@anthropic-ai/sdk';
import type pg from 'pg';
import { parseAmount } from '#money/amount.js';
import { priceCredits } from '#topup/conversion.js';
import { person } from '../support/console.js';
import { expectGreenControls } from '../support/green-controls.js';
import { addModel } from '../support/models.js';
import { type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { recordTopup } from '../support/topups.js';

/** Models whose only channel is unreachable, and a working model of the same type for each. */
const DEAD = { 'dead-image': 'imgmodel-4', 'dead-chat': 'vendora-chat', 'dead-messages': 'vendora-messages' };
const IMAGES = '/v1/images/generations';
const CHATS = '/v1/chat/completions';
const MESSAGES = [{ role: 'user' as const, content: 'hello' }];
const CHAT = { messages: MESSAGES, max_tokens: 50 };
const IMAGE = { prompt: 'a lighthouse [[instant]]' };

interface Charge {
  model: string;
  held: string;
  charged: string;
  state: string;
  attempts: { model: string; state: string; code: string | null }[];
}

describe('a request with several models', () => {
  let relay: Relay;
  let customer: Customer;
  let upstream: ScriptedUpstream;
  let leaver: AbortController | undefined;
  let locked: { client: pg.PoolClient; accountId: string } | null = null;

  beforeAll(async () => {
    relay = await startRelay({ BUS_REQUEST_TIMEOUT_SECONDS: '1' });
    upstream = await startScriptedUpstream({
      // Rejects our key, after locking the balance so that no charge of the account can end.
      keyless: (response) =>
        void lock().then(
          () => response.writeHead(401).end(),
          () => response.destroy(),
        ),
      // Rejects our key once the gateway has noticed that the client has left.
      leaving: (response) => {
        leaver?.abort();
        void fetch(`${relay.baseUrl}/v1/models`).finally(() => response.writeHead(401).end());
      },
    });
    await addModel(relay.fixture.owner, {
      id: 'cheap-image',
      like: 'vendora-imagine-image',
      channel: 'dead-openai-xai',
      protocol: 'openai-xai',
      baseUrl: 'http://127.0.0.1:9',
    });
    await addModel(relay.fixture.owner, {
      id: 'keyless-chat',
      like: 'vendora-chat',
      channel: 'keyless',
      protocol: 'openai-xai',
      baseUrl: upstream.url,
    });
    for (const [id, like] of Object.entries(DEAD)) {
      const protocol = id === 'dead-messages' ? 'anthropic' : 'openai-xai';
      const channel = `dead-${protocol}`;
      await addModel(relay.fixture.owner, {
        id,
        like,
        times: 10,
        channel,
        protocol,
        baseUrl: 'http://127.0.0.1:9',
      });
    }
    customer = await relay.customer('5');
  });
  afterAll(async () => {
    upstream.close();
    await expectGreenControls(relay).finally(() => relay.close());
  });

  async function lock(): Promise<void> {
    if (!locked) return;
    await locked.client.query('BEGIN');
    await locked.client.query('SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE', [
      locked.accountId,
    ]);
  }

  const send = (path: string, body: object, by = customer, headers = {}) =>
    by.send(path, json(body, headers));
  const chargeOf = (answer: Response, by = customer): Promise<Charge> =>
    by.sdk().get(`/charges/${answer.headers.get('x-request-id')}`);
  const chargesOf = async ({ accountId }: Customer) => {
    const { rows } = await relay.fixture.owner.query<{
      model: string;
      state: string;
      settled: bigint | null;
    }>(
      'SELECT model_id AS model, state, settled FROM charges WHERE account_id = $1 ORDER BY created_at, id',
      [accountId],
    );
    return rows.map(({ model, state }) => `${model} ${state}`);
  };

  it("is served by the first that accepts it, at that model's price", async () => {
    const other = await relay.customer('5');
    const answer = await send(IMAGES, { model: 'dead-image', models: ['imgmodel-4'], ...IMAGE }, other);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ model: 'imgmodel-4', data: [{ url: expect.any(String) }] });
    expect(answer.headers.get('x-served-model')).toBe('imgmodel-4');
    expect(answer.headers.get('x-failed-models')).toBe('dead-image=service_unavailable');
    expect(await chargeOf(answer, other)).toMatchObject({
      model: 'imgmodel-4',
      held: '0.03',
      charged: '0.03',
      attempts: [
        { model: 'dead-image', state: 'released', code: expect.any(String) },
        { model: 'imgmodel-4', state: 'settled', code: null },
      ],
    });
    expect(await other.balance()).toEqual({ main: '4.97', held: '0' });
    const owner = await person(relay, { accountId: other.accountId });
    const path = { chargeId: answer.headers.get('x-request-id')! };
    const { data } = await owner.api.GET('/api/charges/{chargeId}', { params: { path } });
    expect(data).toMatchObject({
      state: 'released',
      attempts: [
        { id: path.chargeId, model: 'dead-image', state: 'released' },
        { model: 'imgmodel-4', state: 'settled', code: null },
      ],
    });
    expect(await chargesOf(other)).toEqual(['dead-image released', 'imgmodel-4 settled']);
  });

  it.each([false, true])('names the model that answered a chat, stream: %p', async (stream) => {
    const body = { model: 'dead-chat', models: ['dead-messages', 'vendora-chat'], stream, ...CHAT };
    const headers = { 'idempotency-key': `chat, stream: ${stream}` };
    const answer = await send(CHATS, body, customer, headers);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain('"model":"vendora-chat"');
    const repeat = await send(CHATS, body, customer, headers);
    expect(await repeat.text()).toBe(text);
    for (const { headers: sent } of [answer, repeat]) {
      expect(sent.get('x-served-model')).toBe('vendora-chat');
      // The middle one uses another protocol without chats, so nothing was held for it.
      expect(sent.get('x-failed-models')).toBe(
        'dead-chat=service_unavailable, dead-messages=model_not_found',
      );
    }
    const { model, attempts, held, charged } = await chargeOf(answer);
    expect({ model, tried: attempts.map((each) => each.model) }).toEqual({
      model: 'vendora-chat',
      tried: ['dead-chat', 'vendora-chat'],
    });
    expect(parseAmount(charged)).toBeLessThanOrEqual(parseAmount(held));
  });

  it("works with Anthropic's SDK", async () => {
    const sdk = new Anthropic({ apiKey: customer.apiKey, baseURL: relay.baseUrl, maxRetries: 0 });
    const several = { models: ['vendora-messages'] };
    const message = await sdk.messages.create({ model: 'dead-messages', ...CHAT, ...several });
    expect(message.model).toBe('vendora-messages');
  });

  it('skips models that the key may not use, and those above the balance', async () => {
    const other = await relay.customer('0.1');
    await relay.fixture.owner.query(
      `UPDATE api_keys SET allowed_models = '{dead-image,vendora-imagine-image}' WHERE id = $1`,
      [other.keyId],
    );
    const models = ['imgmodel-lite', 'imgmodel-4', 'vendora-imagine-image'];
    const served = await send(IMAGES, { models, ...IMAGE }, other);
    expect(served.status).toBe(200);
    expect(served.headers.get('x-failed-models')).toBe(
      'imgmodel-lite=model_not_found, imgmodel-4=model_not_allowed',
    );
    // The balance does not cover the expensive model. That is not the model's failure, so no cheaper one is tried in
    // its place.
    const refused = await send(
      IMAGES,
      { model: 'dead-image', models: ['vendora-imagine-image'], ...IMAGE },
      other,
    );
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'insufficient_user_quota' } });
    expect(await other.balance()).toEqual({ main: '0.08', held: '0' });
  });

  it('is refused if none accepts it, with nothing charged and a retry allowed', async () => {
    const other = await relay.customer('5');
    const answer = await send(CHATS, { models: ['nothing', 'dead-chat'], ...CHAT }, other);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(await answer.json()).toMatchObject({
      error: { code: 'service_unavailable', message: expect.stringContaining('nothing, dead-chat') },
    });
    expect(await other.balance()).toEqual({ main: '5', held: '0' });
  });

  it('is not sent to a second model once the first has rejected its content', async () => {
    const other = await relay.customer('5');
    const body = { model: 'imgmodel-4', models: ['vendora-imagine-image'], prompt: '[[fault:moderation]]' };
    expect((await send(IMAGES, body, other)).status).toBe(400);
    expect(await chargesOf(other)).toEqual(['imgmodel-4 released']);
  });

  it('holds and answers once for an Idempotency-Key, whichever model serves', async () => {
    const other = await relay.customer('5');
    const body = { model: 'dead-image', models: ['imgmodel-4'], ...IMAGE };
    const headers = { 'idempotency-key': 'models-in-turn' };
    const answers = await Promise.all([1, 2, 3].map(() => send(IMAGES, body, other, headers)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(texts).size).toBe(1);
    expect(new Set(answers.map(({ headers: sent }) => sent.get('x-request-id'))).size).toBe(1);
    const repeat = await send(IMAGES, body, other, headers);
    expect(repeat.headers.get('idempotent-replayed')).toBe('true');
    for (const { headers: sent } of [...answers, repeat]) {
      expect(sent.get('x-served-model')).toBe('imgmodel-4');
      expect(sent.get('x-failed-models')).toBe('dead-image=service_unavailable');
    }
    expect(await chargeOf(repeat, other)).toMatchObject({ model: 'imgmodel-4', charged: '0.03' });
    expect(await chargesOf(other)).toEqual(['dead-image released', 'imgmodel-4 settled']);
  });

  it('frees its Idempotency-Key if it is refused after a model did not accept it', async () => {
    const other = await relay.customer('0.02');
    const body = { model: 'cheap-image', models: ['imgmodel-4'], ...IMAGE };
    const headers = { 'idempotency-key': 'poor' };
    const refused = await send(IMAGES, body, other, headers);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'insufficient_user_quota' } });
    expect(await chargesOf(other)).toEqual(['cheap-image released', 'imgmodel-4 refused']);
    await recordTopup(relay.fixture.billing, {
      accountId: other.accountId,
      provider: 'manual',
      paymentId: 'top-up-of-poor',
      ...priceCredits(parseAmount('1'), '1.3'),
      rate: '1.3',
      currency: 'USD',
    });
    const served = await send(IMAGES, body, other, headers);
    expect(served.headers.get('idempotent-replayed')).toBeNull();
    expect(served.status).toBe(200);
  });

  it('tries no other model before the release of the first is committed', async () => {
    const other = await relay.customer('5');
    const client = await relay.fixture.owner.connect();
    locked = { client, accountId: other.accountId };
    try {
      const messages = [{ role: 'user', content: 'keyless' }];
      const body = { models: ['keyless-chat', 'vendora-chat'], messages, max_tokens: 50 };
      const answer = await send(CHATS, body, other, { 'idempotency-key': 'unconfirmed' });
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({
        error: { code: 'service_unavailable', message: expect.stringContaining('keyless-chat') },
      });
    } finally {
      await client.query('ROLLBACK');
      client.release();
      locked = null;
    }
    await until('the release', async () => (await other.balance()).held === '0');
    expect(await other.balance()).toEqual({ main: '5', held: '0' });
    expect(await chargesOf(other)).toEqual(['keyless-chat released']);
  });

  it('tries no other model for a client that has left', async () => {
    const other = await relay.customer('5');
    leaver = new AbortController();
    const messages = [{ role: 'user', content: 'leaving' }];
    const body = { models: ['keyless-chat', 'vendora-chat'], messages, max_tokens: 50 };
    const gone = other.send(CHATS, { ...json(body), signal: leaver.signal });
    await expect(gone).rejects.toThrow();
    await until('the release', async () => (await chargesOf(other)).join() === 'keyless-chat released');
    expect(await other.balance()).toEqual({ main: '5', held: '0' });
  });

  it('stores no dry run under an Idempotency-Key', async () => {
    const other = await relay.customer('5');
    for (const [path, body] of [
      [IMAGES, { model: 'imgmodel-4', ...IMAGE }],
      [CHATS, { model: 'vendora-chat', ...CHAT }],
    ] as const) {
      const headers = { 'idempotency-key': `dry${path}` };
      const dry = await send(path, { ...body, dry_run: true }, other, headers);
      expect(await dry.json()).toMatchObject({ object: 'dry_run' });
      // The real request may still use it, although it is a different one.
      expect((await send(path, body, other, headers)).status).toBe(200);
    }
  });

  it.each<[string, object, object]>([
    [IMAGES, { prompt: 'x', n: 2 }, { amount: '0.06', units: '2' }],
    [CHATS, CHAT, { amount: expect.any(String) }],
  ])(
    'says what %s would cost and which model would serve it, and does nothing',
    async (path, body, priced) => {
      const other = await relay.customer('5');
      const model = path === IMAGES ? 'imgmodel-4' : 'vendora-chat';
      const answer = await send(path, { models: ['nothing', model], dry_run: true, ...body }, other);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({
        object: 'dry_run',
        model,
        models: [
          {
            model: 'nothing',
            available: false,
            error: { code: 'model_not_found', message: expect.any(String) },
          },
          expect.objectContaining({ model, available: true, ...priced }),
        ],
      });
      expect(await chargesOf(other)).toEqual([]);
      expect((await send(path, { model: 'nothing', dry_run: true, ...body }, other)).status).toBe(404);
    },
  );

  it('skips a model of another family, and a dry run says the same', async () => {
    const other = await relay.customer('5');
    const body = { models: ['vendora-chat', 'imgmodel-4'], ...IMAGE };
    const dry = await send(IMAGES, { ...body, dry_run: true }, other);
    expect(await dry.json()).toMatchObject({ model: 'imgmodel-4' });
    const answer = await send(IMAGES, body, other);
    expect([answer.status, answer.headers.get('x-failed-models')]).toEqual([
      200,
      'vendora-chat=model_not_supported_here',
    ]);
  });

  it('refuses a dry run of a request that would end before any model serves', async () => {
    const body = { model: 'imgmodel-4', models: ['vendora-imagine-image'], prompt: 'x', n: 1000 };
    const answers = await Promise.all(
      [true, false].map((dryRun) => send(IMAGES, { ...body, dry_run: dryRun })),
    );
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
  });

  it.each([
    [{ models: 'vendora-chat' }, 'models', 'invalid_type'],
    [{ models: [1] }, 'models', 'invalid_type'],
    [{ models: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'models', 'invalid_value'],
    [{ model: 'vendora-chat', dry_run: 'yes' }, 'dry_run', 'invalid_type'],
    [{ models: [] }, 'model', 'missing_required_parameter'],
  ])('names the wrong field: %p', async (body, param, code) => {
    for (const [path, rest] of [
      [IMAGES, IMAGE],
      [CHATS, CHAT],
    ] as const) {
      const answer = await send(path, { ...body, ...rest });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code, param } });
    }
  });
});
