import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/eventually.js';
import { withinOneMinute } from '../support/minute.js';
import { type Pair, type PairCustomer, startPair } from '../support/pair.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse [[instant]]' };
const VIDEO = { model: 'vendora-imagine-video', prompt: 'a paper boat' };

describe('limits of a key and a group, over two gateways', () => {
  let pair: Pair;

  beforeAll(async () => {
    pair = await startPair({ KEY_CACHE_SECONDS: '0.05' });
  });
  afterAll(() => pair.close());

  const json = (body: object): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

  async function limited(columns: string, group?: string): Promise<PairCustomer> {
    const customer = await pair.customer('5', group);
    await pair.fixture.owner.query(`UPDATE api_keys SET ${columns} WHERE id = $1`, [customer.keyId]);
    return customer;
  }

  const statuses = (answers: Response[]) => answers.map(({ status }) => status).sort();

  it('accepts the requests of a minute, and answers 429 to the others before they cost anything', async () => {
    await withinOneMinute(async () => {
      const customer = await limited('requests_per_minute = 4');
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => customer.send(index % 2 === 0 ? 0 : 1, IMAGES, json(IMAGE))),
      );
      expect(statuses(answers)).toEqual([200, 200, 200, 200, 429, 429, 429, 429, 429, 429]);
      const refused = answers.find(({ status }) => status === 429)!;
      expect(await refused.json()).toMatchObject({
        error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(5);
      expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('4');
      expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
      expect(refused.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+m?s$/);
      const left = answers
        .filter(({ status }) => status === 200)
        .map(({ headers }) => headers.get('x-ratelimit-remaining-requests'));
      expect(left.sort()).toEqual(['0', '1', '2', '3']);
      expect(await customer.charges()).toHaveLength(4);

      const video = await customer.send(1, '/v1/videos', json(VIDEO));
      expect(video.status).toBe(429);
      expect((await customer.send(0, '/v1/models')).status).toBe(200);
    });
  });

  it('counts the keys of an account in a group together, and each account separately', async () => {
    await withinOneMinute(async () => {
      await pair.fixture.owner.query(`UPDATE groups SET requests_per_minute = 3 WHERE name = 'Public-Relay'`);
      const [one, other] = [
        await pair.customer('1', 'Public-Relay'),
        await pair.customer('1', 'Public-Relay'),
      ];
      const ask = (customer: PairCustomer) =>
        Array.from({ length: 5 }, (_, index) =>
          customer.send(index < 3 ? 0 : 1, IMAGES, json({ ...IMAGE, model: 'imgmodel-lite' })),
        );
      const [ofOne, ofOther] = await Promise.all([Promise.all(ask(one)), Promise.all(ask(other))]);
      expect(statuses(ofOne)).toEqual([200, 200, 200, 429, 429]);
      expect(statuses(ofOther)).toEqual([200, 200, 200, 429, 429]);
      const free = await pair.customer('1');
      const answer = await free.send(0, IMAGES, json(IMAGE));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('1000000');
    });
  });

  it('runs as many videos at once as a key may, and another once one has ended', async () => {
    const customer = await limited('max_running_tasks = 2');
    const prompt = 'a boat [[work:3600]]';
    const create = (gateway: 0 | 1) => customer.send(gateway, '/v1/videos', json({ ...VIDEO, prompt }));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => create(index % 2 === 0 ? 0 : 1)),
    );
    expect(statuses(answers)).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await customer.charges()).toHaveLength(2);

    const { id } = (await answers.find(({ status }) => status === 200)!.json()) as { id: string };
    await pair.fixture.owner.query('UPDATE tasks SET deadline = now() WHERE id = $1', [id]);
    await until('the end of a video', async () => {
      const poll = await customer.send(1, `/v1/videos/${id}`);
      expect(poll.status).toBe(200);
      return ((await poll.json()) as { status: string }).status === 'failed';
    });
    expect((await create(0)).status).toBe(200);
  });
});
