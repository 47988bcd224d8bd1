import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import {
  APICallError,
  experimental_generateSpeech as generateSpeech,
  generateText,
  type ModelMessage,
  streamText,
} from 'ai';
import OpenAI from 'openai';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const CHAT = 'vendora-chat';
const MESSAGES = 'vendora-messages';
/** Nano-USD per token: input, cached input, output. */
const CHAT_PRICE = [2_500, 1_250, 10_000] as const;
const MESSAGES_PRICE = [3_000, 300, 15_000] as const;
const LIMIT_SECONDS = 12;
/** A speech model priced by tokens: 0.6 USD per million tokens of text, 12 per million tokens of sound. */
const METERED_SPEECH = [
  `INSERT INTO models (id, family, unit, owned_by) VALUES ('metered-speech', 'speech', 'token', 'vendora')`,
  `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price)
   VALUES ('metered-speech', 0.6, 0.6, 12)`,
  `INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', 'metered-speech')`,
  `INSERT INTO channel_models (channel_id, model_id, upstream_model) VALUES ('sandbox', 'metered-speech', 'their-tts')`,
];
/** Models that their channels know by other names. */
const RENAMED = ['chat', 'messages'].flatMap((name) => [
  `INSERT INTO models (id, family, unit, owned_by) VALUES ('our-${name}', 'chat', 'call', 'vendora')`,
  `INSERT INTO price_versions (model_id, unit_price) VALUES ('our-${name}', 0.001)`,
  `INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', 'our-${name}')`,
  `INSERT INTO channel_models (channel_id, model_id, upstream_model)
   SELECT channel_id, 'our-${name}', 'their-secret' FROM channel_models WHERE model_id = 'vendora-${name}'`,
]);

type Used = readonly [input: number, cached: number, output: number];

/** What is left of one credit. */
function afterPaying(used: Used, price: readonly [number, number, number]): { main: string; held: string } {
  const cost = used.reduce((sum, count, index) => sum + count * (price[index] ?? 0), 0);
  return { main: formatAmount(nanos(parseAmount('1') - BigInt(cost))), held: '0' };
}

const user = (content: string) => [{ role: 'user' as const, content }];
/** Tokens by the rule of thumb, which the sandbox uses too. */
const quarter = (text: string) => Math.ceil(text.length / 4);

interface Charge {
  state: string;
  family: string;
  settled: string | null;
  operatorLoss: string;
  channel: string | null;
  reason: string | null;
}

let relay: Relay;
let upstream: GatedUpstream;

beforeAll(async () => {
  relay = await startRelay({ STREAM_DRAIN_SECONDS: '0.3' });
  upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
  for (const sql of [...METERED_SPEECH, ...RENAMED]) await relay.fixture.owner.query(sql);
});
afterAll(async () => {
  await closeClean(relay);
  await upstream.close();
});

async function chargesOf(customer: Customer, at = relay): Promise<Charge[]> {
  const { rows } = await at.fixture.billing.query<Charge>(
    `SELECT state, family, settled::text, operator_loss::text AS "operatorLoss", channel_id AS channel,
       resolution_reason AS reason
     FROM usage_log WHERE account_id = $1 ORDER BY created_at`,
    [customer.accountId],
  );
  return rows;
}

async function lastCharge(customer: Customer): Promise<Charge | undefined> {
  return (await chargesOf(customer)).at(-1);
}

async function sandboxStats(): Promise<Record<string, number>> {
  return (await (await fetch(`${relay.sandboxUrl}/_sandbox/stats`)).json()) as Record<string, number>;
}

