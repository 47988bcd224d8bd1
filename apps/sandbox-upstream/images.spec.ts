import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadImage } from '@napi-rs/canvas';
import OpenAI from 'openai';
import { type Json, SandboxUnderTest } from './sandbox.fixture.js';

const PATH = '/v1/images/generations';
let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start();
});
afterAll(() => sandbox.close());

async function generate(prompt: string, more: Json = {}): Promise<{ status: number; body: Json }> {
  const response = await sandbox.post(PATH, { model: 'image-model', prompt, ...more });
  return { status: response.status, body: (await response.json()) as Json };
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

describe('images', () => {
  it('are returned as URLs by default, and the files are PNGs of the requested size', async () => {
    const { status, body } = await generate('two foxes', { n: 2, size: '320x200' });
    expect(status).toBe(200);
    expect(body['created']).toBeGreaterThan(1_700_000_000);
    expect(body['data']).toHaveLength(2);
    const files = await Promise.all(body['data'].map((image: Json) => fetch(image['url']).then(bytesOf)));
    const [one, other] = await Promise.all(files.map((file) => loadImage(file)));
    expect([one?.width, one?.height, other?.width]).toEqual([320, 200, 320]);
    expect(files[0].equals(files[1])).toBe(false);
  });

  it('are the same for the same prompt, and inline without a prefix on request', async () => {
    const ask = { response_format: 'b64_json', size: '128x128' };
    const [one, again] = await Promise.all([generate('a lighthouse', ask), generate('a lighthouse', ask)]);
    const text = one.body['data'][0]['b64_json'] as string;
    expect(text).toMatch(/^iVBOR/);
    expect(text).toBe(again.body['data'][0]['b64_json']);
    expect(one.body['data'][0]).not.toHaveProperty('url');
  });

  it('follow the aspect ratio if there is no size', async () => {
    const { body } = await generate('wide', { aspect_ratio: '16:9', response_format: 'b64_json' });
    const image = await loadImage(Buffer.from(body['data'][0]['b64_json'], 'base64'));
    expect([image.width, image.height]).toEqual([1024, 576]);
  });

  it('are understood by the OpenAI client', async () => {
    const client = new OpenAI({ apiKey: 'sandbox-key', baseURL: `${sandbox.url}/v1`, maxRetries: 0 });
    const result = await client.images.generate({ model: 'm', prompt: 'a boat', size: '256x256' });
    expect(result.data?.[0]?.url).toContain(sandbox.url);
    const refusal = client.images.generate({ model: 'm', prompt: 'no [[fault:moderation]]' });
    await expect(refusal).rejects.toMatchObject({ status: 400, code: 'content_policy_violation' });
  });

  it('come at once and constant with [[instant]]', async () => {
    const { body } = await generate('[[instant]]', { n: 3, response_format: 'b64_json' });
    expect(body['data']).toHaveLength(3);
    const image = await loadImage(Buffer.from(body['data'][0]['b64_json'], 'base64'));
    expect([image.width, image.height]).toEqual([16, 16]);
    const byUrl = await generate('[[instant]]');
    const file = await bytesOf(await fetch(byUrl.body['data'][0]['url']));
    expect(file.toString('base64')).toBe(body['data'][0]['b64_json']);
  });

  it('take the time that the prompt says', async () => {
    const before = performance.now();
    await generate('slow [[work:0.25]]');
    // Timers may fire slightly early.
    expect(performance.now() - before).toBeGreaterThan(200);
  });

  it('are not served at a forged URL', async () => {
    const { body } = await generate('mine');
    const forged = (body['data'][0]['url'] as string).replace('/images/', '/images/A');
    expect((await fetch(forged)).status).toBe(404);
  });
});

describe('image requests that are refused', () => {
  it.each<[string, number, string, Json]>([
    ['no prompt', 400, 'missing_required_parameter', { prompt: '' }],
    ['no model', 400, 'missing_required_parameter', { model: null }],
    ['n of 0', 400, 'invalid_value', { n: 0 }],
    ['n of 11', 400, 'invalid_value', { n: 11 }],
    ['n as text', 400, 'invalid_value', { n: '2' }],
    ['a huge size', 400, 'invalid_value', { size: '90000x90000' }],
    ['an invalid size', 400, 'invalid_value', { size: 'big' }],
    ['an unknown format', 400, 'invalid_value', { response_format: 'gif' }],
    ['a misspelt fault', 400, 'unknown_directive', { prompt: '[[fault:nope]]' }],
    ['work that is not a number', 400, 'unknown_directive', { prompt: '[[work:soon]]' }],
  ])('%s', async (_name, status, code, change) => {
    const answer = await generate('p', change);
    expect(answer.status).toBe(status);
    expect(answer.body['error']).toMatchObject({ code, message: expect.any(String) });
  });

  it('for a wrong key, another content type, broken JSON, an empty or a huge body', async () => {
    const statuses = await Promise.all([
      sandbox.post(PATH, {}, { authorization: 'Bearer other' }),
      sandbox.post(PATH, {}, { 'content-type': 'multipart/form-data; boundary=x' }),
      sandbox.post(PATH, { prompt: 'x'.repeat(65 * 1024 * 1024) }),
    ]).then((answers) => answers.map((answer) => answer.status));
    expect(statuses).toEqual([401, 415, 413]);
    const headers = { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' };
    const send = (body: string) => fetch(sandbox.url + PATH, { method: 'POST', headers, body });
    expect((await send('{"model"')).status).toBe(400);
    expect((await send('[]')).status).toBe(400);
    expect((await send('')).status).toBe(415);
  });
});

describe('image faults', () => {
  it.each([
    ['reject-400', 400],
    ['reject-415', 415],
    ['reject-422', 422],
    ['reject-503', 503],
    ['moderation', 400],
    ['fail-late', 500],
    ['partial', 500],
  ])('%s answers %i and makes nothing', async (fault, status) => {
    const made = (await sandbox.read('/_sandbox/stats'))['imagesMade'];
    expect((await generate(`x [[fault:${fault}]]`)).status).toBe(status);
    expect((await sandbox.read('/_sandbox/stats'))['imagesMade']).toBe(made);
  });

  it('partial makes one fewer than requested', async () => {
    const { body } = await generate('x [[fault:partial]]', { n: 3, size: '64x64' });
    expect(body['data']).toHaveLength(2);
  });

  it('accept-then-timeout makes the image and never answers', async () => {
    const made = (await sandbox.read('/_sandbox/stats'))['imagesMade'] as number;
    const gone = new AbortController();
    const call = sandbox.post(
      PATH,
      { model: 'm', prompt: 'x [[fault:accept-then-timeout]]' },
      {},
      gone.signal,
    );
    const ended = expect(call).rejects.toThrow();
    while (((await sandbox.read('/_sandbox/stats'))['imagesMade'] as number) === made);
    gone.abort();
    await ended;
  });

  it('slow-bytes trickles the file, truncated cuts it off, bad-file sends something else', async () => {
    const fileOf = async (fault: string) =>
      (await generate(`x [[fault:${fault}]]`)).body['data'][0]['url'] as string;
    const before = performance.now();
    const slow = await bytesOf(await fetch(await fileOf('slow-bytes')));
    expect(performance.now() - before).toBeGreaterThan(300);
    expect((await loadImage(slow)).width).toBe(1024);
    await expect(fetch(await fileOf('truncated')).then(bytesOf)).rejects.toThrow();
    expect((await bytesOf(await fetch(await fileOf('bad-file')))).toString('latin1', 0, 9)).toBe('<!doctype');
  });

  it('truncated cuts the answer itself if the image is inline', async () => {
    const call = generate('x [[fault:truncated]]', { response_format: 'b64_json', size: '64x64' });
    await expect(call).rejects.toThrow();
  });
});
