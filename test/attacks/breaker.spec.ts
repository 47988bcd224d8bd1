import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  closeClean,
  type Customer,
  expectCleanLedger,
  json,
  type Relay,
  startRelay,
  until,
} from '../support/relay.js';

const FAILURES = 3;
const IMAGES = '/v1/images/generations';
const IMAGE = 'vendora-imagine-image';

describe('a circuit breaker between strangers', () => {
  let relay: Relay;
  let hostile: Customer;
  let honest: Customer;

  beforeAll(async () => {
    relay = await startRelay({
      CHANNEL_FAILURES_TO_OPEN: String(FAILURES),
      CHANNEL_OPEN_SECONDS: '600',
    });
    [hostile, honest] = [await relay.customer('5'), await relay.customer('5')];
  });
  afterAll(() => closeClean(relay));

  const draw = async (customer: Customer, prompt: string): Promise<number> => {
    const answer = await customer.send(IMAGES, json({ model: IMAGE, prompt, response_format: 'b64_json' }));
    await answer.arrayBuffer();
    return answer.status;
  };
  const chat = async (customer: Customer): Promise<number> => {
    const body = { model: 'vendora-chat', messages: [{ role: 'user', content: 'hello' }] };
    const answer = await customer.send('/v1/chat/completions', json(body));
    await answer.arrayBuffer();
    return answer.status;
  };
  const imagesAsked = async () => {
    const stats = (await (await fetch(`${relay.sandboxUrl}/_sandbox/stats`)).json()) as Record<
      string,
      number
    >;
    return stats['imagesRequests'] ?? 0;
  };
  const opened = async () =>
    /upstream_channel_opened_total\{[^}]*\} (\d+)/.exec(await relay.registry.metrics());

  it.each(['reject-503', 'reject-500', 'reject-401', 'reject-429'])(
    'stays closed for everyone, whatever failure one customer causes: %s',
    async (fault) => {
      for (let times = 0; times < 4 * FAILURES; times += 1)
        expect(await draw(hostile, `[[fault:${fault}]]`)).toBeGreaterThanOrEqual(500);
      expect(await draw(honest, 'a lighthouse')).toBe(200);
      expect(await chat(honest)).toBe(200);
      expect(await draw(hostile, 'a lighthouse')).toBe(200);
      expect(await opened()).toBeNull();
    },
  );

  it('stays closed when many customers are refused for their requests', async () => {
    for (let times = 0; times < 2 * FAILURES; times += 1)
      for (const customer of [hostile, honest])
        for (const fault of ['reject-400', 'reject-422', 'moderation', 'reject-404'])
          expect(await draw(customer, `[[fault:${fault}]]`)).toBeGreaterThanOrEqual(400);
    expect(await opened()).toBeNull();
  });

  it('opens for the one model that several customers cannot use, and for no other', async () => {
    for (let times = 0; times < FAILURES; times += 1)
      await draw(times === 0 ? honest : hostile, '[[fault:reject-503]]');
    const before = await imagesAsked();
    expect(await draw(honest, 'a lighthouse')).toBe(503);
    expect(await imagesAsked()).toBe(before);
    expect(await chat(honest)).toBe(200);
  });

  it('stays closed for messages, whatever several customers without credits have counted', async () => {
    const ask = async (customer: Customer, path: string, content: string): Promise<number> => {
      const body = { model: 'vendora-messages', max_tokens: 5, messages: [{ role: 'user', content }] };
      const answer = await customer.send(path, json(body));
      await answer.arrayBuffer();
      return answer.status;
    };
    const poor = [await relay.customer('0'), await relay.customer('0')];
    for (let times = 0; times < 2 * FAILURES; times += 1)
      for (const customer of poor)
        expect(await ask(customer, '/v1/messages/count_tokens', '[[fault:reject-429]]')).toBe(503);
    expect(await ask(honest, '/v1/messages', 'hello')).toBe(200);
  });

  it('opens for a lone customer if our own test of the vendor fails too', async () => {
    const second = await startRelay({
      CHANNEL_FAILURES_TO_OPEN: String(FAILURES),
      CHANNEL_OPEN_SECONDS: '600',
    });
    try {
      const lone = await second.customer('5');
      await second.fixture.owner.query(`UPDATE channels SET api_key = 'revoked'`);
      await until('the breaker to open', async () => {
        await draw(lone, 'a lighthouse');
        const metrics = await second.registry.metrics();
        return /upstream_channel_opened_total\{[^}]*\} 1/.test(metrics);
      });
      await expectCleanLedger(second);
    } finally {
      await second.close();
    }
  });
});
