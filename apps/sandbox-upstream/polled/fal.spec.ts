import { systemClock } from '#platform/clock.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFalClient } from '@fal-ai/client';
import { Upstreams } from '#upstream/adapters.js';
import { channelTo } from '#upstream/upstream.fixture.js';
import { type Json, SandboxUnderTest } from '../sandbox.fixture.js';

const FLUX = 'fal-ai/flux/schnell';
const KLING = 'fal-ai/kling-video/v2/master/text-to-video';

let sandbox: SandboxUnderTest;
/** How far ahead the sandbox's clock is. */
let shiftMs = 0;
const STEP_MS = 30_000;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start({
    imageSeconds: 0,
    clock: { ...systemClock, nowMs: () => Date.now() + shiftMs },
  });
});
afterAll(() => sandbox.close());

/** The vendor's own client, with its addresses redirected to the sandbox. */
function client(credentials = 'sandbox-key') {
  const toSandbox: typeof fetch = (url, init) =>
    fetch((url as string).replace('https://queue.fal.run', `${sandbox.url}/fal`), init);
  return createFalClient({ credentials, fetch: toSandbox, retry: { maxRetries: 0 } });
}

describe('fal’s client', () => {
  it('submits, follows and reads images', async () => {
    const words: string[] = [];
    const { data, requestId } = (await client().subscribe(FLUX, {
      input: { prompt: 'a fox [[work:59]]', num_images: 2, image_size: { width: 64, height: 32 } },
      pollInterval: 20,
      onQueueUpdate: ({ status }) => {
        words.push(status);
        shiftMs += STEP_MS;
      },
    })) as { data: Json; requestId: string };
    expect(requestId).toMatch(/^[\w-]{36}$/);
    expect([...new Set(words)]).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    expect(data['images']).toHaveLength(2);
    const file = await fetch(data['images'][0].url as string);
    expect(file.headers.get('content-type')).toBe('image/png');
  });

  it('makes a video', async () => {
    const { queue } = client();
    const input = { prompt: 'a boat [[work:0]]', duration: '5' as const, aspect_ratio: '16:9' as const };
    const { request_id: requestId } = await queue.submit(KLING, { input });
    expect((await queue.status(KLING, { requestId })).status).toBe('COMPLETED');
    const { data } = (await queue.result(KLING, { requestId })) as { data: Json };
    expect(data['video'].url).toContain(`/files/videos/${requestId}.mp4`);
  });

  it('gets errors in the formats that it knows', async () => {
    const { queue } = client();
    const submitted = await queue.submit(FLUX, { input: { prompt: '[[fault:moderation]] [[work:0]]' } });
    const result = queue.result(FLUX, { requestId: submitted.request_id });
    await expect(result).rejects.toMatchObject({
      name: 'ValidationError',
      status: 422,
      body: { detail: [{ type: 'content_policy_violation' }] },
    });
    const stale = client('stale').queue.submit(FLUX, { input: { prompt: 'a fox' } });
    await expect(stale).rejects.toMatchObject({ name: 'ApiError', status: 401 });
  });

  it('cancels what is not finished', async () => {
    const { queue } = client();
    const { request_id: requestId } = await queue.submit(FLUX, { input: { prompt: '[[work:60]]' } });
    await queue.cancel(FLUX, { requestId });
    expect((await sandbox.read('/_sandbox/stats'))['jobsCancelled']).toBe(1);
  });
});

describe('the protocol fal', () => {
  const upstreams = new Upstreams();
  afterAll(() => upstreams.close());
  const channel = () =>
    channelTo(`${sandbox.url}/fal`, { id: 'fal', protocol: 'fal', apiKey: 'sandbox-key' });

  it('cancels at the vendor once nobody is waiting, and sends nothing again', async () => {
    const before = await sandbox.read('/_sandbox/stats');
    const request = { model: FLUX, prompt: '[[work:60]]', n: 1, responseFormat: 'url' as const };
    const left = new AbortController();
    const asked = upstreams.adapterFor('fal').generateImages(channel(), request, left.signal);
    await sandbox.readUntil('/_sandbox/stats', ({ polls }) => polls > before['polls']);
    left.abort();
    expect(await asked).toMatchObject({ kind: 'unknown', upstreamStatus: null });
    const cancelled = (stats: Json) => stats['jobsCancelled'] === before['jobsCancelled'] + 1;
    const after = await sandbox.readUntil('/_sandbox/stats', cancelled);
    expect(after['imagesRequests']).toBe(before['imagesRequests'] + 1);
  });

  it('requests nothing for an ID that is no path of a request', async () => {
    const { polls } = await sandbox.read('/_sandbox/stats');
    for (const id of ['../../v1/models', 'a/requests/b', 'a/b/requests/c?d', 'a/../requests/b']) {
      const outcome = await upstreams.adapterFor('fal').pollTask(channel(), id, AbortSignal.timeout(60_000));
      expect([id, outcome.kind]).toEqual([id, 'no_answer']);
    }
    expect((await sandbox.read('/_sandbox/stats'))['polls']).toBe(polls);
  });
});
