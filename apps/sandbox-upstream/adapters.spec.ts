import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Readable } from 'node:stream';
import type { Channel, ChannelProtocol } from '#catalog/catalog.js';
import { Upstreams } from '#upstream/adapters.js';
import type { PollOutcome, StreamKind, StreamOutcome } from '#upstream/outcomes.js';
import type { Capability } from '#upstream/protocol.js';
import { SseSplitter } from '#upstream/sse-splitter.js';
import { UsageMeter } from '#upstream/usage-meter.js';
import { instantPng } from './images.js';
import { SandboxUnderTest } from './sandbox.fixture.js';

/*
 * Every adapter against the vendor that stands in for it: what one writes, the other reads. The specs of libs/upstream
 * say what each answer means; these say that both sides speak the same protocol.
 */

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

function channel(protocol: ChannelProtocol, apiKey = 'sandbox-key'): Channel {
  return {
    id: protocol,
    protocol,
    baseUrl: sandbox.url,
    apiKey,
    apiKeys: [apiKey],
    enabled: true,
    priority: 0,
    weight: 1,
    requestTimeoutMs: 5_000,
    allowPrivateAddress: true,
    honoursIdempotency: true,
    maxConcurrency: null,
    models: new Map(),
    groups: new Set(),
  };
}

const adapterFor = (protocol: ChannelProtocol) => upstreams.adapterFor(protocol);
const soon = () => AbortSignal.timeout(4_000);

async function ended(poll: () => Promise<PollOutcome>): Promise<PollOutcome> {
  for (const before = performance.now(); performance.now() - before < 4_000;) {
    const outcome = await poll();
    if (outcome.kind === 'completed' || outcome.kind === 'failed') return outcome;
  }
  throw new Error('the task did not end');
}

