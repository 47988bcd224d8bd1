import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Upstreams } from '../adapters.js';
import type { AssetRequest } from '../outcomes.js';
import { channelTo, json, startStub, type StubHandler, type StubUpstream } from '../upstream.fixture.js';

let upstreams: Upstreams;
let stub: StubUpstream;

beforeEach(() => {
  upstreams = new Upstreams();
});
afterEach(async () => {
  await upstreams.close();
  await stub.close();
});

const soon = () => AbortSignal.timeout(60_000);

async function line(handler: StubHandler) {
  stub = await startStub(handler);
  return { adapter: upstreams.adapterFor('meshy'), channel: channelTo(stub.url, { protocol: 'meshy' }) };
}

const create = async (request: Partial<AssetRequest>, handler: StubHandler = accepting) => {
  const { adapter, channel } = await line(handler);
  const asked = { model: 'meshy-6', mode: 'draft' as const, ...request };
  return adapter.createAsset(channel, asked, { idempotencyKey: 'key', signal: soon() });
};

const accepting: StubHandler = (_, response) => json(response, 202, { result: '018a-b' });

const view = (text: string) => ({ bytes: Buffer.from(text), mime: 'image/png', name: 'view.png' });
const [one, other] = ['data:image/png;base64,b25l', 'data:image/png;base64,dHdv'];
const DRAFT = { ai_model: 'meshy-6' };

describe('an asset', () => {
  it.each<[Partial<AssetRequest>, string, object, string]>([
    [{ prompt: 'p' }, 'v2/text-to-3d', { mode: 'preview', prompt: 'p', ...DRAFT }, 'v2/text-to-3d/018a-b'],
    [
      { prompt: 'p', faceLimit: 5000, pbr: true, seed: 3 },
      'v2/text-to-3d',
      { mode: 'preview', prompt: 'p', ...DRAFT, should_remesh: true, target_polycount: 5000 },
      'v2/text-to-3d/018a-b',
    ],
    [
      { prompt: 'p', images: [view('one')] },
      'v1/image-to-3d',
      { image_url: one, ...DRAFT, should_texture: false },
      'v1/image-to-3d/018a-b',
    ],
    [
      { images: [view('one'), view('two')] },
      'v1/multi-image-to-3d',
      { image_urls: [one, other], ...DRAFT, should_texture: false },
      'v1/multi-image-to-3d/018a-b',
    ],
    [
      { mode: 'texture', draftId: 'v2/text-to-3d/d1' },
      'v2/text-to-3d',
      { mode: 'refine', preview_task_id: 'd1', ...DRAFT },
      'v2/text-to-3d/018a-b',
    ],
    [
      { mode: 'texture', draftId: 'v2/text-to-3d/d1', prompt: 'p', images: [view('one')], pbr: true },
      'v2/text-to-3d',
      { mode: 'refine', preview_task_id: 'd1', ...DRAFT, enable_pbr: true, texture_image_url: one },
      'v2/text-to-3d/018a-b',
    ],
    [
      { mode: 'texture', draftId: 'v1/image-to-3d/d1', prompt: 'p' },
      'v1/retexture',
      { input_task_id: 'd1', ...DRAFT, text_style_prompt: 'p' },
      'v1/retexture/018a-b',
    ],
  ])('from %j is requested at %s', async (request, path, body, upstreamId) => {
    expect(await create(request)).toMatchObject({ kind: 'accepted', upstreamId });
    const [sent] = stub.requests;
    expect([sent?.path, JSON.parse(sent?.body ?? '')]).toEqual([`/openapi/${path}`, body]);
  });

  it.each<[number, object, object]>([
    [400, { message: 'Invalid ai_model' }, { kind: 'refused', status: 400, message: 'Invalid ai_model' }],
    [400, { message: 'It violates our content policy' }, { code: 'content_policy_violation' }],
    [401, { message: 'Invalid API key' }, { kind: 'not_accepted' }],
    [402, { message: 'Insufficient funds' }, { kind: 'not_accepted' }],
    [404, { message: 'Not found' }, { kind: 'not_accepted' }],
    [429, { message: 'Too many requests' }, { kind: 'not_accepted' }],
    [500, { message: 'Internal' }, { kind: 'not_accepted' }],
    [500, {}, { kind: 'unknown' }],
    [502, { message: 'An invalid response was received' }, { kind: 'unknown' }],
    [202, {}, { kind: 'unknown' }],
    [202, { result: '../v1/balance' }, { kind: 'unknown' }],
  ])('whose creation is answered with %i %j is %j', async (status, body, outcome) => {
    const answering: StubHandler = (_, response) => json(response, status, body);
    expect(await create({ prompt: 'p' }, answering)).toMatchObject(outcome);
  });

  it('cannot be textured once the vendor no longer has its draft', async () => {
    const gone: StubHandler = (_, response) => json(response, 404, { message: 'Task not found' });
    const texture = { mode: 'texture' as const, draftId: 'v2/text-to-3d/d1' };
    expect(await create(texture, gone)).toMatchObject({ kind: 'refused', code: 'upstream_rejected' });
  });

  it('from several images cannot be textured, and is not requested', async () => {
    const texture = { mode: 'texture' as const, draftId: 'v1/multi-image-to-3d/d1', prompt: 'p' };
    expect(await create(texture)).toMatchObject({ kind: 'refused', code: 'upstream_rejected' });
    expect(stub.requests).toEqual([]);
  });

  it('is not requested from a draft that another vendor made', async () => {
    expect(await create({ mode: 'texture', draftId: 'mesh_1' })).toMatchObject({ kind: 'not_accepted' });
    expect(stub.requests).toEqual([]);
  });
});

