import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Upstreams } from '../adapters.js';
import { channelTo, json, startStub, type StubUpstream } from '../upstream.fixture.js';

/* What the queue reports at the end, and what is believed: it matters for money whether the work was done. */

const ID = 'fal-ai/kling/requests/4d1f';
const VIDEO = { video: { url: 'https://files.example/a.mp4' } };

let upstreams: Upstreams;
let stub: StubUpstream;

beforeEach(() => {
  upstreams = new Upstreams();
});
afterEach(async () => {
  await upstreams.close();
  await stub.close();
});

const soon = (ms = 60_000) => AbortSignal.timeout(ms);

/** A queue that has finished, with this result. */
async function finished(status: number, result: unknown) {
  stub = await startStub(({ method, url = '' }, response) => {
    if (method === 'POST') return json(response, 200, { request_id: '4d1f' });
    if (method === 'PUT') return json(response, 202, {});
    if (url.endsWith('/status')) return json(response, 200, { status: 'COMPLETED', request_id: '4d1f' });
    json(response, status, result);
  });
  return { adapter: upstreams.adapterFor('fal'), channel: channelTo(stub.url, { protocol: 'fal' }) };
}

describe('the result of a finished request', () => {
  it.each<[number, unknown, object]>([
    [200, VIDEO, { kind: 'completed', fileUrl: 'https://files.example/a.mp4' }],
    [200, { ...VIDEO, has_nsfw_concepts: [true] }, { kind: 'failed', code: 'content_policy_violation' }],
    [200, { ...VIDEO, has_nsfw_concepts: [false] }, { kind: 'completed' }],
    [200, { detail: 'Internal Server Error' }, { kind: 'no_answer', of: 'task' }],
    [202, VIDEO, { kind: 'no_answer' }],
    [400, { detail: 'Request is still in progress' }, { kind: 'no_answer', of: 'task' }],
    [400, { detail: 'The image is broken.' }, { kind: 'failed', code: 'generation_failed' }],
    [404, { detail: 'Request not found' }, { kind: 'no_answer', of: 'task' }],
    [422, { detail: [{ msg: 'x', type: 'content_policy_violation' }] }, { code: 'content_policy_violation' }],
    [429, { detail: 'Too many requests' }, { kind: 'no_answer', of: 'channel' }],
    [500, { detail: 'Internal Server Error' }, { kind: 'no_answer', of: 'channel' }],
    [500, { detail: 'x', error_type: 'runner_server_error' }, { kind: 'failed', code: 'generation_failed' }],
    [503, '<html>', { kind: 'no_answer', of: 'channel' }],
    [504, { detail: 'Request timed out', error_type: 'request_timeout' }, { kind: 'failed' }],
  ])('%i %j is %j for a video', async (status, result, outcome) => {
    const { adapter, channel } = await finished(status, result);
    expect(await adapter.pollTask(channel, ID, soon())).toMatchObject(outcome);
  });

  const url = 'https://files.example/a.png';
  it.each<[number, unknown, object]>([
    [200, { images: [{ url }] }, { kind: 'delivered', images: [{ url }] }],
    [200, { image: { url } }, { kind: 'delivered', images: [{ url }] }],
    [200, { images: [{ url }, { url }, { url }] }, { kind: 'delivered', images: [{ url }, { url }] }],
    [200, { images: [{ url }, { url: 'b' }], has_nsfw_concepts: [true, false] }, { images: [{ url: 'b' }] }],
    [200, { images: [{ url }], has_nsfw_concepts: [true] }, { code: 'content_policy_violation' }],
    [200, { images: [] }, { kind: 'unknown' }],
    [500, { detail: 'x', error_type: 'runner_server_error' }, { kind: 'not_accepted' }],
    [504, { detail: 'x', error_type: 'request_timeout' }, { kind: 'unknown', upstreamStatus: 504 }],
  ])('%i %j is %j for images', async (status, result, outcome) => {
    const { adapter, channel } = await finished(status, result);
    const request = { model: 'fal-ai/kling', prompt: 'p', n: 2, responseFormat: 'url' as const };
    expect(await adapter.generateImages(channel, request, soon())).toMatchObject(outcome);
  });

  it('of images that may only be the queue’s own trouble is waited for, and no other channel is tried', async () => {
    const { adapter, channel } = await finished(500, { detail: 'Internal Server Error' });
    const request = { model: 'fal-ai/kling', prompt: 'p', n: 1, responseFormat: 'url' as const };
    expect(await adapter.generateImages(channel, request, soon(700))).toMatchObject({ kind: 'unknown' });
  });
});
