import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { withinOneMinute } from '../support/minute.js';
import { addModel } from '../support/models.js';
import { closeClean, json, type Relay, startRelay } from '../support/relay.js';

const IMAGES = '/v1/images/generations';
const CHATS = '/v1/chat/completions';

let relay: Relay;
let owner: Person;

beforeAll(async () => {
  relay = await startRelay();
  const nobody = { channel: 'dead', protocol: 'openai-xai', baseUrl: 'http://127.0.0.1:9' };
  await addModel(relay.fixture.owner, { id: 'dead-image', like: 'imgmodel-4', ...nobody });
  owner = await person(relay, { credits: '50' });
});
afterAll(() => closeClean(relay));

async function keyWith(
  rules: Record<string, number>,
  { group = 'Vendora-Main' } = {},
  by = owner,
): Promise<(path: string, body: object) => Promise<Response>> {
  const { data } = await by.api.POST('/api/keys', { body: { name: 'limited', group, ...rules } });
  const headers = { authorization: `Bearer ${data!.apiKey}` };
  return (path, body) => fetch(`${relay.baseUrl}${path}`, json(body, headers));
}

const image = (n: number) => ({ model: 'imgmodel-4', prompt: 'a lighthouse [[instant]]', n });
const chat = (max_tokens: number) => ({
  model: 'vendora-chat',
  messages: [{ role: 'user', content: 'hello' }],
  max_tokens,
});
const left = ({ headers }: Response, unit: string) =>
  ['limit', 'remaining'].map((what) => headers.get(`x-ratelimit-${what}-${unit}`));

it('images per minute are counted one by one, and a request beyond them holds nothing', async () => {
  await withinOneMinute(async () => {
    const send = await keyWith({ imagesPerMinute: 5 });
    const first = await send(IMAGES, image(3));
    expect(first.status).toBe(200);
    expect(left(first, 'images')).toEqual(['5', '2']);
    expect(first.headers.get('x-ratelimit-reset-images')).toMatch(/^\d+m?s$/);
    const beyond = await send(IMAGES, image(3));
    expect(beyond.status).toBe(429);
    expect(Number(beyond.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await beyond.json()).toMatchObject({
      error: { code: 'rate_limit_exceeded', message: expect.stringContaining('5 images per minute') },
    });
    expect((await send(IMAGES, image(2))).status).toBe(200);
    expect((await send(CHATS, chat(10))).status).toBe(200);
  });
});

it('a request that could never pass leaves the limit untouched', async () => {
  await withinOneMinute(async () => {
    const send = await keyWith({ imagesPerMinute: 2 });
    const large = await send(IMAGES, image(3));
    expect(large.status).toBe(429);
    expect(large.headers.get('x-should-retry')).toBe('false');
    expect((await send(IMAGES, image(2))).status).toBe(200);
  });
});

it('a request that goes through several models counts once', async () => {
  await withinOneMinute(async () => {
    const send = await keyWith({ imagesPerMinute: 3 });
    const answer = await send(IMAGES, { ...image(2), models: ['dead-image', 'imgmodel-4'], model: null });
    expect(answer.headers.get('x-served-model')).toBe('imgmodel-4');
    expect(left(answer, 'images')).toEqual(['3', '1']);
  });
});

it('tokens per minute are the likely input and the requested output', async () => {
  await withinOneMinute(async () => {
    const send = await keyWith({ tokensPerMinute: 1_000 });
    const first = await send(CHATS, chat(600));
    expect(first.status).toBe(200);
    const [limit, remaining] = left(first, 'tokens');
    expect(limit).toBe('1000');
    expect(Number(remaining)).toBeGreaterThan(300);
    expect(Number(remaining)).toBeLessThan(400);
    expect((await send(CHATS, chat(600))).status).toBe(429);
    expect((await send(CHATS, chat(100))).status).toBe(200);
  });
});

it("group limits are shared by an account's keys in the group, and not by other accounts", async () => {
  await withinOneMinute(async () => {
    const admin = await person(relay, { roles: ['admin'] });
    const other = await person(relay, { credits: '5' });
    const { response } = await admin.api.PATCH('/api/admin/groups/{group}', {
      params: { path: { group: 'Public-Relay' } },
      body: { imagesPerMinute: 3, tokensPerMinute: 1_000 },
    });
    expect(response.status).toBe(200);
    const inGroup = { group: 'Public-Relay' };
    const [one, two, apart] = [
      await keyWith({}, inGroup),
      await keyWith({}, inGroup),
      await keyWith({}, inGroup, other),
    ];
    const lite = { ...image(2), model: 'imgmodel-lite' };
    const first = await one(IMAGES, lite);
    expect([first.status, left(first, 'images')]).toEqual([200, ['3', '1']]);
    const { rows } = await relay.fixture.billing.query('SELECT count(*)::int AS charges FROM charges');
    const beyond = await two(IMAGES, lite);
    expect(beyond.status).toBe(429);
    expect(Number(beyond.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await beyond.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    const talk = await two(CHATS, { ...chat(2_000), model: 'vendora-chat-lite' });
    expect([talk.status, talk.headers.get('x-should-retry')]).toEqual([429, 'false']);
    const again = await relay.fixture.billing.query('SELECT count(*)::int AS charges FROM charges');
    expect(again.rows).toEqual(rows);
    expect((await apart(IMAGES, lite)).status).toBe(200);
    const elsewhere = await keyWith({});
    expect(left(await elsewhere(IMAGES, image(1)), 'images')).toEqual([null, null]);
  });
});

it('account limits apply to all keys of the account together', async () => {
  await withinOneMinute(async () => {
    await relay.fixture.owner.query('UPDATE accounts SET images_per_minute = 3 WHERE id = $1', [
      owner.accountId,
    ]);
    const [one, other] = [await keyWith({}), await keyWith({ imagesPerMinute: 100 })];
    expect((await one(IMAGES, image(2))).status).toBe(200);
    const answers = await Promise.all([1, 2, 3].map(() => other(IMAGES, image(1))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
  });
});
