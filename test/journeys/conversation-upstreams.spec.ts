import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI, { type APIError } from 'openai';
import { closeClean, type Customer, type Relay, startRelay } from '../support/relay.js';

const MODEL = 'vendora-chat';
const OUTPUT_NANOS = 10_000n;
const INPUT_NANOS = 2_500n;

/** An answer that follows no rules. The prompt selects it. */
type Script = (response: ServerResponse, body: Record<string, unknown>) => void;

const SSE = { 'content-type': 'text/event-stream' };
const event = (body: object | string) =>
  `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`;
const word = (content: string) => event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const STOP = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = event({ choices: [], usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 } });
const answerJson = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

const scripts: Record<string, Script> = {
  'cut at once': (response) => {
    response.writeHead(200, SSE);
    response.write(': hello\n\n', () => response.destroy());
  },
  'cut after the head': (response) => {
    response.writeHead(200, SSE);
    response.flushHeaders();
    setImmediate(() => response.destroy());
  },
  'an error as its first event': (response) => {
    response.writeHead(200, SSE);
    response.end(event({ error: { message: 'organisation acme-42 is over its limit' } }));
  },
  'JSON in place of a stream': (response) => answerJson(response, 200, { choices: [] }),
  'half an event at the end': (response) => {
    response.writeHead(200, SSE);
    response.end(`${word('12345678')}data: {"choices":[{"del`);
  },
  'no [DONE]': (response) => {
    response.writeHead(200, SSE);
    response.end(word('one ') + word('two') + STOP + usage);
  },
  'a connection that stays open after [DONE]': (response) => {
    response.writeHead(200, SSE);
    response.write(word('one two') + usage + event('[DONE]'));
  },
  'usage in pieces, in CRLF': (response) => {
    response.writeHead(200, SSE);
    const text = (word('one two') + usage + event('[DONE]')).replaceAll('\n', '\r\n');
    for (const byte of Buffer.from(text)) response.write(Buffer.from([byte]));
    response.end();
  },
  'more than was asked for': (response) =>
    answerJson(response, 200, {
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }],
      usage: { prompt_tokens: 8, completion_tokens: 20_000, total_tokens: 20_008 },
    }),
  'HTML with 200': (response) => answerJson(response, 200, '<html>'),
  'an error with 200': (response) => answerJson(response, 200, { error: { message: 'no' } }),
  'less than it says': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
    response.write('{"choices":[]', () => response.destroy());
  },
  'busy, in its own words': (response) =>
    answerJson(response, 503, { error: { message: 'overloaded', type: 'server_error', code: 'busy' } }),
  'busy, in the words of a proxy': (response) => answerJson(response, 503, 'upstream connect error'),
};

