import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Upstreams } from '../adapters.js';
import { channelTo, json, startStub, type StubHandler, type StubUpstream } from '../upstream.fixture.js';

let upstreams: Upstreams;
const stubs: StubUpstream[] = [];

beforeEach(() => {
  upstreams = new Upstreams();
});
afterEach(async () => {
  await upstreams.close();
  await Promise.all(stubs.splice(0).map((stub) => stub.close()));
});

async function stubOf(handler: StubHandler): Promise<StubUpstream> {
  const stub = await startStub(handler);
  stubs.push(stub);
  return stub;
}

const image = { model: 'flux-2-pro', prompt: 'p', n: 1, responseFormat: 'url' as const };
const ready = { id: 'b1', status: 'Ready', result: { sample: 'https://delivery.example/a.png' } };

/** A vendor that accepts a request, and then reports this state. */
async function ask(state: object, request: object = {}, ms = 60_000) {
  const stub = await stubOf(({ method, headers }, response) => {
    const polling_url = `http://${headers.host}/v1/get_result?id=b1`;
    json(response, 200, method === 'POST' ? { id: 'b1', polling_url, cost: 4 } : state);
  });
  const channel = channelTo(stub.url, { protocol: 'bfl' });
  const outcome = await upstreams
    .adapterFor('bfl')
    .generateImages(channel, { ...image, ...request }, AbortSignal.timeout(ms));
  return { outcome, requests: stub.requests };
}

describe('a request', () => {
  it('is polled where the vendor says, with the key', async () => {
    const { outcome, requests } = await ask(ready, { size: '1024x768' });
    expect(outcome).toMatchObject({ kind: 'delivered', images: [{ url: 'https://delivery.example/a.png' }] });
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/flux-2-pro',
      'GET /v1/get_result?id=b1',
    ]);
    expect(requests.map(({ headers }) => headers['x-key'])).toEqual(['upstream-key', 'upstream-key']);
    const body = { prompt: 'p', width: 1024, height: 768, output_format: 'png' };
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual(body);
  });

  it.each<[object, object]>([
    [
      { id: 'b1', status: 'Request Moderated' },
      { kind: 'refused', code: 'content_policy_violation' },
    ],
    [
      { id: 'b1', status: 'Content Moderated' },
      { kind: 'refused', code: 'content_policy_violation' },
    ],
    [
      { id: 'b1', status: 'Error' },
      { kind: 'not_accepted', upstreamStatus: 200 },
    ],
    [
      { id: 'b1', status: 'Ready', result: null },
      { kind: 'unknown', upstreamStatus: 200 },
    ],
    [
      { id: 'b1', status: 'Pending' },
      { kind: 'unknown', upstreamStatus: null },
    ],
    [
      { id: 'b1', status: 'Task not found' },
      { kind: 'unknown', upstreamStatus: null },
    ],
    [
      { id: 'b1', status: 'Unheard of' },
      { kind: 'unknown', upstreamStatus: null },
    ],
    [
      { ...ready, id: 'b2' },
      { kind: 'unknown', upstreamStatus: null },
    ],
  ])('that reports %j is %j', async (state, outcome) => {
    expect((await ask(state, {}, 600)).outcome).toMatchObject(outcome);
  });

  it('is one of several if several images are requested', async () => {
    const { outcome, requests } = await ask(ready, { n: 3 });
    expect(outcome).toMatchObject({ kind: 'delivered', images: [{}, {}, {}] });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(3);
  });

  it('carries an edit’s images as base64', async () => {
    const stub = await stubOf((_, response) => json(response, 422, { detail: [{ msg: 'no', type: 'x' }] }));
    const images = ['one', 'two'].map((name) => ({ bytes: Buffer.from(name), mime: 'image/png', name }));
    const adapter = upstreams.adapterFor('bfl');
    const channel = channelTo(stub.url, { protocol: 'bfl' });
    const signal = AbortSignal.timeout(60_000);
    await adapter.editImages(channel, { ...image, images }, signal);
    const [edit] = stub.requests.map(({ body }) => JSON.parse(body) as object);
    expect(edit).toMatchObject({ input_image: 'b25l', input_image_2: 'dHdv' });
  });
});

describe('an address to poll', () => {
  it('on another host is never called, nor shown the key: its request is polled at the channel', async () => {
    const other = await stubOf((_, response) => json(response, 200, ready));
    const addresses = [
      `${other.url}/v1/get_result?id=b1`,
      `${other.url.replace('127.0.0.1', 'localhost')}/v1/get_result`,
      'file:///etc/passwd',
      'https://api.bfl.ai.example/v1/get_result',
      'https://api.us1.bfl.ai/v1/get_result',
      'nonsense',
      undefined,
    ];
    for (const polling_url of addresses) {
      const stub = await stubOf(({ method }, response) =>
        json(response, 200, method === 'POST' ? { id: 'b1', polling_url } : ready),
      );
      const channel = channelTo(stub.url, { protocol: 'bfl' });
      const outcome = await upstreams
        .adapterFor('bfl')
        .generateImages(channel, image, AbortSignal.timeout(60_000));
      expect([polling_url, outcome.kind]).toEqual([polling_url, 'delivered']);
      expect(stub.requests[1]).toMatchObject({ method: 'GET', path: '/v1/get_result?id=b1' });
    }
    expect(other.requests).toEqual([]);
  });

  it('that leads elsewhere is not followed', async () => {
    const other = await stubOf((_, response) => json(response, 200, ready));
    const stub = await stubOf(({ method, headers }, response) => {
      const polling_url = `http://${headers.host}/v1/get_result?id=b1`;
      if (method === 'POST') json(response, 200, { id: 'b1', polling_url });
      else response.writeHead(307, { location: other.url }).end();
    });
    const channel = channelTo(stub.url, { protocol: 'bfl' });
    const outcome = await upstreams
      .adapterFor('bfl')
      .generateImages(channel, image, AbortSignal.timeout(600));
    expect(outcome.kind).toBe('unknown');
    expect(other.requests).toEqual([]);
  });
});
