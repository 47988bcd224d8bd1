import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { paths } from '#apps/console/api/schema.js';
import { type Person, person } from '../support/console.js';
import { type Customer, expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGE = 'imgmodel-4';
const BY_SIZE = 'vendora-imagine-image';
const VIDEO = 'vendora-imagine-video';
/** Served over Ark, which makes videos with or without sound. */
const FILM = 'vidmodel-3';
/** Served over xAI, which has no such choice. */
const ALWAYS_WITH_SOUND = 'vendora-imagine-video-1.5';
const MESH = 'vendora-3d';
/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const IMAGE_PRICE = {
  unitPrice: '0.25',
  rates: [
    { when: { quality: 'high', size: '1024x1024' }, unitPrice: '0.167' },
    { when: { quality: 'low' }, unitPrice: '0.011' },
    { when: { size: 'auto', quality: 'auto', input: 'image' as const }, unitPrice: '0.063' },
    { when: { size: 'auto', quality: 'auto' }, unitPrice: '0.042' },
  ],
};
const VIDEO_PRICE = {
  unitPrice: '0.3',
  rates: [
    { when: { resolution: '480p' }, unitPrice: '0.05' },
    { when: { resolution: '720p' }, unitPrice: '0.1' },
  ],
};

type Changes =
  paths['/api/admin/price-proposals']['post']['requestBody']['content']['application/json']['changes'];

interface Charge {
  state: string;
  held: string;
  charged: string;
  price: { units: string; unit_price: string; dimensions: Record<string, string>; rule: string };
}

let relay: Relay;
let vendor: Server;
/** The bodies that the image vendor received. */
const asked: string[] = [];
let admin: Person;
let colleague: Person;
let owner: Person;
let customer: Customer;

beforeAll(async () => {
  vendor = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => {
      const body = Buffer.concat(pieces).toString('latin1');
      asked.push(body);
      const count = body.includes('only one') ? 1 : Number(/"n":(\d+)/.exec(body)?.[1] ?? 1);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: Array.from({ length: count }, () => ({ b64_json: PNG })) }));
    });
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  relay = await startRelay();
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const { owner: database } = relay.fixture;
  await database.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, priority) VALUES ('by-quality', 'openai', $1, 'k', 9)`,
    [url],
  );
  await database.query(`INSERT INTO channel_models VALUES ('by-quality', $1, $1)`, [IMAGE]);
  await database.query(`INSERT INTO channel_groups VALUES ('by-quality', 'Vendora-Main')`);
  await database.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, priority) VALUES ('by-size', 'openai-xai', $1, 'k', 9)`,
    [url],
  );
  await database.query(`INSERT INTO channel_models VALUES ('by-size', $1, $1)`, [BY_SIZE]);
  await database.query(`INSERT INTO channel_groups VALUES ('by-size', 'Vendora-Main')`);
  await database.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, priority, allow_private_address)
     VALUES ('by-sound', 'ark', $1, 'sandbox-key', 9, true)`,
    [`${relay.sandboxUrl}/ark`],
  );
  await database.query(`INSERT INTO channel_models VALUES ('by-sound', $1, 'seedance-1-5-pro')`, [FILM]);
  await database.query(`INSERT INTO channel_groups VALUES ('by-sound', 'Vendora-Main')`);
  await database.query(`UPDATE channels SET protocol = 'xai' WHERE id = 'sandbox'`);
  admin = await person(relay, { roles: ['admin'] });
  colleague = await person(relay, { roles: ['admin'] });
  customer = await relay.customer('100');
  owner = await person(relay, { accountId: customer.accountId });
});
afterAll(async () => {
  if (relay) await expectCleanLedger(relay);
  await relay?.close();
  vendor?.closeAllConnections();
  vendor?.close();
});

async function propose(changes: Changes) {
  return admin.api.POST('/api/admin/price-proposals', { body: { changes, note: 'rates' } });
}

/** Previews a change, as if applied to the last day's requests, and then confirms it. */
async function change(changes: Changes) {
  const { data } = await propose(changes);
  const params = { path: { proposalId: data!.id } };
  const { data: preview } = await admin.api.GET('/api/admin/price-proposals/{proposalId}/preview', {
    params,
  });
  const confirmed = await colleague.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
    params,
    body: { revision: 1 },
  });
  expect(confirmed.data?.state).toBe('confirmed');
  await until('the gateway to learn of it', async () => {
    const { rowCount } = await relay.fixture.owner.query(
      `SELECT FROM outbox WHERE topic = 'catalog.changed' LIMIT 1`,
    );
    return rowCount === 0;
  });
  return preview!;
}

/** Makes images. Returns the id of the charge. */
async function image(body: object): Promise<string> {
  const response = await customer.send(
    '/v1/images/generations',
    json({ model: IMAGE, prompt: 'a boat', ...body }),
  );
  expect(response.status).toBe(200);
  return response.headers.get('x-request-id')!;
}

async function quoted(body: object): Promise<string> {
  const wanted = { model: IMAGE, prompt: 'a boat', dry_run: true, ...body };
  const response = await customer.send('/v1/images/generations', json(wanted));
  return ((await response.json()) as { models: { amount: string }[] }).models[0]!.amount;
}

/** Makes a video of two seconds. Returns the id of its charge, which has ended. */
async function video(body: object): Promise<string> {
  const wanted = { model: VIDEO, prompt: 'a boat [[instant]]', seconds: '2', ...body };
  const response = await customer.send('/v1/videos', json(wanted));
  expect(response.status).toBe(200);
  return settled(response.headers.get('x-request-id'));
}

const film = (body: object = {}) => video({ model: FILM, ...body });

/** Waits until a video or asset is charged. */
async function settled(id: string | null): Promise<string> {
  await until('the task to be paid', async () => (await charge(id!)).state === 'settled');
  return id!;
}

/** Makes a 3D asset, and waits until it is charged. */
async function mesh(body: object): Promise<{ id: string; chargeId: string }> {
  const response = await customer.send('/v1/3d', json({ model: MESH, ...body }));
  expect(response.status).toBe(200);
  const { id } = (await response.json()) as { id: string };
  return { id, chargeId: await settled(response.headers.get('x-request-id')) };
}

/** The last video, as its customer sees it. */
async function newest(): Promise<object> {
  const list = (await (await customer.send('/v1/videos?limit=1')).json()) as { data: object[] };
  return list.data[0]!;
}

/** The sound setting that the vendor received for its last video; null if it received none. */
async function soundAsked(): Promise<boolean | null> {
  const response = await fetch(`${relay.sandboxUrl}/_sandbox/tasks?limit=1`);
  const { tasks } = (await response.json()) as { tasks: { audio: boolean | null }[] };
  return tasks[0]!.audio;
}

async function charge(id: string): Promise<Charge> {
  return (await (await customer.send(`/v1/charges/${id}`)).json()) as Charge;
}

/** The rates and units of a charge, after the server has recalculated it to the same total. */
async function priced(id: string): Promise<[dimensions: object, unitPrice: string, charged: string]> {
  const { data } = await owner.api.GET('/api/charges/{chargeId}', { params: { path: { chargeId: id } } });
  expect(data).toMatchObject({ agrees: true });
  const { price, charged } = await charge(id);
  expect(data!.pricing).toMatchObject({ dimensions: price.dimensions, unitPrice: price.unit_price });
  return [price.dimensions, price.unit_price, charged];
}

describe('a model with rates', () => {
  const before: string[] = [];

  it('keeps its price until a proposal is confirmed, and the preview uses past requests', async () => {
    before.push(await image({ quality: 'high', size: '1024x1024' }), await image({ n: 2 }));
    before.push(await video({ resolution: '480p' }));
    expect(asked.some((body) => body.includes('quality'))).toBe(false);
    const preview = await change([
      { kind: 'price', model: IMAGE, price: IMAGE_PRICE },
      { kind: 'price', model: VIDEO, price: VIDEO_PRICE },
    ]);
    expect(preview.rows).toMatchObject([
      { model: IMAGE, requests: 2, current: '0.09', proposed: '0.251' },
      { model: VIDEO, requests: 1, current: '0.1', proposed: '0.1' },
    ]);
  });

  it('charges an image by size, quality and whether it has an input image, and requests that quality', async () => {
    const high = { quality: 'high', size: '1024x1024' };
    expect(await quoted(high)).toBe('0.167');
    expect(await priced(await image(high))).toEqual([high, '0.167', '0.167']);
    expect(JSON.parse(asked.at(-1)!)).toMatchObject({ quality: 'high', size: '1024x1024' });
    expect(await priced(await image({ quality: 'LOW', aspect_ratio: '3:2' }))).toEqual([
      { size: '3:2', quality: 'low' },
      '0.011',
      '0.011',
    ]);
    expect(JSON.parse(asked.at(-1)!)).toMatchObject({ quality: 'low', size: '1536x1024' });
    expect(await priced(await image({ size: 'auto' }))).toEqual([{}, '0.042', '0.042']);
    expect(await priced(await image({ size: '1536x1024' }))).toEqual([{ size: '1536x1024' }, '0.25', '0.25']);

    const edit = json({ model: IMAGE, prompt: 'a boat', image: `data:image/png;base64,${PNG}` });
    const edited = await customer.send('/v1/images/edits', edit);
    expect(await edited.text()).toContain('data');
    expect(await priced(edited.headers.get('x-request-id')!)).toEqual([{ input: 'image' }, '0.063', '0.063']);
  });

  it('charges delivered images at the requested price', async () => {
    const id = await image({ prompt: 'only one', n: 3, quality: 'low' });
    expect(await charge(id)).toMatchObject({ held: '0.033', charged: '0.011' });
    expect(await priced(id)).toEqual([{ quality: 'low' }, '0.011', '0.011']);
  });

  it('charges a second of video by its resolution, in any spelling', async () => {
    expect(await priced(await video({ resolution: '480p' }))).toEqual([
      { resolution: '480p' },
      '0.05',
      '0.1',
    ]);
    expect(await priced(await video({ size: '1280x720' }))).toEqual([{ resolution: '720p' }, '0.1', '0.2']);
    expect(await priced(await video({}))).toEqual([{}, '0.3', '0.6']);
  });

  it('charges a second of video by its sound, and requests from the vendor what is paid for', async () => {
    expect(await priced(await film())).toEqual([{}, '0.05', '0.1']);
    expect(await soundAsked()).toBeNull();
    // Not announced, so the gateway may only find out from the hold.
    await relay.fixture.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, rates, effective_from) VALUES ($1, 0.4, $2, clock_timestamp())`,
      [FILM, JSON.stringify([{ when: { audio: 'off' }, unitPrice: '0.2' }])],
    );
    expect(await priced(await film())).toEqual([{}, '0.4', '0.8']);
    expect(await soundAsked()).toBe(true);
    expect(await newest()).toMatchObject({ generate_audio: true });
    expect(await priced(await film({ generate_audio: true }))).toEqual([{ audio: 'on' }, '0.4', '0.8']);
    expect(await priced(await film({ generate_audio: false }))).toEqual([{ audio: 'off' }, '0.2', '0.4']);
    expect(await soundAsked()).toBe(false);
    expect(await newest()).toMatchObject({ generate_audio: false });
    const body = { model: FILM, keyId: customer.keyId, seconds: 2, dimensions: { audio: 'off' as const } };
    const { data: quote } = await owner.api.POST('/api/quote', { body });
    expect(quote).toMatchObject({ amount: '0.4', unitPrice: '0.2' });
  });

  it.each<[string, () => Promise<string | null>]>([
    [
      'OpenAI',
      async () => {
        const asked = { model: FILM, prompt: 'a boat [[instant]]', generate_audio: false };
        const { response } = await customer.sdk().videos.create(asked).withResponse();
        return response.headers.get('x-request-id');
      },
    ],
    [
      'Google',
      async () => {
        const body = {
          instances: [{ prompt: 'a boat [[instant]]' }],
          parameters: { generateAudio: false },
        };
        const path = `/v1beta/models/${FILM}:predictLongRunning`;
        const response = await customer.send(path, json(body));
        expect(await response.json()).toHaveProperty('name');
        return response.headers.get('x-request-id');
      },
    ],
  ])('accepts the sound of a video in the format of %s clients', async (_, ask) => {
    const id = await settled(await ask());
    expect((await priced(id)).slice(0, 2)).toEqual([{ audio: 'off' }, '0.2']);
    expect(await soundAsked()).toBe(false);
  });

  it('charges each length at its own price per second, as a whole price', async () => {
    const rates = [{ when: { length: '3' }, unitPrice: '0.033333333333333333' }];
    await change([{ kind: 'price', model: FILM, price: { unitPrice: '0.05', rates } }]);
    expect(await priced(await film({ seconds: '2' }))).toEqual([{}, '0.05', '0.1']);
    const id = await film({ seconds: '3' });
    expect(await priced(id)).toEqual([{}, '0.033333333333333333', '0.1']);
    const body = { model: FILM, keyId: customer.keyId, seconds: 3 };
    const { data: quote } = await owner.api.POST('/api/quote', { body });
    expect(quote).toMatchObject({ amount: '0.1' });
  });

  it('charges a 3D asset by its mode and by whether it was made from an image', async () => {
    const rates = [{ when: { mode: 'texture' as const }, unitPrice: '0.25' }];
    await change([{ kind: 'price', model: MESH, price: { unitPrice: '0.1', rates } }]);
    const draft = await mesh({ prompt: 'a boat [[instant]]' });
    expect(await priced(draft.chargeId)).toEqual([{ mode: 'draft' }, '0.1', '0.1']);
    const texture = await mesh({ mode: 'texture', draft_id: draft.id, prompt: 'blue [[instant]]' });
    expect(await priced(texture.chargeId)).toEqual([{ mode: 'texture' }, '0.25', '0.25']);
    const ofImages = [
      { when: { mode: 'draft' as const, input: 'image' as const }, unitPrice: '0.15' },
      ...rates,
    ];
    await change([{ kind: 'price', model: MESH, price: { unitPrice: '0.1', rates: ofImages } }]);
    const pictured = await mesh({ image: PNG, prompt: 'a boat [[instant]]' });
    const said = { mode: 'draft', input: 'image' };
    expect(await priced(pictured.chargeId)).toEqual([said, '0.15', '0.15']);
    const prompted = await mesh({ prompt: 'a boat [[instant]]' });
    expect(await priced(prompted.chargeId)).toEqual([{ mode: 'draft' }, '0.1', '0.1']);
    const body = { model: MESH, keyId: customer.keyId, dimensions: { input: 'image' as const } };
    const { data: quote } = await owner.api.POST('/api/quote', { body });
    expect(quote).toMatchObject({ amount: '0.15', unitPrice: '0.15' });
  });

  it('makes and prices no video without sound at a vendor that always adds it', async () => {
    const price = { unitPrice: '0.4', rates: [{ when: { audio: 'off' as const }, unitPrice: '0.2' }] };
    const silent = { kind: 'price' as const, model: ALWAYS_WITH_SOUND, price };
    const { error: fault } = await propose([silent]);
    const reason = expect.stringMatching(
      /^rates\.0 can never apply: all channels of \S+ make videos with sound/,
    );
    expect(fault?.error).toMatchObject({ param: 'changes.0', message: reason });
    const body = { rows: [{ ...silent, model: FILM }, silent], dryRun: true };
    const { data: dry } = await admin.api.POST('/api/admin/prices/import', { body });
    expect(dry).toMatchObject({ refused: [{ line: 2, reason }] });
    const unsent = { model: ALWAYS_WITH_SOUND, prompt: 'a boat', generate_audio: false };
    const refused = await customer.send('/v1/videos', json(unsent));
    const error = { code: 'invalid_value', param: 'generate_audio' };
    expect([refused.status, await refused.json()]).toMatchObject([400, { error }]);
    const native = await customer.send(
      `/v1beta/models/${FILM}:predictLongRunning`,
      json({ instances: [{ prompt: 'a boat' }], parameters: { generateAudio: 'no' } }),
    );
    expect(native.status).toBe(400);
    expect(await native.text()).toContain('parameters.generateAudio must be true or false');
  });

  it("is listed at the viewer's price, and quoted in the console", async () => {
    await change([{ kind: 'multiplier', group: 'Vendora-Main', multiplier: '2' }]);
    const { data } = await owner.api.GET('/api/public/prices', {
      params: { query: { text: VIDEO, limit: 200 } },
    });
    const listed = data!.items.find(({ id }) => id === VIDEO)!;
    expect(listed.listPrice).toEqual(VIDEO_PRICE);
    expect(listed.groups).toMatchObject([
      { price: { unitPrice: '0.6', rates: [{ unitPrice: '0.1' }, { unitPrice: '0.2' }] } },
    ]);
    const dimensions = { resolution: '720p' };
    const body = { model: VIDEO, keyId: customer.keyId, seconds: 3, dimensions };
    const { data: quote } = await owner.api.POST('/api/quote', { body });
    expect(quote).toMatchObject({ amount: '0.6', unitPrice: '0.1', multiplier: '2' });
    const id = await image({ quality: 'low' });
    expect(await priced(id)).toEqual([{ quality: 'low' }, '0.011', '0.022']);
    await change([{ kind: 'multiplier', group: 'Vendora-Main', multiplier: '1' }]);
    expect(await priced(id)).toEqual([{ quality: 'low' }, '0.011', '0.022']);
  });

  it('yields to the fixed price of a group', async () => {
    const fixed = [
      { kind: 'rule', group: 'Vendora-Main', rule: 'fixed_per_call', unitPrice: '0.001' },
    ] as const;
    await change([...fixed]);
    const id = await image({ quality: 'high', size: '1024x1024' });
    expect(await charge(id)).toMatchObject({ charged: '0.001', price: { rule: 'fixed_per_call' } });
    // Nobody pays for it, so it is not requested.
    expect(asked.at(-1)).not.toContain('quality');
    await change([{ kind: 'rule', group: 'Vendora-Main', rule: 'none' }]);
  });

  it('keeps every charge unchanged when its rates change, and when they end', async () => {
    const id = await image({ quality: 'low' });
    const rates = [{ when: { quality: 'low' }, unitPrice: '0.02' }];
    await change([{ kind: 'price', model: IMAGE, price: { unitPrice: '0.3', rates } }]);
    expect(await priced(await image({ quality: 'low' }))).toEqual([{ quality: 'low' }, '0.02', '0.02']);
    await change([{ kind: 'price', model: IMAGE, price: { unitPrice: '0.03' } }]);
    expect(await priced(await image({ quality: 'low' }))).toEqual([{ quality: 'low' }, '0.03', '0.03']);
    expect(await priced(id)).toEqual([{ quality: 'low' }, '0.011', '0.011']);
    for (const early of before) expect(await priced(early)).toBeDefined();
    const params = { path: { model: IMAGE }, query: { limit: 10 } };
    const { data } = await owner.api.GET('/api/public/prices/{model}/history', { params });
    const prices = data!.items.filter(({ kind }) => kind === 'price').map(({ price }) => price);
    expect(prices).toEqual([
      { unitPrice: '0.03' },
      { unitPrice: '0.3', rates },
      IMAGE_PRICE,
      { unitPrice: '0.03' },
    ]);
  });

  it('requests no resolution without a rate, and only one shape', async () => {
    const body = { model: BY_SIZE, size: '1024x1024', aspect_ratio: '3:2', resolution: '2K' };
    await image(body);
    expect(JSON.parse(asked.at(-1)!)).toMatchObject({ size: '1024x1024', resolution: '2k' });
    expect(asked.at(-1)).not.toContain('aspect_ratio');
    const rates = [{ when: { size: '1024x1024' }, unitPrice: '0.02' }];
    await change([{ kind: 'price', model: BY_SIZE, price: { unitPrice: '0.3', rates } }]);
    const said = { size: '1024x1024', resolution: '2k' };
    expect(await priced(await image(body))).toEqual([said, '0.02', '0.02']);
    expect(JSON.parse(asked.at(-1)!)).toMatchObject({ size: '1024x1024' });
    expect(asked.at(-1)).not.toMatch(/resolution|aspect_ratio/);
  });

  it('appears in the price change register with each rate', async () => {
    const finance = await person(relay, { roles: ['finance'] });
    const { data } = await finance.api.GET('/api/finance/reports/price-changes', {
      params: { query: { kind: 'price', subject: IMAGE } },
    });
    expect(data!.versions.map(({ value }) => value)).toEqual([
      '0.03',
      '0.3 with quality=low 0.02',
      '0.25 with size=1024x1024 quality=high 0.167; quality=low 0.011; size=auto input=image quality=auto 0.063; size=auto quality=auto 0.042',
      '0.03',
    ]);
  });
});

