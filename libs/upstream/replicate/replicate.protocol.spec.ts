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

async function line(handler: StubHandler) {
  stub = await startStub(handler);
  return {
    adapter: upstreams.adapterFor('replicate'),
    channel: channelTo(stub.url, { protocol: 'replicate' }),
  };
}

const answering = (prediction: object) =>
  line(({ method }, response) =>
    method === 'POST'
      ? json(response, 201, { id: 'p1', status: 'starting' })
      : json(response, 200, prediction),
  );

const image = { model: 'owner/name', prompt: 'p', n: 1, responseFormat: 'url' as const };

describe('a prediction', () => {
  it.each([
    ['owner/name', '/v1/models/owner/name/predictions', { input: { prompt: 'p', duration: 4 } }],
    ['owner/name:5c7d', '/v1/predictions', { version: '5c7d', input: { prompt: 'p', duration: 4 } }],
  ])('of %s is requested at %s', async (model, path, body) => {
    const { adapter, channel } = await answering({});
    const options = { idempotencyKey: 'key', signal: soon() };
    const outcome = await adapter.createVideo(channel, { model, prompt: 'p', seconds: 4 }, options);
    expect(outcome).toMatchObject({ kind: 'accepted', upstreamId: 'p1' });
    const [sent] = stub.requests;
    expect([sent?.path, JSON.parse(sent?.body ?? '')]).toEqual([path, body]);
  });

  it('of a video requests a webhook at its end', async () => {
    const { adapter, channel } = await answering({});
    const webhookUrl = 'https://relay.example/vendor-webhooks/replicate';
    const options = { idempotencyKey: 'key', signal: soon(), webhookUrl };
    await adapter.createVideo(channel, { model: 'owner/name', prompt: 'p', seconds: 4 }, options);
    const announced = { webhook: webhookUrl, webhook_events_filter: ['completed'] };
    expect(JSON.parse(stub.requests[0]?.body ?? '')).toMatchObject(announced);
  });

  it('uses its own words for the size, and none for a single image', async () => {
    const { adapter, channel } = await answering({
      id: 'p1',
      status: 'succeeded',
      output: ['https://f.example/a'],
    });
    await adapter.generateImages(channel, { ...image, n: 3, size: '512x256' }, soon());
    await adapter.generateImages(channel, { ...image, aspectRatio: '16:9' }, soon());
    const inputs = stub.requests
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => JSON.parse(body));
    expect(inputs).toEqual([
      { input: { prompt: 'p', num_outputs: 3, width: 512, height: 256, aspect_ratio: '16:9' } },
      { input: { prompt: 'p', aspect_ratio: '16:9' } },
    ]);
  });

  const file = 'https://f.example/a.mp4';
  it.each<[object, object]>([
    [{ status: 'starting' }, { kind: 'running' }],
    [{ status: 'processing', output: ['https://f.example/half'] }, { kind: 'running' }],
    [
      { status: 'succeeded', output: file },
      { kind: 'completed', fileUrl: file },
    ],
    [
      { status: 'succeeded', output: [file] },
      { kind: 'completed', fileUrl: file },
    ],
    [
      { status: 'succeeded', output: null, data_removed: true },
      { kind: 'no_answer', of: 'task' },
    ],
    [
      { status: 'failed', error: 'It broke.' },
      { kind: 'failed', code: 'generation_failed', message: 'It broke.' },
    ],
    [
      { status: 'failed', error: 'The input was flagged as sensitive. (E005)' },
      { code: 'content_policy_violation' },
    ],
    [
      { status: 'canceled', error: null },
      { kind: 'failed', code: 'generation_failed' },
    ],
    [{ status: 'aborted' }, { kind: 'failed', code: 'generation_failed' }],
    [{ status: 'queued' }, { kind: 'no_answer', of: 'task' }],
    [
      { id: 'another', status: 'succeeded', output: file },
      { kind: 'no_answer', of: 'task' },
    ],
    [
      { title: 'x', detail: 'y', status: 500 },
      { kind: 'no_answer', of: 'task' },
    ],
  ])('that reports %j is a video %j', async (prediction, outcome) => {
    const { adapter, channel } = await answering({ id: 'p1', ...prediction });
    expect(await adapter.pollTask(channel, 'p1', soon())).toMatchObject(outcome);
  });

  it('that failed lets another channel make the images', async () => {
    const { adapter, channel } = await answering({ id: 'p1', status: 'failed', error: 'CUDA out of memory' });
    expect(await adapter.generateImages(channel, image, soon())).toMatchObject({ kind: 'not_accepted' });
  });

  it('is polled only by a valid ID', async () => {
    const { adapter, channel } = await answering({});
    for (const id of ['../account', 'a/b', 'a?b', ''])
      expect(await adapter.pollTask(channel, id, soon())).toMatchObject({ kind: 'no_answer' });
    expect(stub.requests).toEqual([]);
  });

  it.each([
    [401, { title: 'Unauthenticated', detail: 'No token.' }, { kind: 'not_accepted' }],
    [402, { title: 'Insufficient credit', detail: 'Spent.' }, { kind: 'not_accepted' }],
    [
      422,
      { title: 'Input validation failed', detail: '- prompt is required' },
      { kind: 'refused', status: 422 },
    ],
    [429, { detail: 'Request was throttled.' }, { kind: 'not_accepted' }],
    [500, { detail: 'Internal server error' }, { kind: 'not_accepted' }],
    [500, {}, { kind: 'unknown' }],
    [200, { detail: 'what' }, { kind: 'unknown' }],
  ])('whose creation is answered with %i %j is %j', async (status, body, outcome) => {
    const { adapter, channel } = await line((_, response) => json(response, status, body));
    expect(await adapter.generateImages(channel, image, soon())).toMatchObject(outcome);
  });
});
