import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Readable } from 'node:stream';
import type { Channel } from '#catalog/catalog.js';
import { type ChannelProtocol, Upstreams } from '#upstream/adapters.js';
import type { PollOutcome } from '#upstream/outcomes.js';
import type { Capability } from '#upstream/protocol.js';
import { until } from '../../test/support/eventually.js';
import { instantPng } from './images.js';
import { SandboxUnderTest } from './sandbox.fixture.js';

/* What single protocols do beyond the cases that all share, which are in contract/. */

let sandbox: SandboxUnderTest;
let upstreams: Upstreams;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start();
  upstreams = new Upstreams();
});
afterAll(async () => {
  await upstreams.close();
  await sandbox.close();
});

function channel(protocol: ChannelProtocol): Channel {
  return {
    id: protocol,
    protocol,
    baseUrl: sandbox.url,
    apiKey: 'sandbox-key',
    apiKeys: ['sandbox-key'],
    webhookSecret: null,
    enabled: true,
    priority: 0,
    weight: 1,
    requestTimeoutMs: 60_000,
    allowPrivateAddress: true,
    honoursIdempotency: true,
    maxConcurrency: null,
    models: new Map(),
    costs: new Map(),
    groups: new Set(),
  };
}

const adapterFor = (protocol: ChannelProtocol) => upstreams.adapterFor(protocol);
const soon = () => AbortSignal.timeout(60_000);

function ended(poll: () => Promise<PollOutcome>): Promise<PollOutcome> {
  return until('the task to end', async () => {
    const outcome = await poll();
    return (outcome.kind === 'completed' || outcome.kind === 'failed') && outcome;
  });
}

async function bytesOf(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe.each(['openai-xai', 'openai', 'xai'] as const)('edits over %s', (protocol) => {
  it('accept one image and several', async () => {
    const image = { bytes: instantPng, mime: 'image/png', name: 'in.png' };
    for (const images of [[image], [image, image, image]]) {
      const outcome = await adapterFor(protocol).editImages(
        channel(protocol),
        { model: 'm', prompt: 'turn', n: 1, responseFormat: 'b64_json', images },
        soon(),
      );
      const made = [{ b64: expect.stringMatching(/^iVBOR/) }];
      expect(outcome).toMatchObject({ kind: 'delivered', images: made });
    }
  });
});

describe('3D assets over mesh3d', () => {
  let order = 0;
  const create = (prompt: string, more: object = {}) =>
    adapterFor('mesh3d').createAsset(
      channel('mesh3d'),
      { model: 'm', mode: 'draft', prompt, ...more },
      { idempotencyKey: `mesh-${(order += 1)}`, signal: soon() },
    );
  const poll = (id: string) => adapterFor('mesh3d').pollTask(channel('mesh3d'), id, soon());

  async function finished(prompt: string, more: object = {}): Promise<{ id: string; file: Buffer }> {
    const outcome = await create(prompt, more);
    if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
    const end = await ended(() => poll(outcome.upstreamId));
    if (end.kind !== 'completed') throw new Error(JSON.stringify(end));
    const options = { signal: soon(), maxBytes: 1_000_000 };
    const { body } = await adapterFor('mesh3d').openFile(channel('mesh3d'), end.fileUrl, options);
    return { id: outcome.upstreamId, file: await bytesOf(body) };
  }

  it('are drafted from images, textured, and copied', async () => {
    const images = [{ bytes: instantPng, mime: 'image/png', name: 'front.png' }];
    const draft = await finished('a crate', { images });
    const texture = await finished('rusty', { mode: 'texture', draftId: draft.id, format: 'glb', pbr: true });
    for (const { file } of [draft, texture]) expect(file.toString('latin1', 0, 4)).toBe('glTF');
    expect(texture.file.length).toBeGreaterThan(draft.file.length);
  });

  it('are refused without a draft', async () => {
    expect(await create('x', { mode: 'texture', draftId: 'none' })).toMatchObject({
      kind: 'refused',
      code: 'upstream_rejected',
    });
  });
});

describe('what a protocol lacks', () => {
  it('is known beforehand, and never considered accepted', async () => {
    const all = (['openai', 'anthropic', 'gemini', 'mesh3d'] as const).map((protocol) => channel(protocol));
    const names = (capability: Capability) =>
      upstreams.serving(all, capability).map(({ protocol }) => protocol);
    expect(names('chat')).toEqual(['openai']);
    expect(names('messages')).toEqual(['anthropic']);
    expect(names('messagesCount')).toEqual(['anthropic']);
    expect(names('contents')).toEqual(['gemini']);
    expect(names('contentsCount')).toEqual(['gemini']);
    expect(names('images')).toEqual(['openai', 'gemini']);
    expect(names('imageEdits')).toEqual(['openai']);
    expect(names('assets3d')).toEqual(['mesh3d']);
    const request = { model: 'm', prompt: 'p', n: 1, responseFormat: 'b64_json' as const };
    const outcome = await adapterFor('anthropic').generateImages(channel('anthropic'), request, soon());
    expect(outcome).toMatchObject({ kind: 'not_accepted', reason: 'the protocol anthropic has no images' });
    const poll = await adapterFor('anthropic').pollTask(channel('anthropic'), 'x', soon());
    expect(poll).toMatchObject({ kind: 'no_answer' });
  });
});
