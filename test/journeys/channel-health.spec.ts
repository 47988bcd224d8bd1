import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatedUpstream } from '../support/gated-upstream.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const FAILURES = 3;
/** Longer than two requests take, even on a slow machine. */
const OPEN_SECONDS = 10;

/** Each way to call a vendor, and the sandbox's count of such calls. */
const WAYS: [name: string, path: string, body: { model: string } & Record<string, unknown>, stat: string][] =
  [
    [
      'images',
      '/v1/images/generations',
      { model: 'vendora-imagine-image', response_format: 'b64_json' },
      'imagesRequests',
    ],
    ['videos', '/v1/videos', { model: 'vendora-imagine-video' }, 'videoCreates'],
    ['chats', '/v1/chat/completions', { model: 'vendora-chat', stream: true }, 'textsBegun'],
  ];

function withPrompt(body: object, path: string, prompt: string): object {
  if (!path.endsWith('/chat/completions')) return { ...body, prompt };
  return { ...body, messages: [{ role: 'user', content: prompt }] };
}

describe('a channel that keeps failing', () => {
  let relay: Relay;
  let upstream: GatedUpstream;
  let customer: Customer;
  let other: Customer;

  beforeAll(async () => {
    relay = await startRelay({
      CHANNEL_FAILURES_TO_OPEN: String(FAILURES),
      CHANNEL_OPEN_SECONDS: String(OPEN_SECONDS),
    });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
    customer = await relay.customer('5');
    other = await relay.customer('5');
  });

  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  it.each(WAYS)('is left alone, then tried again by itself: %s', async (_name, path, body, stat) => {
    const ask = (prompt: string, by = customer) => by.send(path, json(withPrompt(body, path, prompt)));
    for (let times = 0; times < FAILURES; times += 1) {
      const by = times === 0 ? other : customer;
      expect((await ask('busy [[fault:reject-503]]', by)).status).toBe(503);
    }

    const before = await traces(stat);
    const refused = await ask('a lighthouse');
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(OPEN_SECONDS);
    expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
    // Neither the vendor nor billing was asked.
    expect(await traces(stat)).toEqual(before);
    expect(await stateOf(body)).toBe('2');

    await until('the channel to be tried again', async () => {
      const response = await ask('a lighthouse');
      await response.arrayBuffer();
      return response.status === 200;
    });
    expect(await stateOf(body)).toBe('0');
  });

  it('stays healthy while it refuses what callers sent', async () => {
    const [, path, body] = WAYS[0]!;
    for (let times = 0; times <= FAILURES; times += 1) {
      const refused = await customer.send(path, json(withPrompt(body, path, 'no [[fault:moderation]]')));
      expect(refused.status).toBe(400);
    }
    expect((await customer.send(path, json(withPrompt(body, path, 'a boat')))).status).toBe(200);
  });

  it('has one place taken for as long as a stream lasts', async () => {
    const [, path, body] = WAYS[2]!;
    upstream.shut(/a long talk/, 'answer');
    const prompt = 'a long talk';
    const response = await customer.send(path, json(withPrompt(body, path, prompt)));
    expect(await calls()).toBe('1');
    upstream.open();
    await response.text();
    await until('its place to be free', async () => (await calls()) === '0');
  });

  async function stateOf({ model }: { model: string }): Promise<string | undefined> {
    const metrics = await relay.registry.metrics();
    const line = new RegExp(`upstream_channel_state\\{channel="sandbox",model="${model}"[^}]*\\} (\\d)`);
    return line.exec(metrics)?.[1];
  }

  async function calls(): Promise<string | undefined> {
    const metrics = await relay.registry.metrics();
    return /upstream_channel_calls\{[^}]*channel="sandbox"[^}]*\} (\d+)/.exec(metrics)?.[1];
  }

  /** What the vendor has counted, and how many charges there are. */
  async function traces(stat: string): Promise<{ calls: number; refusals: number; charges: string }> {
    const stats = (await (await fetch(`${relay.sandboxUrl}/_sandbox/stats`)).json()) as Record<
      string,
      number
    >;
    const { rows } = await relay.fixture.owner.query<{ count: string }>('SELECT count(*) FROM charges');
    expect(stats).toHaveProperty(stat);
    return { calls: stats[stat]!, refusals: stats['refusals']!, charges: String(rows[0]!.count) };
  }
});
