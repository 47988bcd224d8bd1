import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person, visitor } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let admin: Person;
let main: Customer;
let publicRelay: Customer;

beforeAll(async () => {
  relay = await startRelay({ CATALOG_LIFE_SECONDS: '0' });
  admin = await person(relay, { roles: ['admin'] });
  main = await relay.customer('10');
  publicRelay = await relay.customer('10', 'Public-Relay');
});
afterAll(() => closeClean(relay));

const owner = (sql: string, values: unknown[] = []) => relay.fixture.owner.query(sql, values);

async function createModel(id: string, body: Record<string, unknown>): Promise<number> {
  const { response } = await admin.api.POST('/api/admin/models', {
    body: { id, ownedBy: 'vendorb', ...body } as never,
  });
  return response.status;
}

/** A model that can be sold, unless one of these is left out. */
async function addModel(
  id: string,
  { family = 'image', upstream = 'vendora-imagine-image' }: { family?: string; upstream?: string } = {},
  without: 'price' | 'channel' | null = null,
): Promise<void> {
  const limits = family === 'image' ? { maxImages: 4 } : { maxSeconds: 8 };
  expect(await createModel(id, { family, limits, groups: ['Vendora-Main'] })).toBe(201);
  if (without !== 'price')
    await owner('INSERT INTO price_versions (model_id, unit_price) VALUES ($1, 0.02)', [id]);
  if (without !== 'channel') {
    await owner(`INSERT INTO channel_models VALUES ('sandbox', $1, $2)`, [id, upstream]);
  }
}

async function listOf(customer: Customer): Promise<string[]> {
  const body = (await (await customer.send('/v1/models')).json()) as { data: { id: string }[] };
  return body.data.map(({ id }) => id);
}

async function marketplace(): Promise<{ id: string; groups: string[] }[]> {
  const { data } = await visitor(relay).GET('/api/public/prices', { params: { query: { limit: 100 } } });
  return data!.items.map(({ id, groups }) => ({ id, groups: groups.map(({ group }) => group) }));
}

const video = (model: string) => json({ model, prompt: 'a boat', seconds: '2' });
const image = (model: string) => json({ model, prompt: 'a fox' });

describe('videos and vendor images', () => {
  const wrong = [
    'vendora-imagine-video',
    'vendora-imagine-video-1.5-preview',
    'vidmodel-3',
    'vendora-imagine-edit',
  ];

  it.each(wrong)('are refused in any group but Vendora-Main, no matter who adds them: %s', async (model) => {
    const put = await admin.api.PUT('/api/admin/groups/{group}/models', {
      params: { path: { group: 'Public-Relay' } },
      body: { models: ['imgmodel-lite', 'vendora-chat-lite', model] },
    });
    expect(put.response.status).toBe(400);
    expect(put.error).toMatchObject({ error: { code: 'invalid_value', param: 'models' } });
    expect(JSON.stringify(put.error)).toContain(`Public-Relay may not serve ${model}`);
    const created = await admin.api.POST('/api/admin/groups', {
      body: { name: 'Half-Price', multiplier: '0.5', models: [model] } as never,
    });
    expect(created.response.status).toBe(400);
  });

  it('are refused as new models, as aliases, and under a new owner', async () => {
    const groups = ['Vendora-Main', 'Public-Relay'];
    expect(await createModel('clip-1', { family: 'video', groups })).toBe(400);
    expect(await createModel('shot-1', { family: 'image', ownedBy: 'Vendora', groups })).toBe(400);
    expect(await createModel('shot-1', { aliasOf: 'vendora-imagine-image', groups })).toBe(400);
    const { response, error } = await admin.api.PATCH('/api/admin/models/{model}', {
      params: { path: { model: 'imgmodel-lite' } },
      body: { ownedBy: 'vendora' },
    });
    expect({ status: response.status, error }).toMatchObject({
      status: 400,
      error: { error: { param: 'ownedBy' } },
    });
    expect(await createModel('shot-2', { family: 'image', groups })).toBe(201);
  });

  it('cost nothing in another group, since they are not sold there, even if a row says otherwise', async () => {
    for (const model of wrong) await owner(`INSERT INTO group_models VALUES ('Public-Relay', $1)`, [model]);
    try {
      for (const [path, body] of [
        ['/v1/videos', video('vendora-imagine-video')],
        ['/v1/images/generations', image('vendora-imagine-edit')],
        ['/v1beta/models/vidmodel-3:predictLongRunning', json({ instances: [{ prompt: 'x' }] })],
      ] as const) {
        const answer = await publicRelay.send(path, body);
        expect({ path, status: answer.status }).toEqual({ path, status: 404 });
        expect(JSON.stringify(await answer.json())).toContain('model_not_found');
      }
      const listed = await listOf(publicRelay);
      expect(listed.filter((id) => wrong.includes(id))).toEqual([]);
      const sold = await marketplace();
      for (const model of wrong)
        expect(sold.find(({ id }) => id === model)?.groups).toEqual(['Vendora-Main']);
      expect(await publicRelay.balance()).toEqual({ main: '10', held: '0' });
    } finally {
      await owner(`DELETE FROM group_models WHERE group_name = 'Public-Relay' AND model_id = ANY ($1)`, [
        wrong,
      ]);
    }
  });
});

