import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { instantPng } from '#apps/sandbox-upstream/images.js';
import { addChannels } from '../support/fault-channels.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const MODEL = '3d-meshy';
const PICTURE = instantPng.toString('base64');

interface Asset {
  id: string;
  status: string;
  error: { code: string } | null;
}

describe('3D assets from Meshy', () => {
  let relay: Relay;

  beforeAll(async () => {
    relay = await startRelay({ FILE_COPY_ATTEMPTS: '2', FILE_COPY_BACKOFF_SECONDS: '0.1' });
    await addChannels(relay);
  });
  afterAll(() => closeClean(relay));

  it.each<[string, object, object]>([
    ['a preview and its refinement', { prompt: 'a teapot', face_limit: 5000 }, {}],
    ['the mesh of an image and its texture', { image: PICTURE }, { prompt: 'blue', pbr: true }],
  ])('are made, downloaded and charged once each: %s', async (_what, draftFields, textureFields) => {
    const customer = await relay.customer('1');
    const draft = await create(customer, draftFields);
    expect(await customer.balance()).toEqual({ main: '0.9', held: '0.1' });
    expect((await ended(customer, draft.id)).status).toBe('completed');
    const texture = await create(customer, { mode: 'texture', draft_id: draft.id, ...textureFields });
    expect((await ended(customer, texture.id)).status).toBe('completed');
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
    for (const { id } of [draft, texture]) {
      const file = await customer.send(`/v1/3d/${id}/content`);
      expect(file.headers.get('content-type')).toBe('model/gltf-binary');
      const bytes = Buffer.from(await file.arrayBuffer());
      expect(bytes.subarray(0, 4).toString()).toBe('glTF');
      expect(bytes.readUInt32LE(8)).toBe(bytes.length);
    }
  });

  it.each([
    ['fail-late', 'generation_failed'],
    ['bad-file', 'generation_failed'],
  ])('cost nothing if they end with %s', async (fault, code) => {
    const customer = await relay.customer('1');
    const draft = await create(customer, { prompt: `a teapot [[fault:${fault}]] [[work:0]]` });
    expect(await ended(customer, draft.id)).toMatchObject({ status: 'failed', error: { code } });
    await until('the refund', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it('cannot be textured if they were made from several images', async () => {
    const customer = await relay.customer('1');
    const draft = await create(customer, { images: [PICTURE, PICTURE] });
    expect((await ended(customer, draft.id)).status).toBe('completed');
    const texture = { model: MODEL, mode: 'texture', draft_id: draft.id, prompt: 'blue' };
    const refused = await customer.send('/v1/3d', json(texture));
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: 'upstream_rejected', message: expect.stringContaining('several images') } },
    ]);
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.9', held: '0' });
  });

  it('cost nothing if the vendor refuses them, and show its reason', async () => {
    const customer = await relay.customer('1');
    const draft = await create(customer, { image: PICTURE });
    await ended(customer, draft.id);
    await until('the settlement', async () => (await customer.balance()).held === '0');
    const before = await customer.balance();
    const texture = { model: MODEL, mode: 'texture', draft_id: draft.id };
    const bare = await customer.send('/v1/3d', json(texture));
    expect(bare.status).toBe(400);
    expect(await bare.json()).toMatchObject({
      error: { code: 'upstream_rejected', message: expect.stringContaining('text_style_prompt') },
    });
    await fetch(`${relay.sandboxUrl}/_sandbox/reset`, { method: 'POST' });
    const late = await customer.send('/v1/3d', json({ ...texture, prompt: 'blue' }));
    expect(late.status).toBe(400);
    expect(await late.json()).toMatchObject({ error: { code: 'upstream_rejected' } });
    expect(await customer.balance()).toEqual(before);
  });

  async function create(customer: Customer, fields: object): Promise<Asset> {
    const response = await customer.send('/v1/3d', json({ model: MODEL, ...fields }));
    const answer = (await response.json()) as Asset;
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    return answer;
  }

  function ended(customer: Customer, id: string): Promise<Asset> {
    return until('the end of the asset', async () => {
      const asset = (await (await customer.send(`/v1/3d/${id}`)).json()) as Asset;
      return ['completed', 'failed'].includes(asset.status) && asset;
    });
  }
});
