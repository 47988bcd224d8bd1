import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { GatedUpstream, POLLS } from '../support/gated-upstream.js';
import { closeClean, type Customer, type Relay, startRelay, until } from '../support/relay.js';

const MODEL = 'vendora-imagine-video';

describe('the list of videos, by the OpenAI SDK', () => {
  let relay: Relay;
  let upstream: GatedUpstream;

  beforeAll(async () => {
    relay = await startRelay();
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  it('is paged by its last ID in either order, without refused videos', async () => {
    const customer = await relay.customer('1');
    const stranger = await relay.customer('0.01');
    const sdk = customer.sdk();
    expect(await list(customer, '')).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
    const ids: string[] = [];
    for (let number = 0; number < 5; number += 1) {
      ids.push((await sdk.videos.create({ model: MODEL, prompt: `number ${number}`, seconds: '4' })).id);
    }
    // The sixth exceeds the balance, so it never became a video.
    await expect(sdk.videos.create({ model: MODEL, prompt: 'dear', seconds: '12' })).rejects.toMatchObject({
      code: 'insufficient_user_quota',
    });

    const seen: string[] = [];
    for await (const video of sdk.videos.list({ limit: 2 })) seen.push(video.id);
    expect(seen).toEqual([...ids].reverse());
    const rising: string[] = [];
    for await (const video of sdk.videos.list({ limit: 3, order: 'asc' })) rising.push(video.id);
    expect(rising).toEqual(ids);

    const page = await list(customer, `?limit=2&order=asc&after=${ids[1]}`);
    expect(page).toMatchObject({ has_more: true, first_id: ids[2], last_id: ids[3] });
    expect(await list(customer, '?limit=5')).toMatchObject({ has_more: false });
    expect((await list(stranger, '')).data).toEqual([]);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'limit=-1', 'order=up', 'after=', "after=' OR 1=1", 'after=x'])(
    'refuses %s',
    async (query) => {
      const customer = await relay.customer('1');
      const response = await customer.send(`/v1/videos?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: 'invalid_value', param: query.split('=')[0] },
      });
    },
  );

  it('forgets what its owner deletes, but the books do not', async () => {
    const customer = await relay.customer('1');
    const stranger = await relay.customer('1');
    const sdk = customer.sdk();
    upstream.shut(POLLS);
    const { id } = await sdk.videos.create({ model: MODEL, prompt: 'brief', seconds: '4' });
    const early: unknown = await customer
      .sdk({ retries: 2 })
      .videos.delete(id)
      .catch((error: unknown) => error);
    expect(early).toBeInstanceOf(OpenAI.BadRequestError);
    expect(early).toMatchObject({ code: 'video_not_ready' });
    upstream.open();
    const finished = await until('the end of the video', async () => {
      const video = await sdk.videos.retrieve(id);
      return video.status === 'completed' && (video as unknown as { video: { url: string } });
    });
    await expect(stranger.sdk().videos.delete(id)).rejects.toMatchObject({ code: 'video_not_found' });
    const key = (
      await relay.fixture.owner.query<{ file_key: string }>('SELECT file_key FROM tasks WHERE id = $1', [id])
    ).rows[0]?.file_key;
    expect(key).toBe(`videos/${id}.mp4`);

    for (let time = 0; time < 2; time += 1) {
      expect(await sdk.videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true });
    }
    await expect(sdk.videos.downloadContent(id)).rejects.toMatchObject({
      status: 404,
      code: 'video_deleted',
    });
    expect((await fetch(finished.video.url)).status).toBe(404);
    expect((await list(customer, '')).data).toEqual([]);
    await expect(sdk.videos.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'video_deleted' });
    const gone = [
      `/v1/videos/${id}`,
      `/vendora/v1/videos/${id}`,
      `/vendora/v1/videos/${id}/content`,
      `/v1beta/models/${MODEL}/operations/${id}`,
      `/v1beta/files/${id}:download?alt=media`,
    ];
    for (const path of gone) {
      const answer = await customer.send(path);
      expect({ path, status: answer.status }).toEqual({ path, status: 404 });
      expect(JSON.stringify(await answer.json())).toContain('video_deleted');
    }
    await expect(stranger.sdk().videos.retrieve(id)).rejects.toMatchObject({ code: 'video_not_found' });
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0' });
  });

  it("refuses the SDK's other video calls, and says so once", async () => {
    const customer = await relay.customer('1');
    const asked: string[] = [];
    const counting: typeof fetch = (input, init) => {
      const url = input instanceof Request ? input.url : input.toString();
      // Before its first upload, the SDK tests its function with a data URL.
      if (!url.startsWith('data:')) asked.push(new URL(url).pathname);
      return fetch(input, init);
    };
    const { videos } = customer.sdk({ retries: 2, fetch: counting });
    const id = '01jcq3v8w1f5p6k7m8n9q0r1s2';
    const prompt = 'on and on';
    const file = new File(['x'], 'x.mp4', { type: 'video/mp4' });
    const calls: [path: string, call: () => Promise<unknown>][] = [
      ['/v1/videos/edits', () => videos.edit({ prompt, video: { id } })],
      ['/v1/videos/extensions', () => videos.extend({ prompt, seconds: '4', video: { id } })],
      ['/v1/videos/characters', () => videos.createCharacter({ name: 'x', video: file })],
      [`/v1/videos/characters/${id}`, () => videos.getCharacter(id)],
    ];
    for (const [, call] of calls) {
      const error: unknown = await call().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error).toMatchObject({ code: 'unknown_url', requestID: expect.any(String) });
    }
    expect(asked).toEqual(calls.map(([path]) => path));
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  async function list(customer: Customer, query: string): Promise<{ data: unknown[] }> {
    const response = await customer.send(`/vendora/v1/videos${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as { data: unknown[] };
  }
});
