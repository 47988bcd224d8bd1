import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Upstreams } from '../adapters.js';
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

const adapter = () => upstreams.adapterFor('openai-xai');
const soon = () => AbortSignal.timeout(60_000);

async function answering(handler: StubHandler) {
  stub = await startStub(handler);
  return channelTo(stub.url);
}

describe('images', () => {
  const request = { model: 'up-model', prompt: 'a hat', n: 2, responseFormat: 'b64_json' as const };

  it('sends what was requested, and reads either form of an image, but no more than requested', async () => {
    const data = [
      { b64_json: 'data:image/png;base64,AAAA', revised_prompt: 'a red hat', mime_type: 'image/png' },
      { url: 'https://files.example/2.png' },
      { url: 'https://files.example/3.png' },
    ];
    const channel = await answering((_, response) => json(response, 200, { created: 1, data }));
    const outcome = await adapter().generateImages(
      channel,
      { ...request, size: '512x512', extras: { quality: 'high', n: 9 } },
      soon(),
    );
    expect(outcome).toEqual({
      kind: 'delivered',
      images: [
        { b64: 'AAAA', revisedPrompt: 'a red hat', mimeType: 'image/png' },
        { url: 'https://files.example/2.png' },
      ],
      upstreamStatus: 200,
    });
    const [sent] = stub.requests;
    expect(sent).toMatchObject({ method: 'POST', path: '/v1/images/generations' });
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer upstream-key',
      'content-type': 'application/json',
    });
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      model: 'up-model',
      prompt: 'a hat',
      n: 2,
      response_format: 'b64_json',
      size: '512x512',
      quality: 'high',
    });
  });

  it('requests the nearest aspect ratio if the upstream accepts no size, and remembers it', async () => {
    const channel = await answering((_, response) => {
      const body = JSON.parse(stub.requests.at(-1)?.body ?? '{}') as { size?: string };
      if (body.size) return json(response, 400, { code: 'x', error: 'Argument not supported: size' });
      return json(response, 200, { data: [{ url: 'https://files.example/1.png' }] });
    });
    for (const size of ['1792x1024', '1024x1024']) {
      const outcome = await adapter().generateImages(channel, { ...request, size }, soon());
      expect(outcome).toMatchObject({ kind: 'delivered' });
    }
    const bodies = stub.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(bodies.map((body) => body['size'] ?? body['aspect_ratio'])).toEqual(['1792x1024', '16:9', '1:1']);
  });

  it('treats images withheld for their content as a refusal, and drops them from a mixed answer', async () => {
    let data: unknown[] = [{ url: 'https://files.example/1.png', respect_moderation: false }];
    const channel = await answering((_, response) => json(response, 200, { data }));
    const refused = await adapter().generateImages(channel, request, soon());
    expect(refused).toMatchObject({ kind: 'refused', status: 400, code: 'content_policy_violation' });
    data = [...data, { b64_json: 'AAAA', respect_moderation: true }];
    const partial = await adapter().generateImages(channel, request, soon());
    expect(partial).toMatchObject({ kind: 'delivered', images: [{ b64: 'AAAA' }] });
  });
});

describe('creating a video', () => {
  const create = (channel: Parameters<ReturnType<typeof adapter>['createVideo']>[0]) =>
    adapter().createVideo(
      channel,
      { model: 'up-video', prompt: 'a boat', seconds: 7, aspectRatio: '16:9', resolution: '720p' },
      { idempotencyKey: 'task1', signal: soon() },
    );

  it.each([
    [{ id: 'video_1', request_id: 'r1' }, 'video_1'],
    [{ request_id: 'r1' }, 'r1'],
    [{ id: 'video_1' }, 'video_1'],
  ])('accepts %j', async (body, upstreamId) => {
    const channel = await answering((_, response) => json(response, 200, body));
    expect(await create(channel)).toEqual({ kind: 'accepted', upstreamId, upstreamStatus: 200 });
  });

  it('sends the seconds as a number and the task’s key', async () => {
    const channel = await answering((_, response) => json(response, 200, { id: 'x' }));
    await create({ ...channel, baseUrl: `${channel.baseUrl}/` });
    expect(stub.requests[0]).toMatchObject({
      path: '/v1/videos/generations',
      headers: { 'idempotency-key': 'task1', authorization: 'Bearer upstream-key' },
      body: JSON.stringify({
        model: 'up-video',
        prompt: 'a boat',
        duration: 7,
        aspect_ratio: '16:9',
        resolution: '720p',
      }),
    });
  });
});