async function errorOf(work: PromiseLike<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('chat completions, by the OpenAI SDK', () => {
  it('answer whole, billed by the tokens that the upstream reports, cached ones separately', async () => {
    const customer = await relay.customer('1');
    const { data, response } = await customer
      .sdk()
      .chat.completions.create({
        model: CHAT,
        messages: user('a long story about a lighthouse [[cached:9]]'),
        max_completion_tokens: 100,
      })
      .withResponse();
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-z]{26}$/);
    expect(data.choices[0]?.message.content).toBe('You said: a long story about a lighthouse');
    expect(data.usage?.prompt_tokens_details?.cached_tokens).toBe(9);
    const { prompt_tokens: input = 0, completion_tokens: output = 0 } = data.usage ?? {};
    expect(await customer.balance()).toEqual(afterPaying([input - 9, 9, output], CHAT_PRICE));
    expect(await chargesOf(customer)).toMatchObject([
      { state: 'settled', family: 'chat', channel: 'sandbox', operatorLoss: '0' },
    ]);
  });

  it.each([false, true])('stream; usage requested: %s', async (include_usage) => {
    const customer = await relay.customer('1');
    const prompt = 'say this again, please';
    const stream = await customer.sdk().chat.completions.create({
      model: CHAT,
      messages: user(prompt),
      stream: true,
      ...(include_usage && { stream_options: { include_usage } }),
    });
    let text = '';
    const usages = [];
    for await (const chunk of stream) {
      if (!include_usage) expect(chunk.choices).toHaveLength(1);
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.usage) usages.push(chunk.usage);
    }
    expect(text).toBe(`You said: ${prompt}`);
    const output = text.split(' ').length;
    expect(usages).toEqual(include_usage ? [expect.objectContaining({ completion_tokens: output })] : []);
    // The stream ends after the settlement, so there is nothing to wait for.
    expect(await customer.balance()).toEqual(afterPaying([quarter(prompt), 0, output], CHAT_PRICE));
  });

  it('stream each event as it comes', async () => {
    const customer = await relay.customer('1');
    upstream.shut(/step by step/, 'answer');
    const response = await customer.send(
      '/v1/chat/completions',
      json({ model: CHAT, messages: user('step by step [[tokens:10]]'), stream: true }),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('content-encoding')).toBeNull();
    const pieces: Buffer[] = [];
    for await (const piece of response.body as AsyncIterable<Uint8Array>) {
      pieces.push(Buffer.from(piece));
      // The upstream sends the next one only now.
      if (pieces.length <= 2) {
        await until('the upstream to wait', async () => upstream.waiting === 1);
        upstream.step();
      } else upstream.open();
    }
    expect(Buffer.concat(pieces).toString()).toMatch(/\n\ndata: \[DONE\]\n\n$/);
    expect(pieces.length).toBeGreaterThan(2);
  });

  it('are one call at a fixed price in the group Public-Relay', async () => {
    const customer = await relay.customer('1', 'Public-Relay');
    const ask = { model: 'vendora-chat-lite', messages: user('hi') };
    await customer.sdk().chat.completions.create(ask);
    const stream = await customer.sdk().chat.completions.create({ ...ask, stream: true });
    for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
    expect(await customer.balance()).toEqual({ main: '0.9996', held: '0' });
  });
});

describe('responses, by the OpenAI SDK', () => {
  it('answer whole and streamed', async () => {
    const customer = await relay.customer('1');
    const input = 'a paper boat [[cached:2]]';
    const whole = await customer.sdk().responses.create({ model: CHAT, input, max_output_tokens: 50 });
    expect(whole.output_text).toBe('You said: a paper boat');
    const once: Used = [quarter(input) - 2, 2, 5];
    expect(await customer.balance()).toEqual(afterPaying(once, CHAT_PRICE));

    const types: string[] = [];
    const stream = await customer.sdk().responses.create({ model: CHAT, input, stream: true });
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(
      expect.arrayContaining(['response.created', 'response.output_text.delta', 'response.completed']),
    );
    const twice = once.map((count) => count * 2) as unknown as Used;
    expect(await customer.balance()).toEqual(afterPaying(twice, CHAT_PRICE));
  });

  it('throw on an error in mid-stream', async () => {
    const customer = await relay.customer('1');
    const input = '[[tokens:10]] [[fault:mid-stream-error]]';
    const stream = await customer.sdk().responses.create({ model: CHAT, input, stream: true });
    const error = await errorOf(drain(stream));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: 'generation_failed' });
    expect(await lastCharge(customer)).toMatchObject({ state: 'settled' });
  });
});