describe('invalid rates', () => {
  const rate = (when: object) => ({ when, unitPrice: '0.1' });

  it.each<[string, string, object[], RegExp]>([
    [
      'can never apply',
      IMAGE,
      [rate({ quality: 'high' }), rate({ quality: 'high', size: '1:1' })],
      /rates\.1 can never/,
    ],
    [
      'names a property that its model lacks',
      VIDEO,
      [rate({ quality: 'high' })],
      /have no quality, use resolution/,
    ],
    ['names an unknown property', IMAGE, [rate({ colour: 'red' })], /changes\.0/],
    ['has no condition', IMAGE, [rate({})], /changes\.0/],
    [
      'exceeds their number',
      IMAGE,
      Array.from({ length: 65 }, (_, at) => rate({ size: `${at}` })),
      /changes\.0/,
    ],
    ['has a long value', IMAGE, [rate({ quality: 'x'.repeat(33) })], /changes\.0/],
    [
      'exceeds the highest price',
      IMAGE,
      [{ ...rate({ quality: 'high' }), unitPrice: '1000001' }],
      /rates\.0\.unitPrice is above/,
    ],
    ['belongs to a chat', 'vendora-chat', [rate({ quality: 'high' })], /priced by the token/],
    ['belongs to speech', 'vendora-speech', [rate({ quality: 'high' })], /leave rates out/],
  ])('are rejected if one %s', async (_, model, rates, message) => {
    const price = { unitPrice: '1', rates } as typeof IMAGE_PRICE;
    const { error } = await propose([{ kind: 'price', model, price }]);
    expect(`${error?.error.param}: ${error?.error.message}`).toMatch(message);
  });
});
