import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChannelProtocol, Upstreams } from './adapters.js';
import type { ImageRequest, VideoRequest } from './outcomes.js';
import { channelTo, json, startStub, type StubHandler, type StubUpstream } from './upstream.fixture.js';

/* What each protocol sends, and how it reads answers that only its vendor gives. */

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
const sent = (index = 0) => JSON.parse(stub.requests[index]?.body ?? 'null') as Record<string, unknown>;

async function line(protocol: ChannelProtocol, handler: StubHandler) {
  stub = await startStub(handler);
  return {
    adapter: upstreams.adapterFor(protocol),
    channel: channelTo(stub.url, { id: protocol, protocol }),
  };
}

const image: ImageRequest = { model: 'm', prompt: 'p', n: 1, responseFormat: 'b64_json' };
const video: VideoRequest = { model: 'v', prompt: 'p', seconds: 4 };
const picture = { bytes: Buffer.from('89504e47', 'hex'), mime: 'image/png', name: 'a "b".png' };

async function generate(protocol: ChannelProtocol, request: Partial<ImageRequest>, answer: unknown = {}) {
  const { adapter, channel } = await line(protocol, (_, response) => json(response, 200, answer));
  return adapter.generateImages(channel, { ...image, ...request }, soon());
}

async function createVideo(protocol: ChannelProtocol, request: Partial<VideoRequest>, answer: unknown = {}) {
  const { adapter, channel } = await line(protocol, (_, response) => json(response, 200, answer));
  return adapter.createVideo(channel, { ...video, ...request }, { idempotencyKey: 'key', signal: soon() });
}

async function poll(protocol: ChannelProtocol, id: string, answer: [status: number, body: unknown]) {
  const { adapter, channel } = await line(protocol, (_, response) => json(response, ...answer));
  return adapter.pollTask(channel, id, soon());
}

describe('openai', () => {
  it('requests no format from models that always answer in base64', async () => {
    await generate('openai', { model: 'gpt-image-1' });
    expect(sent()).toEqual({ model: 'gpt-image-1', prompt: 'p', n: 1 });
  });

  it.each([
    [{ size: '512x512', aspectRatio: '16:9' }, '512x512'],
    [{ aspectRatio: '16:9' }, '1536x1024'],
    [{ aspectRatio: '9:16' }, '1024x1536'],
    [{ aspectRatio: '1:1' }, '1024x1024'],
    [{ aspectRatio: 'auto' }, undefined],
    [{}, undefined],
  ])('turns %j into the size %s', async (request, size) => {
    await generate('openai', request);
    expect(sent()['size']).toBe(size);
    expect(sent()).not.toHaveProperty('aspect_ratio');
  });

  it.each([
    [{ aspectRatio: '9:16', resolution: '720p' }, '720x1280'],
    [{ resolution: '480p' }, '854x480'],
    [{ aspectRatio: '1:1', resolution: '1080p' }, '1080x1080'],
    [{ aspectRatio: 'auto', resolution: '720p' }, '1280x720'],
    [{}, undefined],
    [{ size: '1792x1024', aspectRatio: '16:9', resolution: '1080p' }, '1792x1024'],
    [{ size: '1792x1024', aspectRatio: '16:9', resolution: '720p' }, '1280x720'],
    [{ size: '1792x1024', aspectRatio: '1:1', resolution: '1080p' }, '1080x1080'],
  ])('turns a video of %j into the size %s', async (request, size) => {
    const outcome = await createVideo('openai', request, { id: 'video_1' });
    expect(outcome).toMatchObject({ kind: 'accepted', upstreamId: 'video_1' });
    expect(stub.requests[0]?.path).toBe('/v1/videos');
    expect(sent()).toEqual({ model: 'v', prompt: 'p', seconds: '4', ...(size && { size }) });
  });

  it('sends an edit as a form', async () => {
    const { adapter, channel } = await line('openai', (_, response) =>
      json(response, 200, { data: [{ b64_json: 'AAAA' }] }),
    );
    const request = { ...image, n: 2, images: [picture, picture], mask: picture };
    await adapter.editImages(channel, request, soon());
    const { headers, body = '' } = stub.requests[0] ?? {};
    const form = await new Response(body, {
      headers: { 'content-type': headers?.['content-type'] ?? '' },
    }).formData();
    expect([...form.keys()]).toEqual([
      'model',
      'prompt',
      'n',
      'response_format',
      'image[]',
      'image[]',
      'mask',
    ]);
    expect([form.get('n'), (form.get('mask') as File).name]).toEqual(['2', 'a "b".png']);
  });
});