describe('a task', () => {
  const glb = 'https://f.example/a.glb';

  it.each<[object, object]>([
    [
      { status: 'PENDING', progress: 0 },
      { kind: 'running', progress: 0 },
    ],
    [
      { status: 'IN_PROGRESS', progress: 40, model_urls: { glb } },
      { kind: 'running', progress: 40 },
    ],
    [
      { status: 'SUCCEEDED', progress: 100, model_urls: { glb, fbx: 'https://f.example/a.fbx' } },
      { kind: 'completed', fileUrl: glb },
    ],
    [
      { status: 'SUCCEEDED', model_urls: { fbx: 'https://f.example/a.fbx' } },
      { kind: 'no_answer', of: 'task' },
    ],
    [
      { status: 'SUCCEEDED', model_urls: { glb: 'nothing' } },
      { kind: 'no_answer', of: 'task' },
    ],
    [
      { status: 'FAILED', task_error: { message: 'It broke.' } },
      { kind: 'failed', code: 'generation_failed', message: 'It broke.' },
    ],
    [
      { status: 'FAILED', task_error: { message: 'Blocked by content policy' } },
      { kind: 'failed', code: 'content_policy_violation' },
    ],
    [
      { status: 'CANCELED', task_error: null },
      { kind: 'failed', code: 'generation_failed' },
    ],
    [{ status: 'EXPIRED' }, { kind: 'no_answer', of: 'task' }],
    [
      { id: 'another', status: 'FAILED' },
      { kind: 'no_answer', of: 'task' },
    ],
  ])('that reports %j is %j', async (task, outcome) => {
    const { adapter, channel } = await line((_, response) => json(response, 200, { id: 'd1', ...task }));
    expect(await adapter.pollTask(channel, 'v1/retexture/d1', soon())).toMatchObject(outcome);
    expect(stub.requests[0]?.path).toBe('/openapi/v1/retexture/d1');
  });

  it('is requested only with its path', async () => {
    const { adapter, channel } = await line(accepting);
    for (const id of ['d1', 'v1/balance', 'v2/text-to-3d/../balance', 'v1/other/d1', 'v1/retexture/', ''])
      expect(await adapter.pollTask(channel, id, soon())).toMatchObject({ kind: 'no_answer' });
    expect(stub.requests).toEqual([]);
  });
});
