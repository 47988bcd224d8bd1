import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { closeClean, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGES = '/v1/images/generations';
const CHATS = '/v1/chat/completions';
/** Enough of a minute for a test. */
const NEEDED_SECONDS = 20;

let relay: Relay;
let owner: Person;

beforeAll(async () => {
  relay = await startRelay();
  owner = await person(relay, { credits: '50' });
});
afterAll(() => closeClean(relay));

async function keyWith(
  rules: Record<string, number>,
): Promise<(path: string, body: object) => Promise<Response>> {
  const { data } = await owner.api.POST('/api/keys', {
    body: { name: 'limited', group: 'Vendora-Main', ...rules },
  });
  const enough = async () => new Date().getSeconds() < 60 - NEEDED_SECONDS;
  await until('a minute with enough left of it', enough);
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

it('a request that could never pass uses up nothing of the others', async () => {
  const send = await keyWith({ imagesPerMinute: 2 });
  const large = await send(IMAGES, image(3));
  expect(large.status).toBe(429);
  expect(large.headers.get('x-should-retry')).toBe('false');
  expect((await send(IMAGES, image(2))).status).toBe(200);
});

it('tokens per minute are the input as it is likely and the output that is asked for', async () => {
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

it('hold for all keys of an account together', async () => {
  await relay.fixture.owner.query('UPDATE accounts SET images_per_minute = 3 WHERE id = $1', [
    owner.accountId,
  ]);
  const [one, other] = [await keyWith({}), await keyWith({ imagesPerMinute: 100 })];
  expect((await one(IMAGES, image(2))).status).toBe(200);
  const answers = await Promise.all([1, 2, 3].map(() => other(IMAGES, image(1))));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
});
