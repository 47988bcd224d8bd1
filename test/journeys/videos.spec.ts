import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import type { Video } from 'openai/resources/videos';
import { signPath } from '#storage/signed-url.js';
import { GatedUpstream, POLLS } from '../support/gated-upstream.js';
import {
  closeClean,
  type Customer,
  json,
  type Relay,
  startRelay,
  until,
  URL_SIGNING_SECRET,
} from '../support/relay.js';

const MODEL = 'vendora-imagine-video';

/** The fields of answers beyond the SDK's own type. */
interface Task extends Omit<Video, 'status' | 'usage'> {
  status: string;
  task_id: string;
  request_id: string;
  usage: { cost_in_usd_ticks: number };
  video?: { url: string; duration: number; respect_moderation: boolean };
}

describe('videos, by the OpenAI SDK and raw requests', () => {
  let relay: Relay;
  let upstream: GatedUpstream;

  beforeAll(async () => {
    // The time that an unclear creation takes.
    relay = await startRelay({ VIDEO_CREATE_LIMIT_SECONDS: '8' });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  it('is created from a form, polled to the end, downloaded whole and in part, and charged once', async () => {
    const customer = await relay.customer('1');
    const sdk = customer.sdk();
    upstream.shut(POLLS);
    const created = await sdk.videos.create({
      model: MODEL,
      prompt: 'a paper boat',
      seconds: '4',
      size: '1280x720',
    });
    expect(created).toMatchObject({
      object: 'video',
      model: MODEL,
      status: 'queued',
      progress: 0,
      seconds: '4',
      size: '1280x720',
      resolution: '720p',
      aspect_ratio: '16:9',
      prompt: 'a paper boat',
      error: null,
      completed_at: null,
      expires_at: null,
    });
    expect(created.id).toMatch(/^[0-9a-z]{26}$/);
    expect(created).toMatchObject({ task_id: created.id, request_id: created.id });
    expect(created).not.toHaveProperty('video');
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0.2' });
    await expect(sdk.videos.downloadContent(created.id)).rejects.toMatchObject({
      status: 400,
      code: 'video_not_ready',
    });
    upstream.open();

    const { last, seen } = await polled(customer, `/v1/videos/${created.id}`);
    expect(['queued,completed', 'queued,in_progress,completed', 'in_progress,completed']).toContain(
      seen.join(),
    );
    expect(last.progress).toBe(100);
    expect(last.expires_at).toBe((last.completed_at ?? 0) + 1500);
    expect(last.video?.duration).toBe(4);
    await until('the settlement', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });

    const whole = await sdk.videos.downloadContent(created.id);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(whole.headers.get('content-type')).toBe('video/mp4');
    expect(whole.headers.get('cache-control')).toBe('private');
    expect(bytes.subarray(4, 8).toString()).toBe('ftyp');

    const part = await customer.send(`/v1/videos/${created.id}/content`, { headers: { range: 'bytes=4-7' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 4-7/${bytes.length}`);
    expect(await part.text()).toBe('ftyp');
    const tail = await customer.send(`/vendora/v1/videos/${created.id}/content`, {
      headers: { range: 'bytes=-3' },
    });
    expect(Buffer.from(await tail.arrayBuffer())).toEqual(bytes.subarray(-3));
    const beyond = await customer.send(`/v1/videos/${created.id}/content`, {
      headers: { range: 'bytes=99999999-' },
    });
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get('content-range')).toBe(`bytes */${bytes.length}`);

    const head = await customer.send(`/v1/videos/${created.id}/content`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
    expect(await head.text()).toBe('');
    const etag = head.headers.get('etag') ?? '';
    const same = await customer.send(`/v1/videos/${created.id}/content`, {
      headers: { 'if-none-match': etag },
    });
    expect(same.status).toBe(304);
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
  });

  it.each(['/v1/videos/generations', '/vendora/v1/videos/generations'])(
    'has the other format after %s, and its address opens without a key',
    async (path) => {
      const customer = await relay.customer('1');
      upstream.shut(POLLS);
      const created = await post(customer, path, { model: 'vidmodel-3', prompt: 'waves', duration: 3 });
      expect(created).toMatchObject({ status: 'pending', seconds: '3', request_id: created.id });
      const poll = path.replace('generations', created.id);
      expect((await get(customer, poll)).status).toBe('pending');
      upstream.open();
      const { last, seen } = await polled(customer, poll);
      expect(['done', 'pending,done']).toContain(seen.join());
      const url = last.video?.url ?? '';
      expect(url).toMatch(new RegExp(`^${relay.baseUrl}/v1/videos/${created.id}/content\\?exp=\\d+&sig=`));
      const file = await fetch(url);
      expect(file.status).toBe(200);
      expect(
        Buffer.from(await file.arrayBuffer())
          .subarray(4, 8)
          .toString(),
      ).toBe('ftyp');
      expect((await fetch(url.replace(/sig=.../, 'sig=AAA'))).status).toBe(401);
      expect((await fetch(url.split('?')[0] ?? '')).status).toBe(401);
    },
  );

  it("uses the default duration, and the model's price for its alias", async () => {
    const customer = await relay.customer('1');
    const created = await post(customer, '/v1/videos', {
      model: 'vendora-imagine-video-1.5-preview',
      prompt: 'alias',
      resolution: '1080p',
      user: 'a person of theirs',
      size: null,
    });
    expect(created).toMatchObject({
      seconds: '5',
      model: 'vendora-imagine-video-1.5-preview',
      resolution: '1080p',
    });
    expect(created.usage).toEqual({ cost_in_usd_ticks: 2_500_000_000 });
    await polled(customer, `/v1/videos/${created.id}`);
  });

  it('refunds a video that fails late', async () => {
    const customer = await relay.customer('1');
    const created = await post(customer, '/v1/videos', { model: MODEL, prompt: 'no [[fault:fail-late]]' });
    const { last } = await polled(customer, `/v1/videos/${created.id}`);
    expect(last.status).toBe('failed');
    expect(last.error).toEqual({ code: expect.any(String), message: expect.any(String) });
    expect(last.usage).toEqual({ cost_in_usd_ticks: 0 });
    expect(last).not.toHaveProperty('video');
    await until('the release', async () => (await customer.balance()).held === '0');
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    const content = await customer.send(`/v1/videos/${created.id}/content`);
    expect(content.status).toBe(400);
    expect(await content.json()).toMatchObject({ error: { code: 'video_failed' } });
  });

  it('answers with a plain queued if it is unknown whether the upstream accepted it', async () => {
    const customer = await relay.customer('1');
    const created = await post(customer, '/v1/videos', {
      model: MODEL,
      prompt: 'unclear [[fault:accept-then-timeout]]',
    });
    expect(created.status).toBe('queued');
    const again = await customer.send(`/v1/videos/${created.id}`);
    expect(again.status).toBe(200);
    expect(['queued', 'in_progress', 'completed']).toContain(((await again.json()) as Task).status);
  });

  it('keeps answering polls with the last known state while the upstream is down', async () => {
    const customer = await relay.customer('1');
    const created = await post(customer, '/v1/videos', {
      model: MODEL,
      prompt: 'deaf [[fault:poll-5xx]][[work:0.3]]',
    });
    const { seen } = await polled(customer, `/v1/videos/${created.id}`);
    expect(seen.at(-1)).toBe('completed');
  });

  it("shows a task only to its own account, also by the upstream's id", async () => {
    const customer = await relay.customer('1');
    const stranger = await relay.customer('1');
    const created = await post(customer, '/v1/videos', { model: MODEL, prompt: 'mine' });
    const { rows } = await relay.fixture.owner.query<{ upstream_id: string }>(
      'SELECT upstream_id FROM tasks WHERE id = $1',
      [created.id],
    );
    const upstreamId = rows[0]?.upstream_id ?? '';
    expect((await get(customer, `/v1/videos/${upstreamId}`)).id).toBe(created.id);
    for (const id of [created.id, upstreamId]) {
      for (const path of [`/v1/videos/${id}`, `/v1/videos/${id}/content`]) {
        const response = await stranger.send(path);
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ error: { code: 'video_not_found' } });
      }
    }
  });

  it('answers 404 once the file has expired, and keeps the status', async () => {
    const customer = await relay.customer('1');
    const created = await post(customer, '/v1/videos', { model: MODEL, prompt: 'brief' });
    const { last } = await polled(customer, `/v1/videos/${created.id}`);
    expect((await fetch(last.video!.url)).status).toBe(200);
    const { owner } = relay.fixture;
    await owner.query('UPDATE tasks SET expires_at = now() WHERE id = $1', [created.id]);
    const path = `/v1/videos/${created.id}/content`;
    const content = await customer.send(path);
    expect(content.status).toBe(404);
    expect(await content.json()).toMatchObject({ error: { code: 'video_expired' } });
    const over = signPath(URL_SIGNING_SECRET, path, Date.now() - 1_000);
    expect(await (await fetch(relay.baseUrl + path + over)).json()).toMatchObject({
      error: { code: 'video_expired' },
    });
    const later = await get(customer, `/v1/videos/${created.id}`);
    expect(later.status).toBe('completed');
    expect(later).not.toHaveProperty('video');
  });

  it('refuses image input, other groups and models of another type before any hold', async () => {
    const customer = await relay.customer('1');
    const file = await customer
      .sdk({ retries: 2 })
      .videos.create({
        model: MODEL,
        prompt: 'with a picture',
        input_reference: new File([Buffer.alloc(300_000)], 'first.png', { type: 'image/png' }),
      })
      .catch((error: unknown) => error);
    expect(file).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect(file).toMatchObject({ code: 'image_input_not_supported', param: 'input_reference' });

    const poor = await relay.customer('1', 'Public-Relay');
    const group = await poor
      .sdk({ retries: 2 })
      .videos.create({ model: MODEL, prompt: 'x' })
      .catch((e: unknown) => e);
    expect(group).toMatchObject({ status: 404, code: 'model_not_found' });

    const chat = await customer
      .sdk()
      .chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'hi' }], stream: true })
      .catch((error: unknown) => error);
    expect(chat).toMatchObject({ status: 400, code: 'model_not_supported_here' });
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    expect(await poor.balance()).toEqual({ main: '1', held: '0' });
  });

  async function post(customer: Customer, path: string, body: object): Promise<Task> {
    const response = await customer.send(path, json(body));
    const answer = (await response.json()) as Task;
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    return answer;
  }

  async function get(customer: Customer, path: string): Promise<Task> {
    const response = await customer.send(path);
    expect(response.status).toBe(200);
    return (await response.json()) as Task;
  }

  /** Polls to the end. Returns the states on the way. */
  async function polled(customer: Customer, path: string): Promise<{ last: Task; seen: string[] }> {
    const seen: string[] = [];
    const last = await until('the end of the video', async () => {
      const task = await get(customer, path);
      if (seen.at(-1) !== task.status) seen.push(task.status);
      return ['completed', 'done', 'failed'].includes(task.status) && task;
    });
    return { last, seen };
  }
});
