import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { instantPng } from '#apps/sandbox-upstream/images.js';
import { GatedUpstream, POLLS } from '../support/gated-upstream.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const MODEL = 'vendora-3d';
const PICTURE = instantPng.toString('base64');

interface Asset {
  id: string;
  task_id: string;
  object: string;
  mode: string;
  status: string;
  progress: number;
  draft_id: string | null;
  error: { code: string; message: string } | null;
  usage: { cost_in_usd_ticks: number };
  output?: { model_url: string; format: string };
}

describe('3D assets', () => {
  let relay: Relay;
  let upstream: GatedUpstream;

  beforeAll(async () => {
    // The time that an unclear creation takes.
    relay = await startRelay({ VIDEO_CREATE_LIMIT_SECONDS: '8' });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  it('are drafted and textured, polled to the end, downloaded, and charged once per call', async () => {
    const customer = await relay.customer('1');
    const draft = await create(customer, {
      prompt: 'a teapot',
      face_limit: 5000,
      seed: 1,
      pbr: true,
      format: 'glb',
    });
    expect(draft).toMatchObject({
      object: '3d.task',
      mode: 'draft',
      status: 'queued',
      draft_id: null,
      error: null,
    });
    expect(draft).toMatchObject({ task_id: draft.id, usage: { cost_in_usd_ticks: 1_000_000_000 } });
    expect(draft).not.toHaveProperty('output');
    expect(await customer.balance()).toEqual({ main: '0.9', held: '0.1' });
    const finished = await ended(customer, draft.id);
    expect(finished).toMatchObject({ status: 'completed', progress: 100, output: { format: 'glb' } });

    const texture = await create(customer, { mode: 'texture', draft_id: draft.id, prompt: 'blue' });
    expect(texture).toMatchObject({ mode: 'texture', draft_id: draft.id });
    const textured = await ended(customer, texture.id);
    expect(textured.status).toBe('completed');
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });

    for (const response of [
      await customer.send(`/v1/3d/${texture.id}/content?format=glb`),
      await fetch(textured.output?.model_url ?? ''),
    ]) {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('model/gltf-binary');
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(bytes.subarray(0, 4).toString()).toBe('glTF');
      expect(bytes.readUInt32LE(8)).toBe(bytes.length);
    }
    await refused(customer, `/v1/3d/${texture.id}/content?format=fbx`, {}, [400, 'invalid_value', 'format']);
  });

  it.each<[string, object]>([
    ['an image alone', { image: PICTURE }],
    ['a data URL', { image: `data:image/png;base64,${PICTURE}` }],
    ['four views', { images: [PICTURE, PICTURE, PICTURE, PICTURE] }],
    ["another relay's words", { type: 'image_to_model', image: PICTURE }],
  ])('are made from %s', async (_what, fields) => {
    const customer = await relay.customer('1');
    const draft = await create(customer, fields);
    expect((await ended(customer, draft.id)).status).toBe('completed');
  });

  it('are refunded when they fail, late or at once', async () => {
    const customer = await relay.customer('1');
    const draft = await create(customer, { prompt: 'late [[fault:fail-late]]' });
    const failed = await ended(customer, draft.id);
    expect(failed).toMatchObject({ status: 'failed', usage: { cost_in_usd_ticks: 0 } });
    expect(failed.error?.code).toBe('generation_failed');
    await until('the release', async () => (await customer.balance()).held === '0');
    await refused(customer, '/v1/3d', json({ model: MODEL, prompt: '[[fault:moderation]]' }), [
      400,
      'content_policy_violation',
    ]);
    await refused(customer, `/v1/3d/${draft.id}/content`, {}, [400, 'asset_failed']);
    const texture = { model: MODEL, mode: 'texture', draft_id: draft.id };
    await refused(customer, '/v1/3d', json(texture), [400, 'draft_failed', 'draft_id']);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it('are completed even if it is unclear whether the upstream accepted them', async () => {
    const customer = await relay.customer('1');
    const draft = await create(customer, { prompt: 'unheard [[fault:accept-then-timeout]]' });
    expect(draft.status).toBe('queued');
    expect((await ended(customer, draft.id)).status).toBe('completed');
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.9', held: '0' });
  });

  it('are textured only from a finished draft in the same account', async () => {
    const customer = await relay.customer('1');
    const stranger = await relay.customer('1');
    upstream.shut(POLLS);
    const draft = await create(customer, { prompt: 'slow' });
    const texture = { model: MODEL, mode: 'texture', draft_id: draft.id };
    await refused(customer, '/v1/3d', json(texture), [400, 'draft_not_finished', 'draft_id']);
    await refused(stranger, '/v1/3d', json(texture), [404, 'draft_not_found', 'draft_id']);
    await refused(customer, `/v1/3d/${draft.id}/content`, {}, [400, 'asset_not_ready']);
    await refused(stranger, `/v1/3d/${draft.id}`, {}, [404, 'asset_not_found']);
    await refused(customer, `/v1/videos/${draft.id}`, {}, [404, 'video_not_found']);
    upstream.open();
    await ended(customer, draft.id);
    const textured = await create(customer, { task_type: 'texture_model', original_model_task_id: draft.id });
    await refused(customer, '/v1/3d', json({ ...texture, draft_id: textured.id }), [
      400,
      'not_a_draft',
      'draft_id',
    ]);
    await ended(customer, textured.id);
    expect(await stranger.balance()).toEqual({ main: '1', held: '0' });
  });

  it.each<[string, object, [number, string, string?]]>([
    ['an address', { image: 'https://example.com/a.png' }, [400, 'image_must_be_base64', 'image']],
    ['an address in an object', { images: [{ url: 'http://x' }] }, [400, 'image_must_be_base64', 'image']],
    ['words for an image', { image: 'no base64!' }, [400, 'image_must_be_base64', 'image']],
    ['a number for an image', { image: 5 }, [400, 'image_must_be_base64', 'image']],
    ['a text as image', { image: Buffer.from('hello').toString('base64') }, [400, 'invalid_image', 'image']],
    ['five views', { images: Array<string>(5).fill(PICTURE) }, [400, 'invalid_value', 'images']],
    ['nothing to make', {}, [400, 'missing_required_parameter', 'prompt']],
    ['no draft', { mode: 'texture' }, [400, 'draft_required', 'draft_id']],
    [
      'an unknown draft',
      { mode: 'texture', draft_id: '01jcq3v8w1f5p6k7m8n9q0r1s2' },
      [404, 'draft_not_found'],
    ],
    ['a draft of a draft', { prompt: 'x', draft_id: 'x' }, [400, 'invalid_value', 'draft_id']],
    ['a webhook', { prompt: 'x', webhook: 'https://x' }, [400, 'webhook_not_supported', 'webhook']],
    [
      'a callback',
      { prompt: 'x', callback_url: 'https://x' },
      [400, 'webhook_not_supported', 'callback_url'],
    ],
    ['another mode', { prompt: 'x', mode: 'refine' }, [400, 'invalid_value', 'mode']],
    ['another format', { prompt: 'x', format: 'fbx' }, [400, 'invalid_value', 'format']],
    ['too many faces', { prompt: 'x', face_limit: 1e9 }, [400, 'invalid_value', 'face_limit']],
    ['pbr in words', { prompt: 'x', pbr: 'yes' }, [400, 'invalid_type', 'pbr']],
    ['a video model', { prompt: 'x', model: 'vidmodel-3' }, [400, 'model_not_supported_here', 'model']],
  ])('are refused before anything is held: %s', async (_what, fields, expected) => {
    const customer = await relay.customer('1');
    await refused(customer, '/v1/3d', json({ model: MODEL, ...fields }), expected);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it('are priced by a dry run that does not look at their images', async () => {
    const customer = await relay.customer('1');
    const body = { model: MODEL, image: Buffer.from('hello').toString('base64'), dry_run: true };
    const dry = await customer.send('/v1/3d', json(body));
    expect(await dry.json()).toMatchObject({
      object: 'dry_run',
      models: [{ available: true, amount: '0.1' }],
    });
  });

  it('are not made on the conversation path, nor in a group without them', async () => {
    const customer = await relay.customer('1');
    const chat = json({ model: MODEL, messages: [{ role: 'user', content: 'x' }] });
    await refused(customer, '/v1/chat/completions', chat, [400, 'model_not_supported_here', 'model']);
    const other = await relay.customer('1', 'Public-Relay');
    await refused(other, '/v1/3d', json({ model: MODEL, prompt: 'x' }), [404, 'model_not_found', 'model']);
  });

  async function create(customer: Customer, fields: object): Promise<Asset> {
    const response = await customer.send('/v1/3d', json({ model: MODEL, ...fields }));
    const answer = (await response.json()) as Asset;
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    return answer;
  }

  function ended(customer: Customer, id: string): Promise<Asset> {
    return until('the end of the asset', async () => {
      const response = await customer.send(`/v1/3d/${id}`);
      expect(response.status).toBe(200);
      const asset = (await response.json()) as Asset;
      return ['completed', 'failed'].includes(asset.status) && asset;
    });
  }

  async function refused(
    customer: Customer,
    path: string,
    init: RequestInit,
    [status, code, param]: [number, string, string?],
  ): Promise<void> {
    const response = await customer.send(path, init);
    const body = (await response.json()) as { error: { code: string; param: string | null } };
    expect({ status: response.status, code: body.error?.code }).toEqual({ status, code });
    if (param !== undefined) expect(body.error.param).toBe(param);
  }
});