describe('messages, by the Anthropic SDK', () => {
  const sdkOf = (customer: Customer, options: object = {}) =>
    new Anthropic({ apiKey: customer.apiKey, baseURL: relay.baseUrl, maxRetries: 2, ...options });
  const ask = (content: string) => ({ model: MESSAGES, max_tokens: 100, messages: user(content) });

  it('answer whole, with either key header', async () => {
    const customer = await relay.customer('1');
    const prompt = 'a lighthouse [[cached:3]]';
    for (const options of [{}, { apiKey: null, authToken: customer.apiKey }]) {
      const answer = await sdkOf(customer, options).messages.create(ask(prompt));
      expect(answer.content).toEqual([{ type: 'text', text: 'You said: a lighthouse' }]);
      expect(answer.usage).toMatchObject({ cache_read_input_tokens: 3, output_tokens: 4 });
    }
    const used: Used = [2 * (quarter(prompt) - 3), 6, 8];
    expect(await customer.balance()).toEqual(afterPaying(used, MESSAGES_PRICE));
    expect(await lastCharge(customer)).toMatchObject({ channel: 'sandbox-anthropic', family: 'chat' });
  });

  it('stream', async () => {
    const customer = await relay.customer('1');
    const prompt = 'a paper boat [[tokens:30]]';
    const message = await sdkOf(customer).messages.stream(ask(prompt)).finalMessage();
    expect(message).toMatchObject({ stop_reason: 'end_turn', usage: { output_tokens: 30 } });
    expect(await customer.balance()).toEqual(afterPaying([quarter(prompt), 0, 30], MESSAGES_PRICE));
  });

  it('throw on an error in mid-stream, billed by what was streamed', async () => {
    const customer = await relay.customer('1');
    const prompt = 'a paper boat [[tokens:30]] [[fault:mid-stream-error]]';
    const error = await errorOf(sdkOf(customer).messages.stream(ask(prompt)).finalMessage());
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(String(error)).toContain('generation_failed');
    expect(String(error)).not.toContain('as ordered');
    const { main, held } = await customer.balance();
    expect(held).toBe('0');
    expect(parseAmount(main)).toBeLessThan(parseAmount('1'));
    expect(await lastCharge(customer)).toMatchObject({ state: 'settled', reason: null });
  });

  it('are refused with the errors of that family, once', async () => {
    const customer = await relay.customer('0.0001');
    const refusals = [
      [ask('hi'), Anthropic.PermissionDeniedError, 'permission_error', 'insufficient_user_quota'],
      [{ ...ask('hi'), model: 'gpt-9' }, Anthropic.NotFoundError, 'not_found_error', 'model_not_found'],
      [{ ...ask('hi'), model: CHAT }, Anthropic.NotFoundError, 'not_found_error', 'model_not_found'],
      [
        { ...ask('hi'), model: 'vendora-imagine-video', stream: true },
        Anthropic.BadRequestError,
        'invalid_request_error',
        'model_not_supported_here',
      ],
    ] as const;
    for (const [body, kind, type, code] of refusals) {
      const error = await errorOf(sdkOf(customer).messages.create(body as Anthropic.MessageCreateParams));
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({
        error: { type: 'error', error: { type, details: { error_code: code } } },
      });
    }
    expect(await customer.balance()).toEqual({ main: '0.0001', held: '0' });
    expect((await chargesOf(customer)).map(({ state }) => state)).toEqual(['refused']);
  });

  it('name the right base URL if they used the wrong one', async () => {
    const customer = await relay.customer('1');
    const wrong = sdkOf(customer, { baseURL: `${relay.baseUrl}/v1` }).messages.create(ask('hi'));
    const error = await errorOf(wrong);
    expect(error).toBeInstanceOf(Anthropic.NotFoundError);
    expect(String(error)).toContain('without /v1');
    const bare = await errorOf(
      customer.sdk({ path: '' }).chat.completions.create({ model: CHAT, messages: user('x') }),
    );
    expect(bare).toMatchObject({ status: 404, code: 'unknown_url', message: expect.stringContaining('/v1') });
  });
});

describe('a model name', () => {
  const asked = { model: 'our-chat', messages: user('hello') };

  it.each<[string, Record<string, unknown>]>([
    ['/v1/chat/completions', asked],
    ['/v1/chat/completions', { ...asked, stream: true, stream_options: { include_usage: true } }],
    ['/v1/responses', { model: 'our-chat', input: 'hello' }],
    ['/v1/responses', { model: 'our-chat', input: 'hello', stream: true }],
    ['/v1/messages', { ...asked, model: 'our-messages', max_tokens: 9 }],
    ['/v1/messages', { ...asked, model: 'our-messages', max_tokens: 9, stream: true }],
  ])('is the one that the client used, whatever the upstream calls it: %s %j', async (path, body) => {
    const customer = await relay.customer('1');
    const response = await customer.send(path, json(body));
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain(`"model":"${body['model'] as string}"`);
    expect(text).not.toContain('their-secret');
  });
});

