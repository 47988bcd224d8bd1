import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { ManualClock } from '#platform/clock.fixture.js';
import { systemClock } from '#platform/clock.js';
import { findBox, readBoxes } from './media/mp4.js';
import { type Json, SandboxUnderTest } from './sandbox.fixture.js';
import { newStats } from './vendor.js';

const OPENAI = '/v1/videos';
const XAI = '/v1/videos/generations';
/** Work that does not end before a spec says so. */
const LONG = '[[work:600]]';
/** How far ahead the vendor's clock is. */
let shiftMs = 0;
let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start({ clock: { ...systemClock, nowMs: () => Date.now() + shiftMs } });
});
afterAll(() => sandbox.close());

async function bytesOf(response: Response): Promise<Buffer> {
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** What the header boxes of an MP4 say. */
function describeMovie(file: Buffer) {
  const header = findBox(file, 'moov/mvhd');
  const config = findBox(file, 'moov/trak/mdia/minf/stbl/stsd/avc1/avcC');
  const frame = findBox(file, 'moov/trak/mdia/minf/stbl/stsd/avc1');
  if (!header || !config || !frame) throw new Error('Not a movie');
  return {
    boxes: readBoxes(file).map(({ type }) => type),
    seconds: file.readUInt32BE(header.start + 16) / file.readUInt32BE(header.start + 12),
    width: file.readUInt16BE(frame.start + 24),
    height: file.readUInt16BE(frame.start + 26),
    avcVersion: file[config.start],
  };
}

describe('a video in the OpenAI format', () => {
  it('is queued, progresses, completes and is downloaded as an MP4 of the requested length', async () => {
    const created = await sandbox.post(OPENAI, {
      model: 'v',
      prompt: `a train ${LONG}`,
      seconds: '3',
      size: '1280x720',
    });
    const video = (await created.json()) as Json;
    expect(created.status).toBe(200);
    expect(video).toMatchObject({
      object: 'video',
      status: 'queued',
      progress: 0,
      seconds: '3',
      size: '1280x720',
    });
    expect((await sandbox.get(`/v1/videos/${video['id']}/content`)).status).toBe(400);
    shiftMs += 600_000;
    const { last, seen } = await sandbox.pollUntil(video['id'], ['completed']);
    expect(['queued', 'in_progress', 'completed']).toEqual(expect.arrayContaining(seen));
    expect(last).toMatchObject({ progress: 100, error: null, completed_at: expect.any(Number) });
    const response = await sandbox.get(`/v1/videos/${video['id']}/content`);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    const movie = describeMovie(await bytesOf(response));
    expect(movie.boxes).toEqual(expect.arrayContaining(['ftyp', 'mdat', 'moov']));
    expect(movie).toMatchObject({ seconds: 3, width: 320, height: 180, avcVersion: 1 });
  });

  it('is understood by the OpenAI client when sent as JSON', async () => {
    const client = new OpenAI({ apiKey: 'sandbox-key', baseURL: `${sandbox.url}/v1`, maxRetries: 0 });
    const body = { model: 'v', prompt: 'a cloud', seconds: '1' };
    const created = await client.post<Json>('/videos', { body });
    const { seen } = await sandbox.pollUntil(created['id'], ['completed']);
    expect(seen.at(-1)).toBe('completed');
    expect((await client.videos.retrieve(created['id'])).status).toBe('completed');
    const file = Buffer.from(await (await client.videos.downloadContent(created['id'])).arrayBuffer());
    expect(describeMovie(file).seconds).toBe(1);
  });
});

describe('a video in the xAI format', () => {
  it('answers 202 pending, then done with a URL that needs no key', async () => {
    const created = await sandbox.post(XAI, {
      model: 'v',
      prompt: `tall ${LONG}`,
      duration: '2',
      aspect_ratio: '9:16',
    });
    const body = (await created.json()) as Json;
    expect(Object.keys(body)).toEqual(['request_id']);
    const first = await sandbox.get(`/v1/videos/${body['request_id']}`);
    expect(first.status).toBe(202);
    expect(await first.json()).toMatchObject({ status: 'pending', progress: expect.any(Number) });
    shiftMs += 600_000;
    const { last } = await sandbox.pollUntil(body['request_id'], ['done']);
    expect(last).toMatchObject({ model: 'v', video: { duration: 2, respect_moderation: true } });
    const movie = describeMovie(await bytesOf(await fetch(last['video']['url'])));
    expect(movie).toMatchObject({ seconds: 2, width: 180, height: 320 });
    expect((await sandbox.get(`/v1/videos/${body['request_id']}/content`)).status).toBe(404);
  });
});

describe('video requests that are refused', () => {
  it.each<[string, number, Json]>([
    ['an image', 422, { image: { url: 'https://example.com/a.png' } }],
    ['an input reference', 422, { 'input_reference[image_url]': 'x' }],
    ['seconds as a number', 400, { seconds: 5 }],
    ['seconds of 0', 400, { seconds: '0' }],
    ['seconds of 21', 400, { duration: 21 }],
    ['half seconds', 400, { duration: 1.5 }],
    ['two lengths', 400, { seconds: '5', duration: 6 }],
    ['an unknown resolution', 400, { resolution: '8k' }],
    ['an invalid ratio', 400, { aspect_ratio: '0:1' }],
    ['no prompt', 400, { prompt: undefined }],
  ])('%s', async (_name, status, change) => {
    const answer = await sandbox.post(OPENAI, { model: 'v', prompt: 'p', ...change });
    expect(answer.status).toBe(status);
    expect(((await answer.json()) as Json)['error']).toMatchObject({ code: expect.any(String) });
  });

  it('multipart, an unknown ID, and a wrong key', async () => {
    const multipart = await sandbox.post(OPENAI, {}, { 'content-type': 'multipart/form-data; boundary=x' });
    expect(multipart.status).toBe(415);
    expect((await sandbox.get('/v1/videos/nothing')).status).toBe(404);
    expect((await fetch(`${sandbox.url}/v1/videos/nothing`)).status).toBe(401);
  });
});

describe('an idempotency key', () => {
  it('gives the same task for the same input, a conflict for another, and no second task', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const before = (await sandbox.read('/_sandbox/stats'))['videosAccepted'] as number;
    const ids = await Promise.all([1, 2, 3].map(() => sandbox.create(XAI, 'once', headers)));
    expect(new Set(ids).size).toBe(1);
    expect((await sandbox.read('/_sandbox/stats'))['videosAccepted']).toBe(before + 1);
    expect((await sandbox.post(XAI, { model: 'v', prompt: 'other' }, headers)).status).toBe(409);
  });

  it('finds the task whose creation was never answered', async () => {
    const headers = { 'idempotency-key': 'order-2' };
    const prompt = 'lost [[fault:accept-then-timeout]]';
    const before = (await sandbox.read('/_sandbox/stats'))['videosAccepted'] as number;
    const gone = new AbortController();
    const call = sandbox.post(OPENAI, { model: 'video-model', prompt, duration: 2 }, headers, gone.signal);
    const ended = expect(call).rejects.toThrow();
    while (((await sandbox.read('/_sandbox/stats'))['videosAccepted'] as number) === before);
    gone.abort();
    await ended;
    const id = await sandbox.create(OPENAI, prompt, headers);
    expect((await sandbox.pollUntil(id, ['completed'])).last['id']).toBe(id);
    expect((await sandbox.read('/_sandbox/stats'))['videosAccepted']).toBe(before + 1);
  });
});

