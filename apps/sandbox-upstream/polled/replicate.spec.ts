import { systemClock } from '#platform/clock.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Replicate from 'replicate';
import { Upstreams } from '#upstream/adapters.js';
import { channelTo } from '#upstream/upstream.fixture.js';
import { type Json, SandboxUnderTest } from '../sandbox.fixture.js';

const FLUX = 'black-forest-labs/flux-schnell';
const VIDEO = 'minimax/video-01';

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

const client = (auth = 'sandbox-key') =>
  new Replicate({ auth, baseUrl: `${sandbox.url}/replicate/v1`, useFileOutput: false });

describe('Replicate’s client', () => {
  it('runs a model, and sees its states', async () => {
    const states: string[] = [];
    const input = { prompt: 'a fox [[work:59]]', num_outputs: 2, width: 64, height: 32 };
    const wait = { mode: 'poll' as const, interval: 20 };
    const hear = ({ status }: { status: string }) => {
      states.push(status);
      shiftMs += STEP_MS;
    };
    const output = (await client().run(FLUX, { input, wait }, hear)) as string[];
    expect([...new Set(states)]).toEqual(['starting', 'processing', 'succeeded']);
    expect(output).toHaveLength(2);
    expect((await fetch(output[0] ?? '')).headers.get('content-type')).toBe('image/png');
  });

  it('makes a video, by a model and by a version', async () => {
    const { predictions } = client();
    for (const what of [{ model: VIDEO }, { version: 'a-video-version' }]) {
      const { id } = await predictions.create({
        ...what,
        input: { prompt: 'a boat [[work:0]]', duration: 1 },
      });
      const { status, output } = await predictions.get(id);
      expect([status, output]).toEqual(['succeeded', expect.stringContaining(`/files/videos/${id}.mp4`)]);
    }
  });

  it('gets errors in the formats that it knows', async () => {
    const failing = client().run(FLUX, { input: { prompt: '[[fault:moderation]] [[work:0]]' } });
    await expect(failing).rejects.toThrow(/^Prediction failed: NSFW content detected/);
    const stale = client('stale').predictions.create({ model: FLUX, input: { prompt: 'a fox' } });
    await expect(stale).rejects.toMatchObject({ name: 'ApiError', response: { status: 401 } });
  });

  it('cancels what is not finished', async () => {
    const { predictions } = client();
    const { id } = await predictions.create({ model: FLUX, input: { prompt: '[[work:60]]' } });
    expect((await predictions.cancel(id)).status).toBe('canceled');
    expect((await sandbox.read('/_sandbox/stats'))['jobsCancelled']).toBe(1);
  });
});

describe('the protocol replicate', () => {
  const upstreams = new Upstreams();
  afterAll(() => upstreams.close());

  it('cancels at the vendor once nobody is waiting, and sends nothing again', async () => {
    const channel = channelTo(`${sandbox.url}/replicate`, { protocol: 'replicate', apiKey: 'sandbox-key' });
    const before = await sandbox.read('/_sandbox/stats');
    const request = { model: FLUX, prompt: '[[work:60]]', n: 1, responseFormat: 'url' as const };
    const left = new AbortController();
    const asked = upstreams.adapterFor('replicate').generateImages(channel, request, left.signal);
    await sandbox.readUntil('/_sandbox/stats', ({ polls }) => polls > before['polls']);
    left.abort();
    expect(await asked).toMatchObject({ kind: 'unknown', upstreamStatus: null });
    const cancelled = (stats: Json) => stats['jobsCancelled'] === before['jobsCancelled'] + 1;
    const after = await sandbox.readUntil('/_sandbox/stats', cancelled);
    expect(after['imagesRequests']).toBe(before['imagesRequests'] + 1);
  });
});