describe('xai', () => {
  it('never sends a size', async () => {
    await generate('xai', { size: '1280x720', resolution: '2k', extras: { quality: 'high' } });
    expect(sent()).toEqual({
      model: 'm',
      prompt: 'p',
      n: 1,
      response_format: 'b64_json',
      aspect_ratio: '16:9',
      resolution: '2k',
      quality: 'high',
    });
  });

  it('sends an edit as JSON with data URLs', async () => {
    const { adapter, channel } = await line('xai', (_, response) => json(response, 200, { data: [] }));
    const part = { url: `data:image/png;base64,${picture.bytes.toString('base64')}`, type: 'image_url' };
    await adapter.editImages(channel, { ...image, images: [picture] }, soon());
    await adapter.editImages(channel, { ...image, images: [picture, picture] }, soon());
    expect([sent(0)['image'], sent(1)['images']]).toEqual([part, [part, part]]);
  });
});

describe('openai-xai', () => {
  it('sends an edit as JSON if a form is refused, and remembers it', async () => {
    const { adapter, channel } = await line('openai-xai', (request, response) => {
      if (request.headers['content-type']?.startsWith('multipart')) return json(response, 415, {});
      return json(response, 200, { data: [{ b64_json: 'AAAA' }] });
    });
    for (let times = 0; times < 2; times += 1) {
      const outcome = await adapter.editImages(channel, { ...image, images: [picture] }, soon());
      expect(outcome).toMatchObject({ kind: 'delivered' });
    }
    const types = stub.requests.map(({ headers }) => headers['content-type']?.split(';')[0]);
    expect(types).toEqual(['multipart/form-data', 'application/json', 'application/json']);
  });
});