describe('speech', () => {
  it('is audio, billed per call', async () => {
    const customer = await relay.customer('1');
    const ask = {
      model: 'vendora-speech',
      voice: 'alloy',
      input: 'two words',
      response_format: 'wav',
    } as const;
    const response = await customer.sdk().audio.speech.create(ask);
    expect(response.headers.get('content-type')).toBe('audio/wav');
    const sound = Buffer.from(await response.arrayBuffer());
    expect(sound.subarray(0, 4).toString()).toBe('RIFF');
    expect(sound.readUInt32LE(4)).toBe(sound.length - 8);
    expect(await customer.balance()).toEqual({ main: '0.985', held: '0' });
    expect(await lastCharge(customer)).toMatchObject({ state: 'settled', family: 'speech' });
  });

  describe('priced by tokens, but without usage', () => {
    const INPUT = 'one two three four five six seven eight';
    const ask = (input = INPUT) => ({
      model: 'metered-speech',
      voice: 'alloy',
      input,
      response_format: 'wav',
    });
    /** A quarter of a text token and one and a half sound tokens per character. */
    const owed = async (customer: Customer, body: object, input: string) => {
      const settled = BigInt((await lastCharge(customer))?.settled ?? 0);
      const text = BigInt(quarter(JSON.stringify(body))) * 600n;
      const sound = BigInt(Math.ceil(input.length * 1.5)) * 12_000n;
      expect(settled).toBeGreaterThan(sound);
      expect(settled).toBeLessThanOrEqual(sound + text + 10n * 600n);
    };

    it('is billed by its text', async () => {
      const customer = await relay.customer('1');
      const response = await customer.send('/v1/audio/speech', json(ask()));
      expect(
        Buffer.from(await response.arrayBuffer())
          .subarray(0, 4)
          .toString(),
      ).toBe('RIFF');
      expect(await lastCharge(customer)).toMatchObject({ state: 'settled', operatorLoss: '0' });
      await owed(customer, ask(), INPUT);
    });

    it('is billed by the usage that its events end with', async () => {
      const customer = await relay.customer('1');
      const streamed = { ...ask('one two three'), stream_format: 'sse' };
      const response = await customer.send('/v1/audio/speech', json(streamed));
      const text = await response.text();
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      expect(text).toContain('"type":"speech.audio.delta"');
      expect(text).toContain('"usage":{"input_tokens":3,"output_tokens":24,"total_tokens":27}');
      expect(BigInt((await lastCharge(customer))?.settled ?? 0)).toBe(3n * 600n + 24n * 12_000n);
    });

    it('is billed in full if the client leaves in the middle, and costs nothing if it breaks off', async () => {
      const customer = await relay.customer('1');
      const slow = ask(`${INPUT} [[fault:slow-bytes]]`);
      const leaving = new AbortController();
      const response = await customer.send('/v1/audio/speech', { ...json(slow), signal: leaving.signal });
      await response.body?.getReader().read();
      leaving.abort();
      await until('the settlement', async () => (await lastCharge(customer))?.state === 'settled');
      await owed(customer, slow, slow.input);

      const other = await relay.customer('1');
      const call = other.send('/v1/audio/speech', json(ask(`${INPUT} [[fault:truncated]]`)));
      expect(await errorOf(call.then((broken) => broken.arrayBuffer()))).toBeDefined();
      await until('the release', async () => (await lastCharge(other))?.state === 'released');
      expect(await other.balance()).toEqual({ main: '1', held: '0' });
    });
  });

  it('costs nothing if it breaks off', async () => {
    const customer = await relay.customer('1');
    const ask = { model: 'vendora-speech', voice: 'alloy', input: 'long words [[fault:truncated]]' };
    const call = customer.send('/v1/audio/speech', json(ask)).then((response) => response.arrayBuffer());
    expect(await errorOf(call)).toBeDefined();
    await until('the release', async () => (await lastCharge(customer))?.state === 'released');
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });
});

