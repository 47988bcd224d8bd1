import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setCost } from '#finance/costs/cost-versions.js';
import { type Person, person } from '../support/console.js';
import { addModel } from '../support/models.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const MODEL = 'routed-image';
const IMAGES = '/v1/images/generations';
const IMAGE = { model: MODEL, prompt: 'a lighthouse [[instant]]' };
const path = { params: { path: { model: MODEL } } };

let relay: Relay;
let admin: Person;
let customer: Customer;

beforeAll(async () => {
  relay = await startRelay();
  admin = await person(relay, { roles: ['admin'] });
  customer = await relay.customer('10');
  const { owner } = relay.fixture;
  const of = { id: MODEL, like: 'imgmodel-4', protocol: 'openai-xai', baseUrl: relay.sandboxUrl };
  await addModel(owner, { ...of, channel: 'dear' });
  await owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address)
     SELECT id, 'openai-xai', url, '', true FROM (VALUES ('cheap', $1), ('unpriced', $1), ('dead', 'http://127.0.0.1:1')) AS c (id, url)`,
    [relay.sandboxUrl],
  );
  const ours = `id IN ('cheap', 'dead', 'dear', 'unpriced')`;
  await owner.query(`UPDATE channels SET api_key = 'sandbox-key' WHERE ${ours}`);
  await owner.query(
    `INSERT INTO channel_groups SELECT id, 'Vendora-Main' FROM channels WHERE ${ours} ON CONFLICT DO NOTHING`,
  );
  await owner.query(
    `INSERT INTO channel_models SELECT id, $1, 'imgmodel-4' FROM channels WHERE ${ours}
     ON CONFLICT (channel_id, model_id) DO UPDATE SET upstream_model = excluded.upstream_model`,
    [MODEL],
  );
  for (const [channel, unitCost] of [
    ['dead', '0.001'],
    ['cheap', '0.002'],
    ['dear', '0.01'],
  ] as const) {
    const by = { actor: 'cli:test', reason: 'as billed', requestId: channel, effectiveFrom: null };
    await setCost(relay.fixture.billing, {
      ...by,
      channel,
      model: MODEL,
      cost: { unitCost },
      billsFailures: false,
    });
  }
});
afterAll(() => closeClean(relay));

async function routeBy(routing: 'priority' | 'cost' | 'latency'): Promise<void> {
  const { response } = await admin.api.PATCH('/api/admin/models/{model}', { ...path, body: { routing } });
  expect(response.status).toBe(200);
  await until('every gateway knows', async () => {
    const dry = await customer.send(IMAGES, json({ ...IMAGE, dry_run: true }));
    const { models } = (await dry.json()) as { models: { routing: string }[] };
    return models[0]?.routing === routing;
  });
}

const route = async () => (await admin.api.GET('/api/admin/models/{model}/route', path)).data!;

/** The channels that served images, without duplicates. */
async function servedBy(calls: number): Promise<string[]> {
  const before = await relay.fixture.billing.query('SELECT id FROM charges');
  const known = before.rows.map(({ id }: { id: string }) => id);
  for (let call = 0; call < calls; call += 1)
    expect((await customer.send(IMAGES, json(IMAGE))).status).toBe(200);
  const { rows } = await relay.fixture.billing.query<{ channel: string }>(
    `SELECT DISTINCT channel_id AS channel FROM charges WHERE state = 'settled' AND id <> ALL ($1) ORDER BY 1`,
    [known],
  );
  return rows.map(({ channel }) => channel);
}

describe('a model with several channels', () => {
  it('routed by cost uses the cheapest channel that accepts, and the console shows the order', async () => {
    await routeBy('cost');
    expect(await servedBy(4)).toEqual(['cheap']);
    const { routing, channels } = await route();
    expect(routing).toBe('cost');
    expect(channels.map(({ channelId, cost }) => [channelId, cost])).toEqual([
      ['dead', '0.001'],
      ['cheap', '0.002'],
      ['dear', '0.01'],
      ['unpriced', null],
    ]);
  });

  it('keeps an expensive fallback last by its priority, whatever the others cost', async () => {
    await relay.fixture.owner.query(`UPDATE channels SET priority = 1 WHERE id = 'dear'`);
    expect((await route()).channels[0]).toMatchObject({ channelId: 'dear', priority: 1 });
    await relay.fixture.owner.query(`UPDATE channels SET priority = 0 WHERE id = 'dear'`);
  });

  it('routed by latency shows the measurements of each gateway', async () => {
    await routeBy('latency');
    expect(await servedBy(1)).toHaveLength(1);
    await until('the gateway reports it', async () => {
      const { channels } = await route();
      const known = channels.map(({ latencyMs }) => latencyMs);
      // Measured channels come first, the fastest of them at the top.
      const sorted = known.toSorted((a, b) => (a ?? Infinity) - (b ?? Infinity));
      return known[0] !== null && JSON.stringify(known) === JSON.stringify(sorted);
    });
  });

  it('logs each change, and routes an alias like its model', async () => {
    const { rows } = await relay.fixture.billing.query(
      `SELECT before ->> 'routing' AS before, after ->> 'routing' AS after FROM audit_log
       WHERE subject = $1 AND action = 'model.changed' ORDER BY id`,
      [`model:${MODEL}`],
    );
    expect(rows).toEqual([
      { before: 'priority', after: 'cost' },
      { before: 'cost', after: 'latency' },
    ]);
    const alias = { id: 'routed-alias', aliasOf: MODEL, ownedBy: 'vendorb' };
    await admin.api.POST('/api/admin/models', { body: alias as never });
    const ofAlias = { params: { path: { model: alias.id } } };
    const { error } = await admin.api.PATCH('/api/admin/models/{model}', {
      ...ofAlias,
      body: { routing: 'cost' },
    });
    expect(error?.error).toMatchObject({ code: 'invalid_value', param: 'routing' });
    const { data } = await admin.api.GET('/api/admin/models/{model}/route', ofAlias);
    expect(data).toMatchObject({ routing: 'latency', channels: [] });
  });
});