describe('gemini', () => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];

  it.each([
    [false, '/v1beta/models/theirs%2Fone:generateContent'],
    [true, '/v1beta/models/theirs%2Fone:streamGenerateContent?alt=sse'],
  ])(
    'names the model of contents only in the path, and requests events; streamed: %s',
    async (stream, path) => {
      const { adapter, channel } = await line('gemini', (_, response) => json(response, 200, {}));
      const body = { model: 'ours', stream, contents, generationConfig: { topK: 3 } };
      const request = { kind: 'contents' as const, model: 'theirs/one', body };
      expect(await adapter.openStream(channel, request, soon())).toMatchObject({ kind: 'answer' });
      expect(stub.requests[0]).toMatchObject({ path });
      expect(sent()).toEqual({ contents, generationConfig: { topK: 3 } });
    },
  );

  it('counts contents as such, and with other fields as the request that contains them', async () => {
    const { adapter, channel } = await line('gemini', (_, response) =>
      json(response, 200, { totalTokens: 7 }),
    );
    const count = (more: object) =>
      adapter.countTokens(
        channel,
        { kind: 'contents', model: 'm', body: { model: 'ours', contents, ...more } },
        soon(),
      );
    expect(await count({})).toEqual({ kind: 'counted', tokens: 7 });
    await count({ tools: [] });
    expect([sent(0), sent(1)]).toEqual([
      { contents },
      { generateContentRequest: { contents, tools: [], model: 'models/m' } },
    ]);
  });

  it.each([
    ['gemini', 'contents'],
    ['anthropic', 'messages'],
  ] as const)('%s: a count that is refused as too many does not pause the key', async (protocol, kind) => {
    const { adapter, channel } = await line(protocol, (_, response) => json(response, 429, {}));
    const keyed = { ...channel, apiKey: 'first', apiKeys: ['first', 'second'] };
    const request = { kind, model: 'm', body: { model: 'ours', contents, messages: [] } };
    const next = () => upstreams.serving([keyed], `${kind}Count`)[0]?.apiKey;
    await adapter.countTokens(keyed, request, soon());
    expect(next()).toBe('first');
    await adapter.openStream(keyed, request, soon());
    expect(next()).toBe('second');
  });

  it('sends instances and parameters', async () => {
    const predictions = [{ mimeType: 'image/png', bytesBase64Encoded: 'AAAA' }, { raiFilteredReason: 'no' }];
    const outcome = await generate('gemini', { n: 2, size: '1792x1024', resolution: '2k' }, { predictions });
    expect(outcome).toMatchObject({ kind: 'delivered', images: [{ b64: 'AAAA', mimeType: 'image/png' }] });
    expect(stub.requests[0]).toMatchObject({
      path: '/v1beta/models/m:predict',
      headers: { 'x-goog-api-key': 'upstream-key' },
    });
    expect(sent()).toEqual({
      instances: [{ prompt: 'p' }],
      parameters: { sampleCount: 2, aspectRatio: '16:9', sampleImageSize: '2K' },
    });
  });

  it.each<[unknown, object]>([
    [
      { predictions: [{ raiFilteredReason: 'unsafe' }] },
      { kind: 'refused', code: 'content_policy_violation' },
    ],
    [{}, { kind: 'refused', code: 'content_policy_violation' }],
    [{ predictions: [] }, { kind: 'unknown', upstreamStatus: 200 }],
    ['<html>', { kind: 'unknown', upstreamStatus: 200 }],
  ])('reads %j as %j', async (answer, outcome) => {
    expect(await generate('gemini', {}, answer)).toMatchObject(outcome);
  });

  it('starts an operation, whose name is the ID', async () => {
    const name = 'models/veo-3.0/operations/abc123';
    const request = { aspectRatio: '9:16', resolution: '720p' };
    expect(await createVideo('gemini', request, { name })).toMatchObject({
      kind: 'accepted',
      upstreamId: name,
    });
    expect(stub.requests[0]?.path).toBe('/v1beta/models/v:predictLongRunning');
    expect(sent()['parameters']).toEqual({ durationSeconds: 4, ...request });
  });

  it.each(['../secrets', 'models/x/operations/a/b', 'models/../operations/a', 'http://x/operations/a', ''])(
    'neither accepts nor polls the name %s',
    async (name) => {
      expect(await createVideo('gemini', {}, { name })).toMatchObject({ kind: 'unknown' });
      await stub.close();
      expect(await poll('gemini', name, [200, {}])).toMatchObject({ kind: 'no_answer' });
      expect(stub.requests).toEqual([]);
    },
  );

  const done = (generateVideoResponse: object) => ({ done: true, response: { generateVideoResponse } });
  const uri = 'https://files.example/v1beta/files/a:download?alt=media';
  it.each<[number, unknown, object]>([
    [200, { name: 'models/m/operations/a1' }, { kind: 'running', progress: null }],
    [
      200,
      { ...done({ generatedSamples: [{ video: { uri } }] }), name: 'operations/b2' },
      { kind: 'no_answer' },
    ],
    [200, { metadata: { progressPercent: 40 } }, { kind: 'running', progress: 40 }],
    [200, done({ generatedSamples: [{ video: { uri } }] }), { kind: 'completed', fileUrl: uri }],
    [200, done({ raiMediaFilteredCount: 1 }), { kind: 'failed', code: 'content_policy_violation' }],
    [200, done({}), { kind: 'no_answer' }],
    [200, done({ generatedSamples: [{ video: { uri: 'http://[' } }] }), { kind: 'no_answer' }],
    [
      200,
      { done: true, error: { code: 13, message: 'It broke.' } },
      { kind: 'failed', message: 'It broke.' },
    ],
    [202, done({}), { kind: 'no_answer' }],
    [404, { error: { code: 404, message: 'gone' } }, { kind: 'no_answer', of: 'task' }],
    [429, {}, { kind: 'no_answer', of: 'channel' }],
    [200, '[]', { kind: 'no_answer' }],
  ])('reads the operation %i %j', async (status, answer, outcome) => {
    expect(await poll('gemini', 'models/m/operations/a1', [status, answer])).toMatchObject(outcome);
    expect(stub.requests[0]?.path).toBe('/v1beta/models/m/operations/a1');
  });
});

