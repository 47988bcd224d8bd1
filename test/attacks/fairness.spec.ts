import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'vendora-imagine-image', response_format: 'b64_json' };
const PLACES = 4;

describe('a channel that one customer fills', () => {
  let relay: Relay;
  let hostile: Customer;
  let honest: Customer;

  beforeAll(async () => {
    relay = await startRelay({ CHANNEL_WAIT_SECONDS: '30', CATALOG_LIFE_SECONDS: '0' });
    [hostile, honest] = [await relay.customer('9'), await relay.customer('9')];
    await relay.fixture.owner.query('UPDATE channels SET max_concurrency = $1', [PLACES]);
  });
  afterAll(() => closeClean(relay));

  /** Requests this many images at once. `done` receives the order in which they finished. */
  const draw = (
    customer: Customer,
    count: number,
    { seconds, done }: { seconds: number; done: () => void },
  ) =>
    Array.from({ length: count }, async () => {
      const prompt = `a boat [[work:${seconds}]]`;
      const answer = await customer.send(IMAGES, json({ ...IMAGE, prompt }));
      await answer.arrayBuffer();
      done();
      return answer.status;
    });

  const waiting = async () => {
    const metrics = await relay.registry.metrics();
    return Number(/upstream_channel_waiting\{[^}]*\} (\d+)/.exec(metrics)?.[1] ?? 0);
  };

  it('serves another customer as often as the one who came first with many', async () => {
    const order: string[] = [];
    const many = draw(hostile, 60, { seconds: 0.1, done: () => order.push('hostile') });
    await until('the channel to be full', async () => (await waiting()) >= 30);
    const before = order.length;
    const few = draw(honest, 12, { seconds: 0.1, done: () => order.push('honest') });
    expect(new Set(await Promise.all(few))).toEqual(new Set([200]));
    const meanwhile = order.slice(before).filter((who) => who === 'hostile').length;
    // Those that had a place or got one while the others arrived, then alternating. In order of arrival, all waiting
    // requests would come first.
    expect(meanwhile).toBeLessThanOrEqual(12 + 4 * PLACES);
    expect(12 + 4 * PLACES).toBeLessThan(30);
    expect(new Set(await Promise.all(many))).toEqual(new Set([200]));
  });

  it('refuses what waits too long, with a 429 for the customer’s own excess, before anything is held', async () => {
    const other = await startRelay({ CHANNEL_WAIT_SECONDS: '0.2', CATALOG_LIFE_SECONDS: '0' });
    try {
      await other.fixture.owner.query('UPDATE channels SET max_concurrency = 1');
      const [one, two] = [await other.customer('1'), await other.customer('1')];
      const held = one.send(IMAGES, json({ ...IMAGE, prompt: 'a boat [[work:3]]' }));
      await until('its hold', async () => (await one.balance()).held !== '0');
      const own = await one.send(IMAGES, json({ ...IMAGE, prompt: 'a boat' }));
      expect(own.status).toBe(429);
      expect(Number(own.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await own.json()).toMatchObject({
        error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
      });
      const left = await two.send(IMAGES, json({ ...IMAGE, prompt: 'a boat' }));
      expect(left.status).toBe(503);
      expect(Number(left.headers.get('retry-after'))).toBeGreaterThan(0);
      const { rows } = await other.fixture.owner.query<{ count: string }>('SELECT count(*) FROM charges');
      expect(String(rows[0]?.count)).toBe('1');
      expect((await held).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  it('forgets a call whose client left while waiting', async () => {
    const leaving = new AbortController();
    // None of them may end before the last has begun, however slow the machine is.
    const many = draw(hostile, PLACES, { seconds: 15, done: () => undefined });
    await until('the channel to be full', async () => (await hostile.balance()).held === '0.08');
    const gone = honest.send(IMAGES, { ...json({ ...IMAGE, prompt: 'a boat' }), signal: leaving.signal });
    await until('it to wait', async () => (await waiting()) > 0);
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await until('it to be forgotten', async () => (await waiting()) === 0);
    await Promise.all(many);
    expect(await honest.balance()).toMatchObject({ held: '0' });
  });
});