describe('video faults', () => {
  it.each([
    ['reject-400', 400],
    ['reject-415', 415],
    ['reject-422', 422],
    ['reject-503', 503],
    ['moderation', 400],
  ])('%s answers %i and keeps no task', async (fault, status) => {
    const before = (await sandbox.read('/_sandbox/tasks'))['tasks'].length;
    expect((await sandbox.post(XAI, { model: 'v', prompt: `x [[fault:${fault}]]` })).status).toBe(status);
    expect((await sandbox.read('/_sandbox/tasks'))['tasks']).toHaveLength(before);
  });

  it('fail-late ends failed with a code and a message in both formats', async () => {
    const one = await sandbox.pollUntil(await sandbox.create(OPENAI, '[[fault:fail-late]]'), ['failed']);
    expect(one.last['error']).toEqual({ code: 'generation_failed', message: expect.any(String) });
    const other = await sandbox.pollUntil(await sandbox.create(XAI, '[[fault:fail-late]]'), ['failed']);
    expect(other.last).toMatchObject({ video: { duration: 0 }, error: { code: 'generation_failed' } });
  });

  it('unknown-status says an unknown word three times, then continues', async () => {
    const id = await sandbox.create(OPENAI, '[[fault:unknown-status]] [[work:0]]');
    const words: string[] = [];
    for (let polls = 0; polls < 4; polls += 1) words.push((await sandbox.read(`/v1/videos/${id}`))['status']);
    expect(words).toEqual(['post_processing', 'post_processing', 'post_processing', 'completed']);
  });

  it('poll-5xx fails three polls, then continues', async () => {
    const id = await sandbox.create(XAI, '[[fault:poll-5xx]] [[work:0]]');
    expect((await sandbox.pollUntil(id, ['done'])).seen).toEqual([500, 503, 500, 'done']);
  });

  it("done-word ends with the other format's word", async () => {
    const one = await sandbox.pollUntil(await sandbox.create(OPENAI, '[[fault:done-word]]'), ['done']);
    expect(one.last['object']).toBe('video');
    const other = await sandbox.pollUntil(await sandbox.create(XAI, '[[fault:done-word]]'), ['completed']);
    expect(other.last['video']['url']).toContain('.mp4');
  });

  it('slow-bytes trickles, truncated breaks off, bad-file is no movie', async () => {
    const download = async (fault: string) => {
      const id = await sandbox.create(OPENAI, `[[work:0]] [[fault:${fault}]]`);
      return sandbox.get(`/v1/videos/${id}/content`);
    };
    const before = performance.now();
    expect(describeMovie(await bytesOf(await download('slow-bytes'))).seconds).toBe(2);
    expect(performance.now() - before).toBeGreaterThan(300);
    await expect(download('truncated').then(bytesOf)).rejects.toThrow();
    expect((await bytesOf(await download('bad-file'))).toString('latin1', 0, 9)).toBe('<!doctype');
  });
});