describe('mesh3d', () => {
  it.each<[number, unknown, object]>([
    [200, { status: 'queued', progress: 5 }, { kind: 'running', progress: 5 }],
    [200, { status: 'RUNNING' }, { kind: 'running', progress: null }],
    [
      200,
      { status: 'success', output: { model_url: 'https://f.example/a.glb' } },
      { kind: 'completed', fileUrl: 'https://f.example/a.glb' },
    ],
    [200, { status: 'failed', error: { message: 'It broke.' } }, { kind: 'failed', message: 'It broke.' }],
    [
      200,
      { status: 'banned', error: { message: 'x', code: 'moderation' } },
      { kind: 'failed', code: 'content_policy_violation' },
    ],
    [200, { status: 'polishing' }, { kind: 'no_answer', of: 'task' }],
    [500, { status: 'failed' }, { kind: 'no_answer', of: 'channel' }],
  ])('reads %i %j', async (status, answer, outcome) => {
    const { adapter, channel } = await line('mesh3d', (_, response) => json(response, status, answer));
    expect(await adapter.pollTask(channel, 'a/b', soon())).toMatchObject(outcome);
    expect(stub.requests[0]?.path).toBe('/v1/3d/generations/a%2Fb');
  });
});

describe('our own faults, reported with a status that blames the caller', () => {
  it.each<[ChannelProtocol, string]>([
    ['gemini', 'API key not valid. Please pass a valid API key.'],
    ['gemini', 'User location is not supported for the API use.'],
    ['xai', 'Incorrect API key provided: xa***12.'],
    ['openai', 'Billing hard limit has been reached'],
  ])('%s: %s', async (protocol, message) => {
    const { adapter, channel } = await line(protocol, (_, response) =>
      json(response, 400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
    );
    expect(await adapter.generateImages(channel, image, soon())).toMatchObject({
      kind: 'not_accepted',
      upstreamStatus: 400,
    });
  });

  it('anthropic: credit', async () => {
    const message = 'Your credit balance is too low to access the API.';
    const { adapter, channel } = await line('anthropic', (_, response) =>
      json(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } }),
    );
    const request = { kind: 'messages' as const, model: 'm', body: {} };
    expect(await adapter.openStream(channel, request, soon())).toMatchObject({ kind: 'not_accepted' });
  });
});

describe('a channel whose base URL is invalid', () => {
  it.each<ChannelProtocol>(['openai', 'xai', 'openai-xai', 'gemini', 'anthropic', 'mesh3d'])(
    'accepts no call over %s, and says so',
    async (protocol) => {
      const { adapter, channel } = await line(protocol, (_, response) => json(response, 200, {}));
      for (const baseUrl of ['nowhere', 'ftp://127.0.0.1']) {
        const astray = { ...channel, baseUrl };
        const options = { idempotencyKey: 'key', signal: soon() };
        const asset = { model: 'a', mode: 'draft', prompt: 'p' } as const;
        const calls = [
          adapter.generateImages(astray, image, soon()),
          adapter.editImages(astray, { ...image, images: [picture] }, soon()),
          adapter.createVideo(astray, video, options),
          adapter.createAsset(astray, asset, options),
          ...(['chat', 'messages'] as const).map((kind) =>
            adapter.openStream(astray, { kind, model: 'm', body: {} }, soon()),
          ),
        ];
        for (const call of calls) expect(await call).toMatchObject({ kind: 'not_accepted' });
        const poll = await adapter.pollTask(astray, 'operations/1', soon());
        expect(poll).toMatchObject({ kind: 'no_answer' });
      }
      expect(stub.requests).toEqual([]);
    },
  );
});

describe('a huge answer to a task’s creation', () => {
  it.each<ChannelProtocol>(['openai', 'xai', 'openai-xai', 'gemini', 'fal'])(
    'is given up over %s, and nobody knows what became of the task',
    async (protocol) => {
      const long = 'x'.repeat(2 * 1024 * 1024);
      const outcome = await createVideo(
        protocol,
        { model: 'a/b' },
        { id: 'a', request_id: 'a', name: 'operations/a', long },
      );
      expect(outcome).toMatchObject({ kind: 'unknown', upstreamStatus: 200 });
    },
  );
});