async function bytesOf(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const notTaken = (status: number) => ({ kind: 'not_accepted', upstreamStatus: status });
const unclear = (status: number) => ({ kind: 'unknown', upstreamStatus: status });

describe.each(['openai-xai', 'openai', 'xai', 'gemini'] as const)('images over %s', (protocol) => {
  const generate = (prompt: string, key?: string, signal = soon()) =>
    adapterFor(protocol).generateImages(
      channel(protocol, key),
      { model: 'imagen', prompt, n: 2, responseFormat: 'b64_json', aspectRatio: '1:1' },
      signal,
    );

  it('are delivered and can be read', async () => {
    const outcome = await generate('a fox');
    if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    expect(outcome.images).toHaveLength(2);
    const [image = {}] = outcome.images;
    const { mime } = await upstreams.fetchImage(channel(protocol), image, soon());
    expect(mime).toBe('image/png');
  });

  it('are fewer where the vendor made fewer', async () => {
    expect(await generate('[[fault:partial]]')).toMatchObject({ kind: 'delivered', images: [{}] });
  });

  it.each<[string, object]>([
    ['reject-400', { kind: 'refused', status: 400 }],
    ['reject-422', { kind: 'refused', status: 422 }],
    ['moderation', { kind: 'refused', status: 400, code: 'content_policy_violation' }],
    ['reject-403', notTaken(403)],
    ['reject-404', notTaken(404)],
    ['reject-429', notTaken(429)],
    ['reject-503', notTaken(503)],
    ['reject-500', notTaken(500)],
    ['fail-late', notTaken(500)],
    ['truncated', unclear(200)],
  ])('with %s are classified', async (fault, outcome) => {
    expect(await generate(`[[fault:${fault}]]`)).toMatchObject(outcome);
  });

  it('are nobody’s but ours to pay for when our key is wrong', async () => {
    expect(await generate('a fox', 'stale')).toMatchObject({ kind: 'not_accepted' });
    expect(await generate('[[fault:reject-401]]')).toMatchObject({ kind: 'not_accepted' });
  });

  it.each(['accept-then-timeout', 'never-finish'])('with %s stay unclear', async (fault) => {
    const outcome = await generate(`[[fault:${fault}]] [[work:0]]`, undefined, AbortSignal.timeout(300));
    expect(outcome).toMatchObject({ kind: 'unknown', upstreamStatus: null });
  });
});

describe.each(['openai-xai', 'openai', 'xai'] as const)('edits over %s', (protocol) => {
  const image = { bytes: instantPng, mime: 'image/png', name: 'in.png' };
  const edit = (prompt: string, images = [image]) =>
    adapterFor(protocol).editImages(
      channel(protocol),
      { model: 'm', prompt, n: 1, responseFormat: 'b64_json', images },
      soon(),
    );

  it('of one and of several images are delivered', async () => {
    for (const images of [[image], [image, image, image]]) {
      const outcome = await edit('turn', images);
      expect(outcome).toMatchObject({
        kind: 'delivered',
        images: [{ b64: expect.stringMatching(/^iVBOR/) }],
      });
    }
  });

  it('are classified like all images', async () => {
    expect(await edit('[[fault:moderation]]')).toMatchObject({
      kind: 'refused',
      code: 'content_policy_violation',
    });
    expect(await edit('[[fault:reject-503]]')).toMatchObject(notTaken(503));
  });
});

describe.each(['openai-xai', 'openai', 'xai', 'gemini'] as const)('videos over %s', (protocol) => {
  let order = 0;
  const create = (prompt: string, idempotencyKey = `${protocol}-${(order += 1)}`, signal = soon()) =>
    adapterFor(protocol).createVideo(
      channel(protocol),
      { model: 'veo', prompt, seconds: 1, aspectRatio: '16:9', resolution: '720p' },
      { idempotencyKey, signal },
    );
  const accepted = async (prompt: string) => {
    const outcome = await create(prompt);
    if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
    return outcome.upstreamId;
  };
  const poll = (id: string) => adapterFor(protocol).pollVideo(channel(protocol), id, soon());

  it('are created, followed to their end, and copied', async () => {
    const id = await accepted('a boat');
    expect(await poll(id)).toMatchObject({ kind: 'running' });
    const outcome = await ended(() => poll(id));
    if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
    const options = { signal: soon(), maxBytes: 10_000_000 };
    const { body } = await adapterFor(protocol).openVideo(channel(protocol), outcome.fileUrl, options);
    expect((await bytesOf(body)).toString('latin1', 4, 8)).toBe('ftyp');
  });

  it('fail late with a reason', async () => {
    const id = await accepted('[[fault:fail-late]] [[work:0]]');
    expect(await poll(id)).toMatchObject({
      kind: 'failed',
      code: 'generation_failed',
      message: expect.any(String),
    });
  });

  it('are asked again after strange words and broken polls', async () => {
    for (const fault of ['unknown-status', 'poll-5xx', 'done-word']) {
      const id = await accepted(`[[fault:${fault}]] [[work:0]]`);
      expect(await ended(() => poll(id))).toMatchObject({ kind: 'completed' });
    }
    expect(await poll('models/m/operations/none')).toMatchObject({ kind: 'no_answer' });
  });

  it('are classified at their creation', async () => {
    expect(await create('[[fault:reject-415]]')).toMatchObject({ kind: 'refused', status: 415 });
    expect(await create('[[fault:reject-429]]')).toMatchObject(notTaken(429));
    expect(await create('[[fault:reject-500]]')).toMatchObject(notTaken(500));
  });

  it('are found again under their key when the create was never answered', async () => {
    const key = `lost-${protocol}`;
    const prompt = '[[fault:accept-then-timeout]] [[work:0]]';
    expect(await create(prompt, key, AbortSignal.timeout(300))).toMatchObject({ kind: 'unknown' });
    expect(await create(prompt, key)).toMatchObject({ kind: 'accepted' });
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
  const poll = (id: string) => adapterFor('mesh3d').pollAsset(channel('mesh3d'), id, soon());

  async function finished(prompt: string, more: object = {}): Promise<{ id: string; file: Buffer }> {
    const outcome = await create(prompt, more);
    if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome));
    const end = await ended(() => poll(outcome.upstreamId));
    if (end.kind !== 'completed') throw new Error(JSON.stringify(end));
    const options = { signal: soon(), maxBytes: 1_000_000 };
    const { body } = await adapterFor('mesh3d').openAsset(channel('mesh3d'), end.fileUrl, options);
    return { id: outcome.upstreamId, file: await bytesOf(body) };
  }

  it('are drafted from images, textured, and copied', async () => {
    const images = [{ bytes: instantPng, mime: 'image/png', name: 'front.png' }];
    const draft = await finished('a crate', { images });
    const texture = await finished('rusty', { mode: 'texture', draftId: draft.id, format: 'glb', pbr: true });
    for (const { file } of [draft, texture]) expect(file.toString('latin1', 0, 4)).toBe('glTF');
    expect(texture.file.length).toBeGreaterThan(draft.file.length);
  });

  it('are refused, fail late, and go on after strange words', async () => {
    expect(await create('[[fault:moderation]]')).toMatchObject({
      kind: 'refused',
      code: 'content_policy_violation',
    });
    expect(await create('x', { mode: 'texture', draftId: 'none' })).toMatchObject({
      kind: 'refused',
      upstreamCode: 'draft_not_found',
    });
    const failing = await create('[[fault:fail-late]] [[work:0]]');
    if (failing.kind !== 'accepted') throw new Error(JSON.stringify(failing));
    expect(await poll(failing.upstreamId)).toMatchObject({ kind: 'failed' });
    await finished('[[fault:unknown-status]] [[fault:done-word]] [[work:0]]');
  });
});

const dialects: [ChannelProtocol, StreamKind][] = [
  ['openai', 'chat'],
  ['openai', 'responses'],
  ['openai-xai', 'chat'],
  ['anthropic', 'messages'],
  ['gemini', 'contents'],
];

describe.each(dialects)('%s %s', (protocol, kind) => {
  /** Google answers 400 to a wrong key. */
  const wrongKeyStatus = protocol === 'gemini' ? 400 : 401;
  const open = (prompt: string, more: { stream?: boolean; signal?: AbortSignal; key?: string } = {}) => {
    const { stream = true, signal = soon(), key } = more;
    const body = {
      model: 'the client’s name',
      max_tokens: 500,
      stream,
      ...(kind === 'responses' ? { input: prompt } : { messages: [{ role: 'user', content: prompt }] }),
    };
    const contents = { model: body.model, stream, contents: [{ role: 'user', parts: [{ text: prompt }] }] };
    const request = { kind, model: 'theirs', body: kind === 'contents' ? contents : body };
    return adapterFor(protocol).openStream(channel(protocol, key), request, signal);
  };
  const answered = (outcome: StreamOutcome) => {
    if (outcome.kind !== 'answer') throw new Error(JSON.stringify(outcome));
    return outcome;
  };

  async function metered(prompt: string): Promise<{ meter: UsageMeter; isBroken: boolean }> {
    const { body, contentType } = answered(await open(prompt));
    expect(contentType).toContain('text/event-stream');
    const meter = new UsageMeter(kind);
    const splitter = new SseSplitter();
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        for (const event of splitter.push(chunk)) meter.addEvent(event);
      }
    } catch {
      return { meter, isBroken: true };
    }
    return { meter, isBroken: false };
  }

  it('streams, and is metered by what the vendor reports', async () => {
    const { meter } = await metered('x [[tokens:50]] [[cached:3]]');
    expect(meter.reported()).toMatchObject({ cachedInput: 3n, output: 50n });
    // Google's streams have no event that is the last for sure.
    expect(kind === 'contents' ? meter.isFinal : meter.end === 'complete').toBe(true);
  });

  it('is metered whole too', async () => {
    const { body } = answered(await open('x [[tokens:20]]', { stream: false }));
    const meter = new UsageMeter(kind);
    meter.addAnswer(await bytesOf(body));
    expect(meter.reported()).toMatchObject({ output: 20n });
  });

  it('is metered by what was streamed when it broke off, or nothing was reported', async () => {
    const silent = await metered('x [[tokens:40]] [[fault:no-usage]]');
    expect(silent.meter.reported()).toBeNull();
    expect(silent.meter.streamed()).toBeGreaterThan(30n);
    const cut = await metered('x [[tokens:40]] [[fault:stream-cut]]');
    expect(cut).toMatchObject({ isBroken: true, meter: { end: 'open' } });
    expect(cut.meter.billable({ input: 7n, cachedInput: 0n, output: 0n }).output).toBeGreaterThan(15n);
    expect((await metered('x [[tokens:40]] [[fault:mid-stream-error]]')).meter.end).toBe('failed');
  });

  it.each<[string, object]>([
    ['reject-400', { kind: 'refused', status: 400, message: expect.stringContaining('as ordered') }],
    ['moderation', { kind: 'refused', code: 'content_policy_violation' }],
    ['reject-401', notTaken(wrongKeyStatus)],
    ['reject-429', notTaken(429)],
    ['reject-503', notTaken(503)],
    ['reject-500', notTaken(500)],
    ['fail-late', notTaken(500)],
  ])('with %s is classified before a byte', async (fault, outcome) => {
    expect(await open(`[[fault:${fault}]]`)).toMatchObject(outcome);
  });

  it('knows whether an overloaded vendor took nothing', async () => {
    const outcome = protocol === 'anthropic' ? notTaken(529) : unclear(529);
    expect(await open('[[fault:reject-529]]')).toMatchObject(outcome);
  });

  it('is not accepted under a wrong key of ours', async () => {
    expect(await open('x', { key: 'stale' })).toMatchObject(notTaken(wrongKeyStatus));
  });

  it('stays unclear when no head comes in time', async () => {
    const outcome = await open('[[fault:accept-then-timeout]]', { signal: AbortSignal.timeout(300) });
    expect(outcome).toMatchObject({ kind: 'unknown', upstreamStatus: null });
  });

  it('is cancelled at the vendor as soon as its caller leaves', async () => {
    const abandoned = async () => (await sandbox.read('/_sandbox/stats'))['textsAbandoned'] as number;
    const before = await abandoned();
    const left = new AbortController();
    const { body } = answered(await open('[[tokens:500]] [[fault:slow-bytes]]', { signal: left.signal }));
    left.abort();
    await expect(bytesOf(body)).rejects.toThrow();
    await sandbox.readUntil('/_sandbox/stats', (stats) => stats['textsAbandoned'] === before + 1);
    const other = answered(await open('[[tokens:500]] [[fault:slow-bytes]]'));
    other.body.destroy();
    await sandbox.readUntil('/_sandbox/stats', (stats) => stats['textsAbandoned'] === before + 2);
  });
});

describe('speech over openai', () => {
  it('is handed over as it comes', async () => {
    const body = { model: 'x', input: 'one two', voice: 'alloy', response_format: 'wav' };
    const request = { kind: 'speech' as const, model: 'tts', body };
    const outcome = await adapterFor('openai').openStream(channel('openai'), request, soon());
    if (outcome.kind !== 'answer') throw new Error(JSON.stringify(outcome));
    expect(outcome.contentType).toBe('audio/wav');
    expect((await bytesOf(outcome.body)).toString('latin1', 0, 4)).toBe('RIFF');
  });
});

describe('what a protocol lacks', () => {
  it('is known beforehand, and never taken for accepted', async () => {
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
    const poll = await adapterFor('anthropic').pollVideo(channel('anthropic'), 'x', soon());
    expect(poll).toMatchObject({ kind: 'no_answer' });
  });
});