async function startScripted(): Promise<{ server: Server; url: string; bodies: Record<string, unknown>[] }> {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    const serve = async () => {
      const body = await readBody(request);
      bodies.push(body);
      const [message] = body['messages'] as { content: string }[];
      const script = scripts[message?.content ?? ''];
      if (script) script(response, body);
      else answerJson(response, 500, {});
    };
    // A client that gives up before the end of its body does not wait for an answer.
    void serve().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

describe('an upstream that follows no rules', () => {
  let relay: Relay;
  let scripted: Awaited<ReturnType<typeof startScripted>>;

  beforeAll(async () => {
    scripted = await startScripted();
    relay = await startRelay();
    const { owner } = relay.fixture;
    await owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, priority) VALUES ('scripted', 'openai', $1, 'k', 9)`,
      [scripted.url],
    );
    await owner.query(`INSERT INTO channel_models VALUES ('scripted', $1, 'their-chat')`, [MODEL]);
    await owner.query(`INSERT INTO channel_groups VALUES ('scripted', 'Vendora-Main')`);
  });
  afterAll(async () => {
    await closeClean(relay);
    scripted.server.closeAllConnections();
    scripted.server.close();
  });

  interface Heard {
    text: string;
    error: unknown;
  }

  async function ask(customer: Customer, content: string, stream = true): Promise<Heard> {
    const heard: Heard = { text: '', error: null };
    const messages = [{ role: 'user' as const, content }];
    try {
      if (stream) {
        const chunks = await customer.sdk().chat.completions.create({ model: MODEL, messages, stream });
        for await (const chunk of chunks) heard.text += chunk.choices[0]?.delta.content ?? '';
      } else {
        const answer = await customer.sdk().chat.completions.create({ model: MODEL, messages });
        heard.text = answer.choices[0]?.message.content ?? '';
      }
    } catch (error) {
      heard.error = error;
    }
    return heard;
  }

  async function charge(
    customer: Customer,
  ): Promise<{ state: string; settled: bigint; channel: string | null }> {
    const { rows } = await relay.fixture.billing.query<{
      state: string;
      settled: bigint;
      channel: string | null;
    }>('SELECT state, settled, channel_id AS channel FROM charges WHERE account_id = $1', [
      customer.accountId,
    ]);
    expect(rows).toHaveLength(1);
    return rows[0] as (typeof rows)[0];
  }

  it.each(['cut after the head', 'an error as its first event', 'JSON in place of a stream'])(
    'is answered with an error status, since nothing was sent, and costs nothing: %s',
    async (script) => {
      const customer = await relay.customer('1');
      const { error } = await ask(customer, script);
      expect(error).toBeInstanceOf(OpenAI.InternalServerError);
      expect(error).toMatchObject({ status: 502, code: 'generation_failed' });
      expect((error as APIError).headers?.has('x-served-model')).toBe(false);
      expect(String(error)).not.toContain('acme');
      expect(await charge(customer)).toMatchObject({ state: 'released', channel: 'scripted' });
      expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    },
  );

  it('is reported in mid-stream if only a comment was sent, and costs nothing', async () => {
    const customer = await relay.customer('1');
    const { text, error } = await ask(customer, 'cut at once');
    expect({ text, error }).toMatchObject({ text: '', error: { code: 'generation_failed' } });
    expect(String(error)).toContain('Nothing was charged');
    expect(await charge(customer)).toMatchObject({ state: 'released' });
  });

  it('is billed by its complete events if it ends in the middle of one', async () => {
    const customer = await relay.customer('1');
    const { text, error } = await ask(customer, 'half an event at the end');
    expect({ text, error }).toMatchObject({ text: '12345678', error: { code: 'generation_failed' } });
    const { state, settled } = await charge(customer);
    expect(state).toBe('settled');
    expect(settled).toBeGreaterThan(2n * OUTPUT_NANOS);
    expect(settled).toBeLessThan(2n * OUTPUT_NANOS + 60n * INPUT_NANOS);
  });

  it.each(['no [DONE]', 'a connection that stays open after [DONE]', 'usage in pieces, in CRLF'])(
    'is understood all the same: %s',
    async (script) => {
      const customer = await relay.customer('1');
      const { text, error } = await ask(customer, script);
      expect({ text, error }).toEqual({ text: 'one two', error: null });
      expect(await charge(customer)).toMatchObject({
        state: 'settled',
        settled: 8n * INPUT_NANOS + 2n * OUTPUT_NANOS,
      });
      expect(scripted.bodies.at(-1)).toMatchObject({
        model: 'their-chat',
        stream: true,
        stream_options: { include_usage: true },
      });
    },
  );

  it.each(['HTML with 200', 'an error with 200', 'less than it says'])(
    'costs nothing and is not asked again: %s',
    async (script) => {
      const customer = await relay.customer('1');
      const before = scripted.bodies.length;
      const { error } = await ask(customer, script, false);
      expect(error).toMatchObject({ status: 502, code: 'generation_failed' });
      expect(scripted.bodies.length).toBe(before + 1);
      expect(await charge(customer)).toMatchObject({ state: 'released', channel: 'scripted' });
    },
  );

  it('costs no more than was held, and the operator bears the excess', async () => {
    const customer = await relay.customer('1');
    await ask(customer, 'more than was asked for', false);
    const { rows } = await relay.fixture.billing.query<{ amount: bigint; settled: bigint; loss: bigint }>(
      'SELECT amount, settled, operator_loss AS loss FROM charges WHERE account_id = $1',
      [customer.accountId],
    );
    const [charge] = rows;
    expect(charge?.settled).toBe(charge?.amount);
    expect((charge?.settled ?? 0n) + (charge?.loss ?? 0n)).toBe(8n * INPUT_NANOS + 20_000n * OUTPUT_NANOS);
    expect(relay.logged()).toContain('the operator bears the excess');
    expect(await relay.registry.metrics()).toMatch(
      /gateway_exceeded_holds_total\{[^}]*model="vendora-chat"[^}]*\} 1/,
    );
  });

  it.each([
    ['busy, in its own words', false],
    ['busy, in its own words', true],
    ['busy, in the words of a proxy', false],
    ['busy, in the words of a proxy', true],
  ])('gives way to the next channel if it accepted nothing: %s; streamed: %s', async (script, stream) => {
    const customer = await relay.customer('1');
    const { text, error } = await ask(customer, script, stream);
    expect({ text, error }).toEqual({ text: `You said: ${script}`, error: null });
    expect(await charge(customer)).toMatchObject({ state: 'settled', channel: 'sandbox' });
  });
});
