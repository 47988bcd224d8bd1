import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatAmount, parseAmount } from '#money/amount.js';
import { expectGreenControls } from '../support/green-controls.js';
import { addModel } from '../support/models.js';
import { type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const VIDEO = 'vendora-imagine-video';
const MESH = 'vendora-3d';
const PROMPT = 'a boat [[work:0]]';

/** Where tasks are created: with a model that is unreachable, one that serves, and what that one would hold. */
const CREATES = [
  ['/v1/videos', { model: 'dead-video', prompt: PROMPT, seconds: '4' }, VIDEO, { amount: '0.2', units: '4' }],
  [
    '/v1/videos/generations',
    { model: 'dead-video', prompt: PROMPT, duration: 4 },
    VIDEO,
    { amount: '0.2', units: '4' },
  ],
  [
    '/vendora/v1/videos/generations',
    { model: 'dead-video', prompt: PROMPT, duration: 4 },
    VIDEO,
    { amount: '0.2', units: '4' },
  ],
  [
    '/v1beta/models/veo-dead:predictLongRunning',
    { instances: [{ prompt: PROMPT }], parameters: { durationSeconds: 4 } },
    VIDEO,
    { amount: '0.2', units: '4' },
  ],
  ['/v1/3d', { model: 'dead-3d', prompt: PROMPT }, MESH, { amount: '0.1', units: '1' }],
] as const;

interface Charge {
  model: string;
  held: string;
  charged: string;
  attempts: { model: string; state: string; code: string | null }[];
}

describe('a task with several models', () => {
  let relay: Relay;

  beforeAll(async () => {
    // The time that an unclear creation takes.
    relay = await startRelay({ VIDEO_CREATE_LIMIT_SECONDS: '8' });
    const { owner } = relay.fixture;
    for (const [id, like, protocol] of [
      ['dead-video', VIDEO, 'openai-xai'],
      ['veo-dead', VIDEO, 'openai-xai'],
      ['dead-3d', MESH, 'mesh3d'],
    ] as const) {
      const nobody = { channel: `dead-${protocol}`, protocol, baseUrl: 'http://127.0.0.1:9' };
      await addModel(owner, { id, like, times: 10, ...nobody });
    }
  });
  afterAll(async () => {
    await expectGreenControls(relay).finally(() => relay.close());
  });

  const chargeOf = (answer: Response, by: Customer): Promise<Charge> =>
    by.sdk().get(`/charges/${answer.headers.get('x-request-id')}`);
  const tasksOf = async ({ accountId }: Customer) => {
    const { rows } = await relay.fixture.owner.query<{ model: string; state: string }>(
      'SELECT model_id AS model, state FROM tasks WHERE account_id = $1 ORDER BY created_at, id',
      [accountId],
    );
    return rows.map(({ model, state }) => `${model} ${state}`);
  };
  const settled = (customer: Customer) =>
    until('the settlement', async () => (await customer.balance()).held === '0');

  it.each(CREATES)('is created at %s by the first that accepts it, at its price', async (...create) => {
    const [path, body, model, { amount }] = create;
    const customer = await relay.customer('5');
    const answer = await customer.send(path, json({ ...body, models: ['nothing', model] }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-served-model')).toBe(model);
    const dead = path === '/v1/3d' ? 'dead-3d' : path.includes('veo') ? 'veo-dead' : 'dead-video';
    const failed = `${dead}=service_unavailable, nothing=model_not_found`;
    expect(answer.headers.get('x-failed-models')).toBe(failed);
    expect(JSON.stringify(await answer.json())).toContain(model);
    expect(await chargeOf(answer, customer)).toMatchObject({
      model,
      held: amount,
      attempts: [{ model: dead, state: 'released' }, { model }],
    });
    await settled(customer);
    expect(await chargeOf(answer, customer)).toMatchObject({ charged: amount });
    expect(await customer.balance()).toEqual({
      main: formatAmount(parseAmount('5') - parseAmount(amount)),
      held: '0',
    });
    expect(await tasksOf(customer)).toEqual([`${dead} failed`, `${model} completed`]);
  });

  it.each(CREATES)('is priced at %s by a dry run, which holds and sends nothing', async (...create) => {
    const [path, body, model, priced] = create;
    const customer = await relay.customer('5');
    const dry = json({ ...body, models: ['nothing', model], dry_run: true }, { 'idempotency-key': 'dry' });
    const answer = await customer.send(path, dry);
    expect(answer.status).toBe(200);
    const { object, models } = (await answer.json()) as { object: string; models: object[] };
    expect(object).toBe('dry_run');
    expect(models).toEqual([
      expect.objectContaining({ available: true }),
      { model: 'nothing', available: false, error: expect.objectContaining({ code: 'model_not_found' }) },
      { model, available: true, ...priced, routing: 'priority' },
    ]);
    expect(await tasksOf(customer)).toEqual([]);
    expect(await customer.balance()).toEqual({ main: '5', held: '0' });
  });

  it('is created in a form, by the OpenAI SDK', async () => {
    const customer = await relay.customer('5');
    const { videos } = customer.sdk();
    const asked = { model: 'dead-video', models: [VIDEO], prompt: PROMPT, seconds: '4' } as const;
    const unsent = { ...asked, dry_run: true };
    const dry: unknown = await videos.create(unsent);
    expect(dry).toMatchObject({ object: 'dry_run', model: 'dead-video', models: [{}, { model: VIDEO }] });
    expect(await tasksOf(customer)).toEqual([]);
    expect(await videos.create(asked)).toMatchObject({ model: VIDEO, seconds: '4' });
    await settled(customer);
  });

  it('stays with the model whose upstream may have accepted it, or refused its content', async () => {
    const customer = await relay.customer('5');
    const body = { model: VIDEO, models: ['vidmodel-3'], seconds: '4' };
    const unclear = await customer.send(
      '/v1/videos',
      json({ ...body, prompt: '[[fault:accept-then-timeout]]' }),
    );
    expect([unclear.status, unclear.headers.get('x-served-model')]).toEqual([200, VIDEO]);
    const refused = await customer.send('/v1/videos', json({ ...body, prompt: '[[fault:moderation]]' }));
    expect(refused.status).toBe(400);
    await settled(customer);
    expect(await tasksOf(customer)).toEqual([`${VIDEO} completed`, `${VIDEO} failed`]);
  });

  it('stays with a model whose failure could not be stored: its task may still be sent', async () => {
    const customer = await relay.customer('5');
    const { owner } = relay.fixture;
    await owner.query(
      `CREATE FUNCTION keep_task() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN IF NEW.state = 'failed' THEN RAISE 'not now'; END IF; RETURN NEW; END $$`,
    );
    await owner.query('CREATE TRIGGER keep BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION keep_task()');
    const body = { model: 'dead-video', models: [VIDEO], prompt: PROMPT, seconds: '4' };
    const init = json(body, { 'idempotency-key': 'unstored' });
    const answers = [await customer.send('/v1/videos', init), await customer.send('/v1/videos', init)];
    await owner.query('DROP TRIGGER keep ON tasks');
    const ids = await Promise.all(answers.map(async (each) => ((await each.json()) as { id: string }).id));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(ids[1]).toBe(ids[0]);
    expect(await tasksOf(customer)).toEqual(['dead-video submitting']);
    await endNow(customer);
    expect(await customer.balance()).toEqual({ main: '5', held: '0' });
  });

  it('takes one of its key’s places at a time', async () => {
    const customer = await relay.customer('5');
    await relay.fixture.owner.query('UPDATE api_keys SET max_running_tasks = 1 WHERE id = $1', [
      customer.keyId,
    ]);
    const body = { models: ['dead-video', VIDEO], prompt: 'a boat [[work:3600]]', seconds: '4' };
    const created = await customer.send('/v1/videos', json(body));
    expect([created.status, created.headers.get('x-served-model')]).toEqual([200, VIDEO]);
    expect((await customer.send('/v1/videos', json(body))).status).toBe(429);
    expect(await tasksOf(customer)).toEqual(['dead-video failed', `${VIDEO} submitted`]);
    await endNow(customer);
  });

  it('is refused if none accepts it, with nothing charged and a retry allowed', async () => {
    const customer = await relay.customer('5');
    const body = { model: 'dead-video', models: ['veo-dead'], prompt: PROMPT, seconds: '4' };
    const answer = await customer.send('/v1/videos', json(body, { 'idempotency-key': 'none' }));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(await answer.json()).toMatchObject({
      error: { code: 'service_unavailable', message: expect.stringContaining('dead-video, veo-dead') },
    });
    expect(await customer.balance()).toEqual({ main: '5', held: '0' });
    const again = { ...body, models: [VIDEO] };
    const served = await customer.send('/v1/videos', json(again, { 'idempotency-key': 'none' }));
    expect(served.status).toBe(200);
    await settled(customer);
  });

  it('cannot be a remix or a texture: only what made their source can do them, and a dry run prices them', async () => {
    const customer = await relay.customer('5');
    const source = await finished(customer, '/v1/videos', { model: VIDEO, prompt: PROMPT, seconds: '4' });
    const draft = await finished(customer, '/v1/3d', { model: MESH, prompt: PROMPT });
    await relay.fixture.owner.query('UPDATE api_keys SET fallback_models = $2 WHERE id = $1', [
      customer.keyId,
      [VIDEO, MESH],
    ]);
    const texture = { model: MESH, mode: 'texture', draft_id: draft };
    const made = await tasksOf(customer);
    for (const [path, body, priced] of [
      [`/v1/videos/${source}/remix`, { prompt: PROMPT }, { model: VIDEO, amount: '0.2', units: '4' }],
      ['/v1/3d', texture, { model: MESH, amount: '0.1', units: '1' }],
    ] as const) {
      const refused = await customer.send(path, json({ ...body, models: [MESH, VIDEO] }));
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { code: 'invalid_value', param: 'models' } });
      const dry = await customer.send(path, json({ ...body, models: [], dry_run: true }));
      expect(await dry.json()).toMatchObject({ object: 'dry_run', models: [{ available: true, ...priced }] });
    }
    expect(await tasksOf(customer)).toEqual(made);
    const textured = await customer.send('/v1/3d', json(texture));
    expect(textured.headers.get('x-served-model')).toBe(MESH);
    await settled(customer);
  });

  /** Makes all tasks exceed their time limit. */
  async function endNow(customer: Customer): Promise<void> {
    await relay.fixture.owner.query(
      `UPDATE tasks SET submitting_at = now() - interval '1 day', deadline = now() - interval '1 day'
       WHERE account_id = $1 AND ended_at IS NULL`,
      [customer.accountId],
    );
    await settled(customer);
  }

  async function finished(customer: Customer, path: string, body: object): Promise<string> {
    const { id } = (await (await customer.send(path, json(body))).json()) as { id: string };
    return until('the end of the task', async () => {
      const task = (await (await customer.send(`${path}/${id}`)).json()) as { status: string };
      return task.status === 'completed' && id;
    });
  }
});
