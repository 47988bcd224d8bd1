import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadImage } from '@napi-rs/canvas';
import { until } from '../../test/support/eventually.js';
import { type Json, SandboxUnderTest } from './sandbox.fixture.js';

const headers = { 'x-goog-api-key': 'sandbox-key', authorization: '' };
let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start();
});
afterAll(() => sandbox.close());

async function call(
  method: string,
  prompt: unknown,
  parameters: Json = {},
): Promise<{ status: number; body: Json }> {
  const path = `/v1beta/models/imagen-4.0:${method}`;
  const answer = await sandbox.post(path, { instances: [{ prompt }], parameters }, headers);
  return { status: answer.status, body: (await answer.json()) as Json };
}

const operation = async (name: string) =>
  (await (await fetch(`${sandbox.url}/v1beta/${name}`, { headers })).json()) as Json;

function finished(name: string): Promise<Json> {
  return until('the operation to be done', async () => {
    const last = await operation(name);
    return last['done'] === true && last;
  });
}

describe(':predict', () => {
  it('returns images in base64, in the requested aspect ratio', async () => {
    const { status, body } = await call('predict', 'a fox', { sampleCount: 2, aspectRatio: '16:9' });
    expect(status).toBe(200);
    expect(body['predictions']).toHaveLength(2);
    const [{ mimeType, bytesBase64Encoded }] = body['predictions'];
    const image = await loadImage(Buffer.from(bytesBase64Encoded, 'base64'));
    expect([mimeType, image.width, image.height]).toEqual(['image/png', 1024, 576]);
    expect((await call('predict', '[[instant]]')).body['predictions']).toHaveLength(4);
  });

  it.each<[string, number, string]>([
    ['[[fault:reject-400]]', 400, 'INVALID_ARGUMENT'],
    ['[[fault:reject-429]]', 429, 'RESOURCE_EXHAUSTED'],
    ['[[fault:reject-503]]', 503, 'UNAVAILABLE'],
    ['[[fault:moderation]]', 400, 'INVALID_ARGUMENT'],
    ['[[fault:fail-late]]', 500, 'INTERNAL'],
    ['', 400, 'INVALID_ARGUMENT'],
  ])('refuses %s with %i %s', async (prompt, status, word) => {
    const answer = await call('predict', prompt);
    expect(answer.body['error']).toMatchObject({ code: status, status: word, message: expect.any(String) });
    expect(answer.status).toBe(status);
  });

  it('answers 400 to a wrong key, and accepts the key in the query too', async () => {
    const url = `${sandbox.url}/v1beta/models/m/operations/x`;
    const wrong = await fetch(url, { headers: { 'x-goog-api-key': 'other' } });
    expect(wrong.status).toBe(400);
    expect(((await wrong.json()) as Json)['error']['message']).toContain('API key not valid');
    expect((await fetch(`${url}?key=sandbox-key`)).status).toBe(404);
  });
});

describe(':predictLongRunning', () => {
  it('names an operation that ends with a file', async () => {
    const { body } = await call('predictLongRunning', 'a boat', { durationSeconds: 2, aspectRatio: '9:16' });
    expect(body['name']).toMatch(/^models\/imagen-4\.0\/operations\/[a-z0-9]+$/);
    const long = await call('predictLongRunning', '[[work:600]]', { durationSeconds: 2 });
    expect(await operation(long.body['name'])).toMatchObject({ done: false });
    const last = await finished(body['name']);
    const uri = last['response']['generateVideoResponse']['generatedSamples'][0]['video']['uri'] as string;
    expect(uri).toMatch(/\/v1beta\/files\/[a-z0-9]+:download\?alt=media$/);
    const file = Buffer.from(await (await fetch(uri, { headers })).arrayBuffer());
    expect(file.toString('latin1', 4, 8)).toBe('ftyp');
    expect((await fetch(uri)).status).toBe(400);
  });

  it('fails inside the operation, and refuses images', async () => {
    const { body } = await call('predictLongRunning', '[[fault:fail-late]] [[work:0]]');
    expect(await finished(body['name'])).toMatchObject({ done: true, error: { code: 13 } });
    const instances = [{ prompt: 'p', image: { bytesBase64Encoded: 'AAAA' } }];
    const answer = await sandbox.post('/v1beta/models/v:predictLongRunning', { instances }, headers);
    expect(answer.status).toBe(422);
  });
});
