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

const soon = () => AbortSignal.timeout(60_000);
const sent = () => JSON.parse(stub.requests[0]?.body ?? 'null') as Record<string, unknown>;

async function line(handler: StubHandler) {
  stub = await startStub(handler);
  return { adapter: upstreams.adapterFor('ark'), channel: channelTo(stub.url, { protocol: 'ark' }) };
}

const image = { model: 'seedream', prompt: 'p', n: 1, responseFormat: 'b64_json' as const };

describe('an image', () => {
  it.each([
    [{ size: '1024x1024', resolution: '4k' }, '1024x1024'],
    [{ aspectRatio: '16:9' }, '2560x1440'],
    [{ aspectRatio: '16:9', resolution: '1k' }, '1280x720'],
    [{ aspectRatio: '1:1', resolution: '4k' }, '4096x4096'],
    [{ aspectRatio: 'auto', resolution: '4k' }, '4K'],
    [{ size: 'auto', resolution: '2k' }, '2K'],
    [{}, undefined],
  ])('of %j has the size %s', async (shape, size) => {
    const { adapter, channel } = await line((_, response) =>
      json(response, 200, { data: [{ b64_json: 'eA==' }] }),
    );
    expect(await adapter.generateImages(channel, { ...image, ...shape }, soon())).toMatchObject({
      kind: 'delivered',
    });
    expect(sent()).toEqual({
      model: 'seedream',
      prompt: 'p',
      size,
      response_format: 'b64_json',
      watermark: false,
    });
  });

  it.each<[number, unknown, object]>([
    [
      200,
      { data: [{ error: { code: 'OutputImageSensitiveContentDetected', message: 'x' } }] },
      { kind: 'refused' },
    ],
    [200, { data: [{ error: { code: 'InternalServiceError', message: 'x' } }] }, { kind: 'not_accepted' }],
    [200, { data: [] }, { kind: 'unknown' }],
    [
      400,
      { error: { code: 'InputTextSensitiveContentDetected', message: 'x' } },
      { code: 'content_policy_violation' },
    ],
    [400, { error: { code: 'InvalidEndpoint.ClosedEndpoint', message: 'x' } }, { kind: 'not_accepted' }],
    [400, { error: { code: 'ContentSecurityDetectionError', message: 'x' } }, { kind: 'not_accepted' }],
    [403, { error: { code: 'AccountOverdueError', message: 'x' } }, { kind: 'not_accepted' }],
    [404, { error: { code: 'ModelNotOpen', message: 'x' } }, { kind: 'not_accepted' }],
  ])('answered %i %j is %j', async (status, body, outcome) => {
    const { adapter, channel } = await line((_, response) => json(response, status, body));
    expect(await adapter.generateImages(channel, image, soon())).toMatchObject(outcome);
  });
});

describe('a video', () => {
  it.each([
    ['a boat --duration 12', 'a boat \u2014duration 12'],
    ['a boat --dur 12 --rs 1080p', 'a boat \u2014dur 12 \u2014rs 1080p'],
    ['a boat ---dur 12', 'a boat \u2014dur 12'],
    ['a boat -- dur 12', 'a boat \u2014 dur 12'],
    ['a boat - at night -- 5', 'a boat - at night -- 5'],
  ])('of %j has exactly the length that is paid for', async (prompt, text) => {
    const { adapter, channel } = await line((_, response) => json(response, 200, { id: 'cgt-1' }));
    const request = {
      model: 'seedance',
      prompt,
      seconds: 5,
      aspectRatio: '16:9',
      resolution: '720p',
      audio: false,
    };
    const outcome = await adapter.createVideo(channel, request, { idempotencyKey: 'key', signal: soon() });
    expect(outcome).toMatchObject({ kind: 'accepted', upstreamId: 'cgt-1' });
    expect(sent()).toEqual({
      model: 'seedance',
      content: [{ type: 'text', text }],
      duration: 5,
      ratio: '16:9',
      resolution: '720p',
      generate_audio: false,
      watermark: false,
    });
  });

  it('of thousands of dashes is sent without holding up others', async () => {
    const { adapter, channel } = await line((_, response) => json(response, 200, { id: 'cgt-1' }));
    const request = { model: 'seedance', prompt: '-'.repeat(32_000), seconds: 5 };
    const before = process.threadCpuUsage();
    await adapter.createVideo(channel, request, { idempotencyKey: 'key', signal: soon() });
    // It took more than two seconds.
    expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
  });

  const video_url = 'https://tos.example/a.mp4';
  it.each<[object, object]>([
    [{ status: 'queued' }, { kind: 'running' }],
    [{ status: 'running' }, { kind: 'running' }],
    [
      { status: 'succeeded', content: { video_url } },
      { kind: 'completed', fileUrl: video_url },
    ],
    [{ status: 'succeeded' }, { kind: 'no_answer', of: 'task' }],
    [
      { status: 'succeeded', content: { video_url }, id: 'cgt-2' },
      { kind: 'no_answer', of: 'task' },
    ],
    [
      { status: 'failed', error: { code: 'x', message: 'It broke.' } },
      { kind: 'failed', message: 'It broke.' },
    ],
    [
      { status: 'failed', error: { code: 'OutputVideoSensitiveContentDetected', message: 'x' } },
      { kind: 'failed', code: 'content_policy_violation' },
    ],
    [{ status: 'cancelled' }, { kind: 'failed' }],
    [{ status: 'expired' }, { kind: 'failed' }],
    [{ status: 'paused' }, { kind: 'no_answer', of: 'task' }],
  ])('that reports %j is %j', async (state, outcome) => {
    const { adapter, channel } = await line((_, response) => json(response, 200, { id: 'cgt-1', ...state }));
    expect(await adapter.pollTask(channel, 'cgt-1', soon())).toMatchObject(outcome);
  });

  it.each([
    ['queued', ['GET', 'DELETE']],
    ['running', ['GET']],
    ['succeeded', ['GET']],
  ])('that is %s and no longer wanted is cancelled with %j', async (status, methods) => {
    const { adapter, channel } = await line((_, response) => json(response, 200, { id: 'cgt-1', status }));
    await adapter.cancelTask(channel, 'cgt-1');
    expect(stub.requests.map(({ method }) => method)).toEqual(methods);
  });
});