describe('polling a video', () => {
  const done = (url?: string) => ({ status: 'done', video: { url, duration: 5, respect_moderation: true } });
  const noAnswer = { kind: 'no_answer' };
  const rows: [status: number, body: unknown, outcome: object][] = [
    [202, '', { kind: 'running', progress: null }],
    [202, { status: 'pending', progress: 12 }, { kind: 'running', progress: 12 }],
    [200, { status: 'queued', progress: 0 }, { kind: 'running', progress: 0 }],
    [200, { status: 'in_progress', progress: '40%' }, { kind: 'running', progress: 40 }],
    [200, { status: 'processing', progress: 400 }, { kind: 'running', progress: 100 }],
    [200, { status: 'In_Progress', progress: {} }, { kind: 'running', progress: null }],
    [200, done('https://files.example/v.mp4'), { kind: 'completed', fileUrl: 'https://files.example/v.mp4' }],
    [200, { ...done('https://files.example/v.mp4'), status: 'completed' }, { kind: 'completed' }],
    [200, { video: { url: 'https://files.example/v.mp4' } }, { kind: 'completed' }],
    [
      200,
      { status: 'done', video: { respect_moderation: false } },
      { kind: 'failed', code: 'content_policy_violation' },
    ],
    [200, done('http://[broken'), noAnswer],
    [
      200,
      { status: 'failed', error: { code: 'x', message: 'It broke.' } },
      { kind: 'failed', code: 'generation_failed', message: 'It broke.' },
    ],
    [
      200,
      { status: 'failed', error: { code: 'content_policy_violation', message: 'No.' } },
      { kind: 'failed', code: 'content_policy_violation' },
    ],
    [
      200,
      { status: 'failed', video: { url: '' }, error: null },
      { kind: 'failed', message: 'The generation failed.' },
    ],
    [200, { status: 'failed', error: 'a\u0000b\nc' }, { kind: 'failed', message: 'a b c' }],
    [200, { status: 'post_processing' }, noAnswer],
    [200, { status: 'expired' }, { kind: 'failed', code: 'generation_failed' }],
    [200, { status: 5 }, noAnswer],
    [200, {}, noAnswer],
    [200, '', noAnswer],
    [200, '[1]', noAnswer],
    [200, '<html>', noAnswer],
    [302, '', noAnswer],
    [401, {}, noAnswer],
    [404, { status: 'failed' }, noAnswer],
    [410, { status: 'failed' }, noAnswer],
    [429, {}, noAnswer],
    [500, { status: 'failed' }, noAnswer],
    [503, '', noAnswer],
  ];

  it.each(rows)('%i %j', async (status, body, outcome) => {
    const channel = await answering((_, response) => json(response, status, body));
    expect(await adapter().pollTask(channel, 'id/../1', soon())).toMatchObject(outcome);
    expect(stub.requests[0]?.path).toBe('/v1/videos/id%2F..%2F1');
  });

  it('finds the file at the content path if the answer names none', async () => {
    const channel = await answering((_, response) => json(response, 200, { status: 'completed' }));
    expect(await adapter().pollTask(channel, 'v1', soon())).toEqual({
      kind: 'completed',
      fileUrl: `${stub.url}/v1/videos/v1/content`,
    });
  });

  it('gets no answer from an upstream that is gone or silent', async () => {
    const channel = await answering(() => undefined);
    expect(await adapter().pollTask(channel, 'v1', AbortSignal.timeout(100))).toMatchObject(noAnswer);
    await stub.close();
    expect(await adapter().pollTask(channel, 'v1', soon())).toMatchObject(noAnswer);
  });
});