describe('the AI SDK', () => {
  it('works with @ai-sdk/openai: responses, chat and speech', async () => {
    const customer = await relay.customer('1');
    const provider = createOpenAI({ apiKey: customer.apiKey, baseURL: `${relay.baseUrl}/v1` });
    const prompt = 'a lighthouse';
    for (const model of [provider(CHAT), provider.chat(CHAT)]) {
      const { text, usage } = await generateText({ model, prompt });
      expect(text).toBe('You said: a lighthouse');
      expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
      expect(await streamText({ model, prompt }).text).toBe('You said: a lighthouse');
    }
    const { audio } = await generateSpeech({ model: provider.speech('vendora-speech'), text: 'hello' });
    expect(audio.uint8Array.length).toBeGreaterThan(0);
    const states = (await chargesOf(customer)).map(({ state }) => state);
    expect(states).toEqual(Array(5).fill('settled'));
  });

  it('continues a response by sending what was said, rather than its IDs', async () => {
    const customer = await relay.customer('1');
    const model = createOpenAI({ apiKey: customer.apiKey, baseURL: `${relay.baseUrl}/v1` })(CHAT);
    const first = await generateText({ model, prompt: 'a lighthouse' });
    const messages: ModelMessage[] = [
      { role: 'user', content: 'a lighthouse' },
      ...first.response.messages,
      { role: 'user', content: 'and a boat' },
    ];
    const refused = await errorOf(generateText({ model, messages }));
    expect(refused).toMatchObject({ statusCode: 400, data: { error: { param: 'input' } } });
    expect((refused as Error).message).toContain('set store to false');
    const whole = { model, messages, providerOptions: { openai: { store: false } } };
    expect((await generateText(whole)).text).toBe('You said: and a boat');
    expect(await chargesOf(customer)).toHaveLength(2);
  });

  it('works with @ai-sdk/openai-compatible', async () => {
    const customer = await relay.customer('1');
    const baseURL = `${relay.baseUrl}/v1`;
    const model = createOpenAICompatible({ name: 'relay', apiKey: customer.apiKey, baseURL })(CHAT);
    const prompt = 'a lighthouse';
    expect((await generateText({ model, prompt })).text).toBe('You said: a lighthouse');
    expect(await streamText({ model, prompt }).text).toBe('You said: a lighthouse');
    expect(await customer.balance()).toEqual(afterPaying([6, 0, 8], CHAT_PRICE));
  });

  it('does not retry what is refused', async () => {
    const customer = await relay.customer('0.00001');
    const provider = createOpenAI({ apiKey: customer.apiKey, baseURL: `${relay.baseUrl}/v1` });
    const error = await errorOf(generateText({ model: provider(CHAT), prompt: 'dear' }));
    expect(error).toBeInstanceOf(APICallError);
    expect(error).toMatchObject({
      statusCode: 403,
      isRetryable: false,
      data: { error: { code: 'insufficient_user_quota' } },
    });
    expect(await chargesOf(customer)).toHaveLength(1);
  });
});

