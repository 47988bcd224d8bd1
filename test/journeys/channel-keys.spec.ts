import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeClean, type Customer, json, type Relay, startRelay } from '../support/relay.js';

const CHAT = { model: 'vendora-chat', messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 };
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'vendora-chat',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};
/** One of two keys is drawn at random. After this many calls, both have been drawn, except in one run in a billion. */
const MOST_CALLS = 30;

describe('a channel with two keys, one of which is over its limit', () => {
  const asked: Record<string, number> = { spent: 0, good: 0 };
  let vendor: Server;
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    vendor = createServer((request, response) => {
      const key = (request.headers.authorization ?? '').replace('Bearer ', '');
      asked[key] = (asked[key] ?? 0) + 1;
      const isSpent = key === 'spent';
      const head = { 'content-type': 'application/json', ...(isSpent && { 'retry-after': '600' }) };
      request.resume().once('end', () => {
        response.writeHead(isSpent ? 429 : 200, head);
        response.end(JSON.stringify(isSpent ? { error: { message: 'slow down' } } : ANSWER));
      });
    });
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
    relay = await startRelay();
    const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
    await relay.fixture.owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, further_api_keys, priority)
       VALUES ('two-keys', 'openai', $1, 'spent', '{good}', 9)`,
      [url],
    );
    await relay.fixture.owner.query(`INSERT INTO channel_models VALUES ('two-keys', $1, $1)`, [CHAT.model]);
    await relay.fixture.owner.query(`INSERT INTO channel_groups VALUES ('two-keys', 'Vendora-Main')`);
    customer = await relay.customer('5');
  });
  afterAll(async () => {
    await closeClean(relay);
    vendor.closeAllConnections();
    vendor.close();
  });

  it('leaves that key alone for as long as the vendor said, and serves every call', async () => {
    const call = async () => (await customer.send('/v1/chat/completions', json(CHAT))).status;
    let calls = 0;
    for (; asked['spent'] === 0 && calls < MOST_CALLS; calls += 1) expect(await call()).toBe(200);
    expect(asked['spent']).toBe(1);
    const before = asked['good'] ?? 0;
    for (let times = 0; times < MOST_CALLS; times += 1) expect(await call()).toBe(200);
    expect(asked).toEqual({ spent: 1, good: before + MOST_CALLS });
  });
});