describe('time and restarts', () => {
  it('never-finish stays in progress without end, and files expire', async () => {
    const clock = new ManualClock(Date.now());
    const own = await SandboxUnderTest.start({ clock, fileSeconds: 60 });
    try {
      const endless = await own.create(OPENAI, '[[fault:never-finish]]');
      const ended = await own.create(OPENAI, 'short');
      clock.advance(1_000);
      expect((await own.get(`/v1/videos/${ended}/content`)).status).toBe(200);
      clock.advance(86_400_000);
      expect(await own.read(`/v1/videos/${endless}`)).toMatchObject({ status: 'in_progress', progress: 99 });
      expect((await own.get(`/v1/videos/${ended}/content`)).status).toBe(404);
    } finally {
      await own.close();
    }
  });

  it('a task survives the process in its folder, with its key, its spoiled polls and the same file', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'sandbox-spec-'));
    const clock = new ManualClock(Date.now());
    try {
      const first = await SandboxUnderTest.start({ stateDir, clock, videoSeconds: 60 });
      const headers = { 'idempotency-key': 'k' };
      const id = await first.create(OPENAI, 'a whale', headers);
      const spoilt = await first.create(OPENAI, 'x [[fault:unknown-status]] [[work:0]]');
      for (let polls = 0; polls < 2; polls += 1) await first.get(`/v1/videos/${spoilt}`);
      clock.advance(30_000);
      expect(await first.read(`/v1/videos/${id}`)).toMatchObject({ status: 'in_progress', progress: 50 });
      await first.close();
      // Left behind by a process killed in the middle of a write.
      writeFileSync(join(stateDir, 'video_x.json.tmp'), '{"id":');
      writeFileSync(join(stateDir, 'video_torn.json'), '');

      const second = await SandboxUnderTest.start({ stateDir, clock, videoSeconds: 60 });
      expect(await second.create(OPENAI, 'a whale', headers)).toBe(id);
      expect(await second.read(`/v1/videos/${id}`)).toMatchObject({ status: 'in_progress', progress: 50 });
      clock.advance(30_000);
      const file = await bytesOf(await second.get(`/v1/videos/${id}/content`));
      expect(await second.read(`/v1/videos/${spoilt}`)).toMatchObject({ status: 'post_processing' });
      expect(await second.read(`/v1/videos/${spoilt}`)).toMatchObject({ status: 'completed' });
      await second.close();

      // The encoder stamps dates in whole seconds. The file must not reveal in which second it was made.
      const third = await SandboxUnderTest.start({ stateDir, clock });
      expect((await bytesOf(await third.get(`/v1/videos/${id}/content`))).equals(file)).toBe(true);
      await third.post('/_sandbox/reset', {});
      expect(readdirSync(stateDir)).toEqual([]);
      await third.close();
    } finally {
      rmSync(stateDir, { recursive: true });
    }
  });

  it('counts what was requested and done', async () => {
    const own = await SandboxUnderTest.start();
    try {
      const id = await own.create(XAI, 'one [[work:0]]', { 'idempotency-key': 'a' });
      await own.create(XAI, 'one [[work:0]]', { 'idempotency-key': 'a' });
      await own.post(XAI, { model: 'v', prompt: '[[fault:reject-400]]' });
      await fetch((await own.read(`/v1/videos/${id}`))['video']['url']);
      expect(await own.read('/_sandbox/stats')).toEqual({
        ...newStats(),
        videoCreates: 3,
        videosAccepted: 1,
        videoRepeats: 1,
        refusals: 1,
        polls: 1,
        downloads: 1,
      });
      expect((await own.read('/_sandbox/tasks'))['tasks']).toMatchObject([
        { id, phase: 'completed', dialect: 'xai' },
      ]);
    } finally {
      await own.close();
    }
  });
});