describe('a conversation is refused', () => {
  it.each([
    ['an unknown model', 'gpt-9', 404, 'model_not_found'],
    ['a model of another group', 'vendora-chat-lite', 404, 'model_not_found'],
    ['a video model', 'vendora-imagine-video', 400, 'model_not_supported_here'],
    ['an image model', 'vendora-imagine-image', 400, 'model_not_supported_here'],
    ['a speech model', 'vendora-speech', 400, 'model_not_supported_here'],
    ['a model whose channels offer another path only', MESSAGES, 404, 'model_not_found'],
  ])('for %s, before any stream and for free', async (_name, model, status, code) => {
    const customer = await relay.customer('1');
    for (const stream of [false, true]) {
      const error = await errorOf(
        customer.sdk({ retries: 2 }).chat.completions.create({ model, messages: user('hi'), stream }),
      );
      expect(error).toBeInstanceOf(status === 404 ? OpenAI.NotFoundError : OpenAI.BadRequestError);
      expect(error).toMatchObject({ status, code, param: 'model' });
    }
    expect(await chargesOf(customer)).toEqual([]);
  });

  it.each([
    ['reject-400', 400, 'upstream_rejected'],
    ['reject-422', 400, 'upstream_rejected'],
    ['moderation', 400, 'content_policy_violation'],
  ])('by the upstream, once and for free: %s is %i %s', async (fault, status, code) => {
    await expectRefusal({ fault, status, code, retries: 2 });
  });

  /** These are our faults, and SDKs may well retry them. */
  it.each(['reject-401', 'reject-403', 'reject-429', 'reject-500', 'fail-late', 'reject-503'])(
    "by the upstream, for its operator's own mistakes: %s",
    async (fault) => {
      await expectRefusal({ fault, status: 503, code: 'service_unavailable', retries: 0 });
    },
  );

  async function expectRefusal(expected: { fault: string; status: number; code: string; retries: number }) {
    const { fault, status, code, retries } = expected;
    const customer = await relay.customer('1');
    const ask = { model: CHAT, messages: user(`x [[fault:${fault}]]`) };
    for (const stream of [false, true]) {
      const error = await errorOf(customer.sdk({ retries }).chat.completions.create({ ...ask, stream }));
      expect(error).toMatchObject({ status, code });
    }
    expect((await chargesOf(customer)).map(({ state }) => state)).toEqual(['released', 'released']);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  }

  it('if the balance does not cover the most that it may cost', async () => {
    const customer = await relay.customer('0.03');
    const ask = { model: CHAT, messages: user('dear') };
    const error = await errorOf(
      customer.sdk({ retries: 2 }).chat.completions.create({ ...ask, stream: true }),
    );
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ code: 'insufficient_user_quota' });
    expect((await chargesOf(customer)).map(({ state }) => state)).toEqual(['refused']);
    await customer.sdk().chat.completions.create({ ...ask, max_tokens: 100 });
    expect(await lastCharge(customer)).toMatchObject({ state: 'settled' });
  });
});

