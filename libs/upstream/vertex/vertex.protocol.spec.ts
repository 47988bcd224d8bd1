import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Channel } from '#catalog/catalog.js';
import { UpstreamConnections } from '../connections.js';
import { channelTo } from '../upstream.fixture.js';
import { modelOfOperation, readFetched, readVideo } from './vertex.answers.js';
import { VertexProtocol } from './vertex.protocol.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = JSON.stringify({
  project_id: 'their-project',
  client_email: 'relay@their-project.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
});

let connections: UpstreamConnections;
let protocol: VertexProtocol;
beforeAll(() => {
  connections = new UpstreamConnections();
  protocol = new VertexProtocol(connections);
});
afterAll(() => connections.close());

function channel(baseUrl: string, apiKey = KEY): Channel {
  return channelTo(baseUrl, { protocol: 'vertex', apiKey, apiKeys: [apiKey], allowPrivateAddress: false });
}

describe('URLs on Vertex AI', () => {
  it.each([
    ['https://us-central1-aiplatform.googleapis.com', 'us-central1'],
    ['https://europe-west4-aiplatform.googleapis.com', 'europe-west4'],
    ['https://aiplatform.googleapis.com', 'global'],
  ])('name the account’s project and the location of %s', (baseUrl, location) => {
    const path = (body: object) =>
      protocol.streams.contents.path({ model: 'gemini-x', ...body }, channel(baseUrl));
    const model = `/v1/projects/their-project/locations/${location}/publishers/google/models/gemini-x`;
    expect(path({})).toBe(`${model}:generateContent`);
    expect(path({ stream: true })).toBe(`${model}:streamGenerateContent?alt=sse`);
  });

  it('are not called with a key that is no service account', async () => {
    const request = { model: 'imagen-x', prompt: 'a fox', n: 1, responseFormat: 'url' as const };
    const signal = AbortSignal.timeout(60_000);
    const outcome = await protocol.generateImages(
      channel('https://aiplatform.googleapis.com', 'sk'),
      request,
      signal,
    );
    expect(outcome).toEqual({
      kind: 'not_accepted',
      reason: 'the key is no service account',
      upstreamStatus: null,
    });
  });
});

const NAME = 'projects/their-project/locations/global/publishers/google/models/veo-x/operations/abc-1';

describe('a Vertex AI operation', () => {
  it('has a name that is safe in a path', () => {
    expect(modelOfOperation(NAME)).toBe(NAME.replace('/operations/abc-1', ''));
    const wrong = [
      'operations/1',
      `${NAME}/x`,
      NAME.replace('veo-x', '..'),
      NAME.replace('their-project', '../x'),
      NAME.replace('abc-1', 'a?b'),
      NAME.replace('google', 'other'),
    ];
    for (const name of wrong) expect([name, modelOfOperation(name)]).toEqual([name, null]);
  });

  const answer = (body: object, status = 200) => ({
    kind: 'answer' as const,
    status,
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
  });
  const read = (body: object) => readFetched(answer({ name: NAME, ...body }), NAME, 'vertex:x');

  it('ends with a video inside, an error, or a video that was withheld', () => {
    const videos = [{ bytesBase64Encoded: 'AAAA' }];
    expect(read({})).toEqual({ kind: 'running', progress: null });
    expect(read({ done: true, response: { videos } })).toEqual({ kind: 'completed', fileUrl: 'vertex:x' });
    expect(read({ done: true, error: { code: 3, message: 'It broke.' } })).toMatchObject({ kind: 'failed' });
    expect(read({ done: true, response: { raiMediaFilteredCount: 1 } })).toMatchObject({
      kind: 'failed',
      code: 'content_policy_violation',
    });
    expect(read({ done: true, response: { videos: [{ gcsUri: 'gs://b/o' }] } })).toMatchObject({
      kind: 'no_answer',
    });
    expect(read({ name: `${NAME}2`, done: true, response: { videos } })).toMatchObject({ kind: 'no_answer' });
  });

  it('has a video of limited size', () => {
    const body = { response: { videos: [{ bytesBase64Encoded: Buffer.alloc(10).toString('base64') }] } };
    expect(readVideo(answer(body), 10).bytes).toBe(10);
    expect(() => readVideo(answer(body), 9)).toThrow('10 bytes, 9 allowed');
    expect(() => readVideo(answer({}), 9)).toThrow('without a video');
    expect(() => readVideo(answer({}, 503), 9)).toThrow(expect.objectContaining({ mayPass: true }));
    expect(() => readVideo(answer({}, 404), 9)).toThrow(expect.objectContaining({ mayPass: false }));
  });
});
