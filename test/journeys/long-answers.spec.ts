import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';
import { addModel } from '../support/models.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { type ScriptedUpstream, SSE, startScriptedUpstream } from '../support/scripted-upstream.js';

const MODEL = 'chatmodel-drawing';
const MEGABYTE = 1024 * 1024;
const IMAGE = Buffer.alloc(4 * MEGABYTE, 'A');
const COUNT = 9;
/** Nano-USD for a token of input and of output. */
const COST = 10n * 300n + 7_740n * 2_500n;
const PAID = { main: formatAmount(nanos(parseAmount('1') - COST)), held: '0' };
const FREE = { main: '1', held: '0' };

const HEAD = '{"candidates":[{"content":{"role":"model","parts":[';
const TAIL =
  ']},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":7740},"modelVersion":"theirs"}';

let relay: Relay;
let upstream: ScriptedUpstream;
/** What the upstream has got rid of, of its last answer. */
let sentBytes = 0;

async function send(response: ServerResponse, bytes: Buffer | string): Promise<void> {
  if (response.destroyed) return;
  if (!response.write(bytes)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  sentBytes += bytes.length;
}

async function sendImages(response: ServerResponse, count: number): Promise<void> {
  sentBytes = 0;
  await send(response, HEAD);
  for (let at = 0; at < count; at += 1) {
    await send(response, `${at > 0 ? ',' : ''}{"inlineData":{"mimeType":"image/png","data":"`);
    for (let from = 0; from < IMAGE.length; from += MEGABYTE)
      await send(response, IMAGE.subarray(from, from + MEGABYTE));
    await send(response, '"}}');
  }
}

beforeAll(async () => {
  relay = await startRelay();
  upstream = await startScriptedUpstream({
    images: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      void sendImages(response, COUNT).then(() => response.end(TAIL));
    },
    cut: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      void sendImages(response, COUNT).then(() => response.destroy());
    },
    event: (response) => {
      response.writeHead(200, SSE).write('data: ');
      void sendImages(response, COUNT).then(() => response.end(`${TAIL}\n\n`));
    },
    'event-cut': (response) => {
      response.writeHead(200, SSE).write('data: ');
      void sendImages(response, COUNT).then(() => response.destroy());
    },
    words: (response) => {
      const text = 'word '.repeat(7 * MEGABYTE);
      const body = { candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    },
    failed: (response) => {
      const body = { candidates: [{ content: { parts: [{ text: 'a word' }] } }], error: { code: 500 } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    },
  });
  const { owner } = relay.fixture;
  const channel = { channel: 'drawing', protocol: 'gemini', baseUrl: upstream.url };
  await addModel(owner, { id: MODEL, like: 'chatmodel-2', ...channel });
  await owner.query(`UPDATE channel_models SET upstream_model = 'theirs' WHERE model_id = $1`, [MODEL]);
});
afterAll(async () => {
  upstream?.close();
  await closeClean(relay);
});

function ask(customer: Customer, text: string, signal?: AbortSignal): Promise<Response> {
  const isStreamed = text.startsWith('event');
  const call = isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent';
  const body = {
    contents: [{ role: 'user', parts: [{ text }] }],
    generationConfig: { maxOutputTokens: 8_000 },
  };
  return customer.send(`/v1beta/models/${MODEL}:${call}`, { ...json(body), ...(signal && { signal }) });
}

interface Contents {
  candidates: { content: { parts: { inlineData: { data: string } }[] } }[];
  modelVersion: string;
}

function expectImages({ candidates, modelVersion }: Contents): void {
  const parts = candidates[0]!.content.parts;
  expect(parts.map(({ inlineData }) => inlineData.data.length)).toEqual(Array(COUNT).fill(IMAGE.length));
  expect(modelVersion).toBe(MODEL);
}

const ended = (customer: Customer, balance: object) =>
  until('the charge to end', async () => {
    const now = await customer.balance();
    return now.held === '0' && JSON.stringify(now) === JSON.stringify(balance);
  });

describe('contents with nine images, 36 MB', () => {
  it('come whole, without being held here, and are paid as they are reported', async () => {
    const customer = await relay.customer('1');
    const response = await ask(customer, 'images');
    // The client has not read yet, so the upstream cannot have sent it all.
    expect(sentBytes).toBeLessThan(COUNT * IMAGE.length);
    expectImages((await response.json()) as Contents);
    expect(await customer.balance()).toEqual(PAID);
  });

  it('come as one event of a stream', async () => {
    const customer = await relay.customer('1');
    const response = await ask(customer, 'event');
    expect(sentBytes).toBeLessThan(COUNT * IMAGE.length);
    const text = await response.text();
    expect(text.startsWith('data: {') && text.endsWith('}\n\n')).toBe(true);
    expectImages(JSON.parse(text.slice('data: '.length)) as Contents);
    expect(await customer.balance()).toEqual(PAID);
  });

  it.each(['images', 'event'])('are paid by a client that leaves: %s', async (text) => {
    const customer = await relay.customer('1');
    const left = new AbortController();
    await ask(customer, text, left.signal);
    left.abort();
    await ended(customer, PAID);
  });

  it.each(['cut', 'event-cut'])(
    'that break off are free, and no client takes them for whole: %s',
    async (text) => {
      const customer = await relay.customer('1');
      const response = await ask(customer, text);
      await expect(response.text()).rejects.toThrow();
      await ended(customer, FREE);
    },
  );
});

describe('an answer that is not delivered', () => {
  const reasonOf = async ({ accountId }: Customer) => {
    const { rows } = await relay.fixture.billing.query<{ reason: string }>(
      'SELECT resolution_reason AS reason FROM charges WHERE account_id = $1',
      [accountId],
    );
    return rows[0]?.reason;
  };

  it('because it is too long is free, and the operator pays for it', async () => {
    const customer = await relay.customer('1');
    const response = await ask(customer, 'words');
    // It began, and does not end.
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    await ended(customer, FREE);
    expect(await reasonOf(customer)).toBe('not_delivered');
  });

  it('because it says that it failed is free, whatever else it says', async () => {
    const customer = await relay.customer('1');
    expect((await ask(customer, 'failed')).status).toBe(502);
    await ended(customer, FREE);
    expect(await reasonOf(customer)).toBe('generation_failed');
  });
});