describe('a stream that goes wrong', () => {
  const streamOf = (customer: Customer, prompt: string, signal?: AbortSignal) =>
    customer
      .sdk()
      .chat.completions.create(
        { model: CHAT, messages: user(prompt), stream: true },
        { signal: signal ?? null },
      );

  it('is billed by what was streamed if no usage is reported', async () => {
    const customer = await relay.customer('1');
    const text = await drain(await streamOf(customer, 'say this again [[fault:no-usage]]'));
    expect(text).toBe('You said: say this again');
    const charge = await lastCharge(customer);
    expect(charge).toMatchObject({ state: 'settled', operatorLoss: '0' });
    // The input is also estimated, from the size of the body.
    const output = BigInt(quarter(text)) * 10_000n;
    const input = BigInt(charge?.settled ?? 0) - output;
    expect(input).toBeGreaterThan(0n);
    expect(input).toBeLessThan(60n * 2_500n);
    expect((await customer.balance()).held).toBe('0');
  });

  it.each(['mid-stream-error', 'stream-cut'])(
    'throws and is billed by what was streamed: %s',
    async (fault) => {
      const customer = await relay.customer('1');
      const pieces: string[] = [];
      const error = await errorOf(
        drain(await streamOf(customer, `[[tokens:40]] [[fault:${fault}]]`), pieces),
      );
      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error).toMatchObject({ code: 'generation_failed', type: 'server_error' });
      expect(String(error)).not.toContain('as ordered');
      expect(pieces.length).toBeGreaterThanOrEqual(20);
      const charge = await lastCharge(customer);
      const output = BigInt(quarter(pieces.join(''))) * 10_000n;
      expect(charge).toMatchObject({ state: 'settled' });
      expect(BigInt(charge?.settled ?? 0)).toBeGreaterThan(output);
      expect(BigInt(charge?.settled ?? 0)).toBeLessThan(output + 60n * 2_500n);
    },
  );

  it('reads on for a moment after the client leaves, stops the upstream, and bills what was produced', async () => {
    const customer = await relay.customer('1');
    const before = await sandboxStats();
    const leaving = new AbortController();
    const stream = await streamOf(customer, '[[tokens:4000]] [[fault:slow-bytes]]', leaving.signal);
    let read = 0;
    for await (const chunk of stream) {
      read += chunk.choices[0]?.delta.content?.length ?? 0;
      if (read > 50) break;
    }
    leaving.abort();
    await until('the settlement', async () => (await lastCharge(customer))?.state === 'settled');
    await until(
      'the upstream to notice',
      async () => (await sandboxStats())['textsAbandoned'] === (before['textsAbandoned'] ?? 0) + 1,
    );
    expect((await sandboxStats())['textsFinished']).toBe(before['textsFinished']);
    const settled = BigInt((await lastCharge(customer))?.settled ?? 0);
    expect(settled).toBeGreaterThan(BigInt(Math.floor(read / 4)) * 10_000n);
    // How much of the text arrives before the upstream is stopped depends on the machine: at most all of its 24,000
    // characters, at four per token, and its input.
    expect(settled).toBeLessThan((6_000n + 20n) * 10_000n);
    expect((await customer.balance()).held).toBe('0');
  });

  it('costs its input if the client leaves while the upstream works', async () => {
    const customer = await relay.customer('1');
    const leaving = new AbortController();
    const call = streamOf(customer, 'x [[work:20]]', leaving.signal);
    await until('the hold', async () => (await customer.balance()).held !== '0');
    leaving.abort();
    expect(await errorOf(call)).toBeInstanceOf(OpenAI.APIUserAbortError);
    await until('the settlement', async () => (await lastCharge(customer))?.state === 'settled');
    expect(BigInt((await lastCharge(customer))?.settled ?? 0)).toBeGreaterThan(10n * 2_500n);
  });

  it('is cut off at the time limit, and an answer that is not streamed is given up then', async () => {
    const brief = await startRelay({ STREAM_LIMIT_SECONDS: String(LIMIT_SECONDS) });
    const customer = await brief.customer('1');
    const startedAt = performance.now();
    const [streamed, whole] = await Promise.all([
      streamOf(customer, '[[tokens:40]] [[fault:never-finish]]').then((stream) => errorOf(drain(stream))),
      errorOf(
        customer.sdk().chat.completions.create({ model: CHAT, messages: user('[[fault:never-finish]]') }),
      ),
    ]);
    expect(performance.now() - startedAt).toBeGreaterThan(LIMIT_SECONDS * 900);
    expect(streamed).toMatchObject({
      code: 'generation_failed',
      message: expect.stringContaining(`longer than ${LIMIT_SECONDS} s`),
    });
    expect(whole).toMatchObject({ status: 502, code: 'generation_failed' });
    const states = (await chargesOf(customer, brief)).map(({ state }) => state).sort();
    expect(states).toEqual(['released', 'settled']);
    await closeClean(brief);
  });
});

it('finishes an answer that is not streamed for a client that left, and bills it', async () => {
  const customer = await relay.customer('1');
  const leaving = new AbortController();
  upstream.shut(/take your time/);
  const ask = { model: CHAT, messages: user('take your time') };
  const call = customer.sdk().chat.completions.create(ask, { signal: leaving.signal });
  const left = errorOf(call);
  await until('the hold', async () => (await customer.balance()).held !== '0');
  leaving.abort();
  expect(await left).toBeInstanceOf(OpenAI.APIUserAbortError);
  upstream.open();
  await until('the settlement', async () => (await lastCharge(customer))?.state === 'settled');
});

it('is counted like every other request, and nothing stays open', async () => {
  const metrics = await relay.registry.metrics();
  expect(metrics).toMatch(
    /gateway_requests_total\{[^}]*route="\/v1\/chat\/completions",status="200"[^}]*\} \d+/,
  );
  const open = metrics.split('\n').filter((line) => line.startsWith('gateway_conversations_open{'));
  expect(open.map((line) => line.split(' ').at(-1))).toEqual(open.map(() => '0'));
  expect(relay.logged()).not.toMatch(/sk-tg-|sandbox-key/);
});

/** Reads a stream to its end. Collects the pieces in `pieces`, even if it throws. */
async function drain(stream: AsyncIterable<unknown>, pieces: string[] = []): Promise<string> {
  for await (const chunk of stream as AsyncIterable<Partial<OpenAI.ChatCompletionChunk>>) {
    const piece = chunk.choices?.[0]?.delta.content;
    if (piece) pieces.push(piece);
  }
  return pieces.join('');
}