describe('an unusable model', () => {
  it.each(['price', 'channel'] as const)('is neither listed nor sold: without a %s', async (without) => {
    const id = `imgmodel-without-${without}`;
    await addModel(id, {}, without);
    for (const path of ['/v1/models', '/v1beta/models']) {
      expect(await (await main.send(path)).text()).not.toContain(id);
      const one = await main.send(`${path}/${id}`);
      expect({ path, status: one.status }).toEqual({ path, status: 404 });
    }
    const anthropic = { headers: { 'anthropic-version': '2023-06-01' } };
    expect(await (await main.send('/v1/models', anthropic)).text()).not.toContain(id);
    expect((await marketplace()).map((each) => each.id)).not.toContain(id);

    const call = await main.send('/v1/images/generations', image(id));
    expect({ status: call.status, retry: call.headers.get('retry-after') }).toEqual({
      status: 404,
      retry: null,
    });
    expect(await call.json()).toMatchObject({ error: { code: 'model_not_found' } });
    const { data } = await admin.api.GET('/api/admin/models/{model}', { params: { path: { model: id } } });
    expect(data?.sales).toEqual([{ group: 'Vendora-Main', hindrance: `no_${without}` }]);
  });

  it('is not listed while its channels are switched off, or are for models of another type', async () => {
    await addModel('imgmodel-on-off');
    expect(await listOf(main)).toContain('imgmodel-on-off');
    await owner(
      `UPDATE channel_models SET channel_id = 'sandbox-anthropic' WHERE model_id = 'imgmodel-on-off'`,
    );
    expect(await listOf(main)).not.toContain('imgmodel-on-off');
    expect((await main.send('/v1/images/generations', image('imgmodel-on-off'))).status).toBe(404);
    await owner(`UPDATE channel_models SET channel_id = 'sandbox' WHERE model_id = 'imgmodel-on-off'`);
    expect((await main.send('/v1/images/generations', image('imgmodel-on-off'))).status).toBe(200);
  });
});

describe('IDs as vendors write them', () => {
  const ids = [
    'openai/gpt-image-1',
    'black-forest-labs/FLUX.1',
    'acme:pictures_2:free',
    `x/${'long-'.repeat(39)}id`,
  ];

  it.each(ids)('are accepted everywhere: %s', async (id) => {
    await addModel(id);
    expect(await listOf(main)).toContain(id);
    for (const path of [id, encodeURIComponent(id)]) {
      const one = await main.send(`/v1/models/${path}`);
      expect({ path, status: one.status, body: await one.json() }).toMatchObject({
        path,
        status: 200,
        body: { id },
      });
    }
    expect(await main.sdk().models.retrieve(id)).toMatchObject({ id });
    expect((await main.send('/v1/images/generations', image(id))).status).toBe(200);
    expect((await marketplace()).map((each) => each.id)).toContain(id);
    const history = await visitor(relay).GET('/api/public/prices/{model}/history', {
      params: { path: { model: id } },
    });
    expect(history.response.status).toBe(200);
    const { data } = await admin.api.GET('/api/admin/models/{model}', { params: { path: { model: id } } });
    expect(data).toMatchObject({ id, sales: [{ group: 'Vendora-Main', hindrance: null }] });
    const owning = await person(relay, { credits: '1' });
    const key = await owning.api.POST('/api/keys', {
      body: { name: 'narrow', group: 'Vendora-Main', allowedModels: [id] },
    });
    expect(key.response.status).toBe(201);
    const proposal = await admin.api.POST('/api/admin/price-proposals', {
      body: { changes: [{ kind: 'price', model: id, price: { unitPrice: '0.03' } }] },
    });
    expect(proposal.response.status).toBe(201);
  });

  it.each(['a//b', '/a', 'a/', '../a', 'a/../b', 'a/.b', 'a b', 'ä', 'a%2Fb', 'x'.repeat(201)])(
    'are refused if a URL would change them: %s',
    async (id) => {
      expect(await createModel(id, { family: 'image' })).toBe(400);
    },
  );

  it('work in the native style, prefix included', async () => {
    const [images, videos] = ['imgmodel/4:fast', 'vidmodel/3_HD:new'];
    await addModel(images);
    await addModel(videos, { family: 'video', upstream: 'vendora-imagine-video' });
    const names = (await (await main.send('/v1beta/models')).json()) as { models: { name: string }[] };
    expect(names.models.map(({ name }) => name)).toEqual(
      expect.arrayContaining([`models/${images}`, `models/${videos}`]),
    );
    for (const path of [images, encodeURIComponent(images)]) {
      const drawn = await main.send(
        `/v1beta/models/${path}:predict`,
        json({ instances: [{ prompt: 'a fox' }] }),
      );
      expect({ path, status: drawn.status }).toEqual({ path, status: 200 });
      expect((await main.send(`/v1beta/models/${path}`)).status).toBe(200);
    }
    const begun = await main.send(
      `/v1beta/models/${videos}:predictLongRunning`,
      json({ instances: [{ prompt: 'a boat' }], parameters: { durationSeconds: 2 } }),
    );
    const { name } = (await begun.json()) as { name: string };
    expect(name).toMatch(/^models\/vidmodel\/3_HD:new\/operations\/[a-z0-9]{26}$/);
    await until('the end of the video', async () => {
      const seen = await main.send(`/v1beta/${name}`);
      expect(seen.status).toBe(200);
      return ((await seen.json()) as { done: boolean }).done;
    });
    await until('the settlement', async () => (await main.balance()).held === '0');
    for (const id of ['openai/gpt-image-1', 'vidmodel/3_HD:new']) {
      const other = await main.send(`/v1beta/models/${id}:predict`, json({ instances: [{ prompt: 'x' }] }));
      expect({ id, status: other.status }).toEqual({ id, status: 404 });
    }
  });
});
