import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashApiKey, newApiKey, newId } from '#platform/ids.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { withinOneMinute } from '../support/minute.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'vendora-imagine-image', response_format: 'b64_json' };
const CHATS = '/v1/chat/completions';

describe('customers without limits of their own', () => {
  let relay: Relay;
  let upstream: GatedUpstream;
  let hostile: Customer;
  let honest: Customer;

  beforeAll(async () => {
    relay = await startRelay({
      KEY_REQUESTS_PER_MINUTE: '6',
      ACCOUNT_REQUESTS_PER_MINUTE: '10',
      KEY_CONCURRENT_REQUESTS: '2',
      ACCOUNT_CONCURRENT_REQUESTS: '3',
      FAILED_KEYS_PER_MINUTE: '5',
      KEY_CACHE_SECONDS: '0.05',
    });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  const begin = async () => {
    [hostile, honest] = [await relay.customer('5'), await relay.customer('5')];
  };
  beforeEach(begin);
  /** What counts per minute, with customers who have sent nothing in it. */
  const counted = (work: () => Promise<void>) => withinOneMinute(() => begin().then(work));

  const draw = (customer: Customer, prompt = 'a boat') => customer.send(IMAGES, json({ ...IMAGE, prompt }));

  async function drawMany(customer: Customer, count: number): Promise<number[]> {
    const statuses: number[] = [];
    for (let times = 0; times < count; times += 1) statuses.push((await draw(customer)).status);
    return statuses;
  }

  it('can send the default number of requests per minute, and see it in every paid answer', async () => {
    await counted(async () => {
      const first = await draw(hostile);
      expect(first.headers.get('x-ratelimit-limit-requests')).toBe('6');
      expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('5');
      expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+m?s$/);
      expect(await drawMany(hostile, 7)).toEqual([200, 200, 200, 200, 200, 429, 429]);
      expect((await draw(honest)).status).toBe(200);
    });
  });

  it('gain nothing from many keys', async () => {
    await counted(async () => {
      const apiKey = newApiKey();
      await relay.fixture.owner.query(
        `INSERT INTO api_keys (id, account_id, name, key_hash, group_name) VALUES ($1, $2, 'second', $3, 'Vendora-Main')`,
        [newId(), hostile.accountId, hashApiKey(apiKey)],
      );
      const other = { ...hostile, send: sendWith(apiKey) };
      const statuses = [...(await drawMany(hostile, 6)), ...(await drawMany(other, 6))];
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    });
  });

  it.each([
    ['/v1/messages', { type: 'error', error: { type: 'rate_limit_error' } }],
    ['/v1beta/models/imgmodel-4:predict', { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }],
    ['/v1/videos', { error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } }],
  ])('are refused in the family’s format, with a time to try again: %s', async (path, shape) => {
    await counted(async () => {
      await drawMany(hostile, 6);
      const refused = await hostile.send(path, json({ prompt: 'x' }));
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
      expect(await refused.json()).toMatchObject(shape);
    });
  });

  it('can have the default number of requests in progress, including those whose clients left; polls are counted separately', async () => {
    const leaving = new AbortController();
    upstream.shut(/slow/);
    const slow = json({ ...IMAGE, prompt: 'a slow boat' });
    const left = hostile.send(IMAGES, { ...slow, signal: leaving.signal });
    const body = { model: 'vendora-chat', messages: [{ role: 'user', content: 'hello' }] };
    const stays = hostile.send(IMAGES, slow);
    await until('both to be in progress', async () => upstream.waiting === 2);
    leaving.abort();
    await expect(left).rejects.toThrow();
    const refused = await hostile.send(CHATS, json(body));
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await hostile.send('/v1/models')).status).toBe(200);
    expect((await draw(honest)).status).toBe(200);
    upstream.open();
    expect((await stays).status).toBe(200);
    await until('the one whose client left to end', async () => (await held(hostile)) === 0);
    await until('another to be let in', async () => (await draw(hostile)).status === 200);
  });

  it('get what an operator sets for their account instead of the defaults', async () => {
    await counted(async () => {
      await relay.fixture.owner.query(
        'UPDATE accounts SET requests_per_minute = 8, max_concurrent_requests = 1 WHERE id = $1',
        [hostile.accountId],
      );
      const first = await draw(hostile);
      expect(first.headers.get('x-ratelimit-limit-requests')).toBe('8');
      expect(await drawMany(hostile, 8)).toEqual([200, 200, 200, 200, 200, 200, 200, 429]);
    });
  });

  it('can guess only a few keys from one address, and lock out nobody with a valid key', async () => {
    await counted(async () => {
      expect((await honest.send('/v1/models')).status).toBe(200);
      const guess = () => sendWith(`sk-tg-${randomBytes(32).toString('base64url')}`)('/v1/models');
      const statuses: number[] = [];
      for (let times = 0; times < 8; times += 1) statuses.push((await guess()).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
      expect(Number((await guess()).headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await honest.send('/v1/models')).status).toBe(200);
      expect((await sendWith('nonsense')('/v1/models')).status).toBe(401);
    });
  });

  function sendWith(apiKey: string): Customer['send'] {
    return (path, init = {}) =>
      fetch(relay.baseUrl + path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${apiKey}` },
      });
  }

  async function held({ accountId }: Customer): Promise<number> {
    const { rows } = await relay.fixture.owner.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM charges WHERE account_id = $1 AND state = 'held'`,
      [accountId],
    );
    return rows[0]?.count ?? 0;
  }
});
