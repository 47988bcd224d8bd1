import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatedUpstream } from '../support/gated-upstream.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const FAILURES = 3;
/** Longer than any test. */
const OPEN_SECONDS = 600;

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

/** Opens the channel's circuit for a model. It takes the failures of more than one account. */
async function fail(customers: [Customer, Customer], path: string, body: object): Promise<void> {
  for (let times = 0; times < FAILURES; times += 1) {
    const by = customers[times === 0 ? 0 : 1];
    const refused = await by.send(path, json(withPrompt(body, path, 'busy [[fault:reject-503]]')));
    expect(refused.status).toBe(503);
  }
}

async function metricOf(relay: Relay, name: string, labels: string): Promise<string | undefined> {
  return new RegExp(`${name}\\{channel="sandbox"${labels}[^}]*\\} (\\d+)`).exec(
    await relay.registry.metrics(),
  )?.[1];
}

const stateOf = (relay: Relay, { model }: { model: string }) =>
  metricOf(relay, 'upstream_channel_state', `,model="${model}"`);

describe('a channel that has kept failing', () => {
  let relay: Relay;

  beforeAll(async () => {
    relay = await startRelay({
      CHANNEL_FAILURES_TO_OPEN: String(FAILURES),
      CHANNEL_OPEN_SECONDS: String(OPEN_SECONDS),
    });
  });
  afterAll(() => closeClean(relay));

  it.each(WAYS)('is left alone: %s', async (_name, path, body, stat) => {
    const customers: [Customer, Customer] = [await relay.customer('5'), await relay.customer('5')];
    await fail(customers, path, body);
    const before = await traces(stat);
    const refused = await customers[1].send(path, json(withPrompt(body, path, 'a lighthouse')));
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(OPEN_SECONDS);
    expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
    // Neither the vendor nor billing was asked.
    expect(await traces(stat)).toEqual(before);
    expect(await stateOf(relay, body)).toBe('2');
  });

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

describe('a channel that keeps failing', () => {
  let relay: Relay;
  let upstream: GatedUpstream;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay({ CHANNEL_FAILURES_TO_OPEN: String(FAILURES), CHANNEL_OPEN_SECONDS: '1' });
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
    customer = await relay.customer('5');
  });

  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  it.each(WAYS)('is tried again by itself: %s', async (_name, path, body) => {
    await fail([await relay.customer('5'), customer], path, body);
    expect(await metricOf(relay, 'upstream_channel_opened_total', `,model="${body.model}"`)).toBe('1');
    await until('the channel to be tried again', async () => {
      const response = await customer.send(path, json(withPrompt(body, path, 'a lighthouse')));
      await response.arrayBuffer();
      return response.status === 200;
    });
    expect(await stateOf(relay, body)).toBe('0');
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

  const calls = () => metricOf(relay, 'upstream_channel_calls', '');
});
