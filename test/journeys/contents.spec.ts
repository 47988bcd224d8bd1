import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError, GoogleGenAI } from '@google/genai';
import { ApiError as ApiError3, GoogleGenAI as GoogleGenAI3 } from 'google-genai-3';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';
import { addModel } from '../support/models.js';
import { type Customer, expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import {
  event,
  type Script,
  type ScriptedUpstream,
  SSE,
  startScriptedUpstream,
} from '../support/scripted-upstream.js';

const MODEL = 'chatmodel-2';
const SCRIPTED = 'chatmodel-scripted';
/** One model prices an image apart from text, the other prices all output alike. */
const DRAWING = 'chatmodel-drawing';
const ONE_PRICE = 'chatmodel-one-price';
const PATH = `/v1beta/models/${MODEL}`;
/** Nano-USD per token: input, cached input, output. */
const PRICE = [300n, 75n, 2_500n] as const;

const contentsOf = (text: string) => [{ role: 'user', parts: [{ text }] }];
const answerJson = (body: object) => JSON.stringify({ ...body, modelVersion: 'their-secret' });
const said = (text: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
});

/** What vendors send but the sandbox does not. */
const scripts = {
  blocked: { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 11 } },
  silent: said('12345678'),
  tools: {
    ...said('x'),
    usageMetadata: { promptTokenCount: 10, toolUsePromptTokenCount: 5, candidatesTokenCount: 2 },
  },
};

/** Only the stream that falls silent reaches it, even on a slow machine. */
const STREAM_LIMIT_SECONDS = 15;
const PIECES = [
  event({ candidates: [{ content: { parts: [{ text: 'one' }] }, index: 0 }] }),
  event({ ...said(' two'), usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 } }),
] as const;

/** Streams whose last event comes although their end is irregular. */
const endings: Record<string, Script> = {
  reset: (response) => {
    response.writeHead(200, SSE).write(PIECES.join(''), () => response.destroy());
  },
  silence: (response) => {
    response.writeHead(200, SSE).write(PIECES.join(''));
  },
  done: (response) => {
    response.writeHead(200, SSE).end(PIECES.join('') + event('[DONE]'));
  },
  error: (response) => {
    response.writeHead(200, SSE).end(PIECES.join('') + event({ error: { code: 503, message: 'secret' } }));
  },
};

/** What is left of one credit. */
function afterPaying(input: number, cached: number, output: number): { main: string; held: string } {
  const cost = BigInt(input) * PRICE[0] + BigInt(cached) * PRICE[1] + BigInt(output) * PRICE[2];
  return { main: formatAmount(nanos(parseAmount('1') - cost)), held: '0' };
}

interface Explained {
  state: string;
  charged: string;
  delivered: { lines: { kind: string; units: string; amount: string }[] };
}

let relay: Relay;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  relay = await startRelay({ STREAM_DRAIN_SECONDS: '0.3', STREAM_LIMIT_SECONDS: `${STREAM_LIMIT_SECONDS}` });
  upstream = await startScriptedUpstream({
    ...endings,
    ...Object.fromEntries(
      Object.entries(scripts).map(([name, body]) => [
        name,
        (response, sent) => {
          const isStreamed = name === 'blocked' && JSON.stringify(sent).includes('streamed');
          response.writeHead(200, isStreamed ? SSE : { 'content-type': 'application/json' });
          response.end(isStreamed ? event(answerJson(body)) : answerJson(body));
        },
      ]),
    ),
  });
  const { owner } = relay.fixture;
  const channel = { channel: 'scripted', protocol: 'gemini', baseUrl: upstream.url };
  await addModel(owner, { id: SCRIPTED, like: MODEL, ...channel });
  await owner.query(`UPDATE channel_models SET upstream_model = 'their-secret' WHERE model_id = $1`, [
    SCRIPTED,
  ]);
  for (const id of [DRAWING, ONE_PRICE]) await addModel(owner, { id, like: MODEL, ...channel });
  await owner.query(
    `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, media_prices, effective_from)
     VALUES ($1, 0.3, 0.075, 2.5, '{"image_output": "30"}', now()), ($2, 0.3, 0.075, 30, NULL, now())`,
    [DRAWING, ONE_PRICE],
  );
});
afterAll(async () => {
  upstream.close();
  await expectCleanLedger(relay);
  await relay.close();
});

const sdkOf = ({ apiKey }: Customer) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: relay.baseUrl } });
/** Newer versions ask for `/v1` unless another version is set. */
const sdk3Of = ({ apiKey }: Customer) =>
  new GoogleGenAI3({ apiKey, apiVersion: 'v1beta', httpOptions: { baseUrl: relay.baseUrl } });

async function lastSettled({ accountId }: Customer): Promise<{ id: string; settled: bigint }> {
  return until('the settlement', async () => {
    const { rows } = await relay.fixture.billing.query<{ id: string; state: string; settled: bigint }>(
      `SELECT charge_id AS id, state, settled FROM usage_log WHERE account_id = $1
       ORDER BY created_at DESC LIMIT 1`,
      [accountId],
    );
    return rows[0]?.state === 'settled' && rows[0];
  });
}

describe.each([
  ['1.x', sdkOf, ApiError],
  ['3.x', sdk3Of, ApiError3],
] as const)("contents, by Google's SDK %s", (_version, sdk, SdkError) => {
  it('are answered whole and billed by what is reported: cached input separately, thoughts as output', async () => {
    const customer = await relay.customer('1');
    const answer = await sdk(customer).models.generateContent({
      model: MODEL,
      contents: 'a long story about a lighthouse [[cached:9]]',
      config: {
        systemInstruction: 'Be brief.',
        maxOutputTokens: 100,
        thinkingConfig: { thinkingBudget: 20 },
        tools: [{ functionDeclarations: [{ name: 'look' }] }],
      },
    });
    expect(answer.text).toBe('You said: a long story about a lighthouse');
    expect(answer.modelVersion).toBe(MODEL);
    const { promptTokenCount: prompt = 0, candidatesTokenCount: candidates = 0 } = answer.usageMetadata ?? {};
    expect(answer.usageMetadata).toMatchObject({ cachedContentTokenCount: 9, thoughtsTokenCount: 20 });
    expect(candidates).toBe(8);
    expect(await customer.balance()).toEqual(afterPaying(prompt - 9, 9, candidates + 20));

    const id = answer.sdkHttpResponse?.headers?.['x-request-id'] ?? '';
    const charge = (await (await customer.send(`/v1/charges/${id}`)).json()) as Explained;
    expect(charge).toMatchObject({
      state: 'settled',
      delivered: {
        lines: [
          { kind: 'input', units: String(prompt - 9) },
          { kind: 'cached_input', units: '9' },
          { kind: 'output', units: String(candidates + 20) },
        ],
      },
    });
    const sum = charge.delivered.lines.reduce((all, { amount }) => all + parseAmount(amount), 0n);
    expect(sum).toBe(parseAmount(charge.charged));
    expect(sum).toBe(parseAmount('1') - parseAmount((await customer.balance()).main));
  });

  it('are streamed, and paid before the end', async () => {
    const customer = await relay.customer('1');
    const stream = await sdk(customer).models.generateContentStream({
      model: MODEL,
      contents: 'say this again, please [[cached:2]]',
    });
    const texts: string[] = [];
    let usage: { promptTokenCount?: number; candidatesTokenCount?: number } = {};
    for await (const piece of stream) {
      texts.push(piece.text ?? '');
      usage = piece.usageMetadata ?? usage;
    }
    expect(texts.join('')).toBe('You said: say this again, please');
    expect(texts.length).toBeGreaterThan(5);
    const { promptTokenCount: prompt = 0, candidatesTokenCount: output = 0 } = usage;
    expect(output).toBe(6);
    expect(await customer.balance()).toEqual(afterPaying(prompt - 2, 2, output));
  });

  it('are counted for free, as they would be charged', async () => {
    const poor = await relay.customer('0');
    const contents = 'how long is this message to a lighthouse?';
    const { totalTokens } = await sdk(poor).models.countTokens({ model: MODEL, contents });
    const customer = await relay.customer('1');
    const { usageMetadata } = await sdk(customer).models.generateContent({ model: MODEL, contents });
    expect(totalTokens).toBe(usageMetadata?.promptTokenCount);
    expect(totalTokens).toBeGreaterThan(5);
  });

  it('may have images in the answer, which are passed on', async () => {
    const customer = await relay.customer('1');
    const asked = { model: MODEL, contents: 'a fox', config: { responseModalities: ['TEXT', 'IMAGE'] } };
    const { candidates } = await sdk(customer).models.generateContent(asked);
    const image = candidates?.[0]?.content?.parts?.[1]?.inlineData;
    expect(image).toMatchObject({ mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) });
    let drawn = 0;
    for await (const piece of await sdk(customer).models.generateContentStream(asked)) {
      for (const part of piece.candidates?.[0]?.content?.parts ?? []) drawn += part.inlineData ? 1 : 0;
    }
    expect(drawn).toBe(1);
    expect(parseAmount((await customer.balance()).main)).toBeLessThan(parseAmount('1'));
  });

  it('throw on an error in mid-stream, billed by what was streamed', async () => {
    const customer = await relay.customer('1');
    const contents = '[[tokens:30]] [[fault:mid-stream-error]]';
    const stream = await sdk(customer).models.generateContentStream({ model: MODEL, contents });
    const read = async () => {
      for await (const piece of stream) expect(JSON.stringify(piece)).not.toContain('as ordered');
    };
    await expect(read()).rejects.toThrow();
    const { main, held } = await customer.balance();
    expect(held).toBe('0');
    expect(parseAmount(main)).toBeLessThan(parseAmount('1') - 15n * PRICE[2]);
  });

  it('are refused in the words of the SDK', async () => {
    const customer = await relay.customer('0.000001');
    const refusal = (model: string, more = {}): Promise<unknown> =>
      sdk(customer)
        .models.generateContent({ model, contents: 'hi', ...more })
        .catch((error: unknown) => error);
    for (const [asked, status, code] of [
      [refusal(MODEL), 403, 'insufficient_user_quota'],
      [refusal('vendora-chat'), 404, 'model_not_found'],
      [refusal('imgmodel-4'), 400, 'model_not_supported_here'],
      [refusal(MODEL, { config: { tools: [{ googleSearch: {} }] } }), 400, 'invalid_value'],
      [refusal(MODEL, { config: { cachedContent: 'cachedContents/x' } }), 400, 'unknown_parameter'],
      [refusal(MODEL, { config: { maxOutputTokens: 100_000 } }), 400, 'invalid_value'],
    ] as const) {
      const error = await asked;
      expect(error).toBeInstanceOf(SdkError);
      expect(error).toMatchObject({ status, message: expect.stringContaining(code) });
    }
    expect(await customer.balance()).toEqual({ main: '0.000001', held: '0' });
  });
});

describe('contents over the wire', () => {
  const send = (customer: Customer, path: string, body: object, headers = {}) =>
    customer.send(path, json(body, headers));

  it('accept the key in every place of this family, and stream only as events', async () => {
    const { apiKey } = await relay.customer('1');
    const body = JSON.stringify({ contents: contentsOf('hello') });
    const type = { 'content-type': 'application/json' };
    const post = (path: string, headers: Record<string, string>) =>
      fetch(relay.baseUrl + path, { method: 'POST', headers: { ...type, ...headers }, body });
    expect((await post(`${PATH}:generateContent?key=${apiKey}`, {})).status).toBe(200);
    expect((await post(`${PATH}:generateContent`, { 'x-goog-api-key': apiKey })).status).toBe(200);
    expect((await post(`${PATH}:generateContent`, { authorization: `Bearer ${apiKey}` })).status).toBe(200);
    expect((await post(`${PATH}:generateContent`, {})).status).toBe(401);
    const other = await post(`${PATH}:streamGenerateContent`, { 'x-goog-api-key': apiKey });
    expect(other.status).toBe(400);
    expect(await other.json()).toMatchObject({
      error: {
        status: 'INVALID_ARGUMENT',
        details: [{ reason: 'invalid_value', metadata: { param: 'alt' } }],
      },
    });
  });

  it('never name the vendor’s model, and cost what the vendor reports for a blocked prompt', async () => {
    const customer = await relay.customer('1');
    const path = `/v1beta/models/${SCRIPTED}`;
    const whole = await (
      await send(customer, `${path}:generateContent`, { contents: contentsOf('blocked') })
    ).text();
    expect(JSON.parse(whole)).toEqual({ ...scripts.blocked, modelVersion: SCRIPTED });
    expect(await customer.balance()).toEqual(afterPaying(11, 0, 0));
    const streamed = await send(customer, `${path}:streamGenerateContent?alt=sse`, {
      contents: contentsOf('blocked streamed'),
    });
    const text = await streamed.text();
    expect(text).toContain('"blockReason":"SAFETY"');
    expect(whole + text).not.toContain('their-secret');
    expect(await customer.balance()).toEqual(afterPaying(22, 0, 0));
  });

  it.each(['reset', 'silence', 'done', 'error'])(
    'reach the client whole once they said why they ended, which is also what is charged: %s',
    async (ending) => {
      const customer = await relay.customer('1');
      const path = `/v1beta/models/${SCRIPTED}:streamGenerateContent?alt=sse`;
      const text = await (await send(customer, path, { contents: contentsOf(ending) })).text();
      expect(text.startsWith(PIECES.join(''))).toBe(true);
      expect(text.slice(PIECES.join('').length).includes('"error"')).toBe(ending === 'error');
      expect(text).not.toMatch(/DONE|secret/);
      expect(await customer.balance()).toEqual(afterPaying(10, 0, 2));
    },
  );

  it('are billed with the input of tools, and by estimate if nothing is reported', async () => {
    const customer = await relay.customer('1');
    const path = `/v1beta/models/${SCRIPTED}:generateContent`;
    expect((await send(customer, path, { contents: contentsOf('tools') })).status).toBe(200);
    expect(await customer.balance()).toEqual(afterPaying(15, 0, 2));
    const other = await relay.customer('1');
    expect((await send(other, path, { contents: contentsOf('silent') })).status).toBe(200);
    const { settled } = await lastSettled(other);
    const output = 2n * PRICE[2];
    expect(settled).toBeGreaterThan(output);
    expect(settled).toBeLessThan(output + 60n * PRICE[0]);
  });

  it('are tried on several models in turn, and priced without trying any', async () => {
    const customer = await relay.customer('1');
    const body = { contents: contentsOf('hello'), models: [MODEL] };
    const served = await send(customer, '/v1beta/models/vendora-chat:generateContent', body);
    expect({ status: served.status, model: served.headers.get('x-served-model') }).toEqual({
      status: 200,
      model: MODEL,
    });
    const before = await customer.balance();
    const dry = await send(customer, `${PATH}:generateContent`, {
      contents: contentsOf('hello'),
      dry_run: true,
    });
    expect(await dry.json()).toMatchObject({
      object: 'dry_run',
      models: [{ model: MODEL, available: true }],
    });
    expect(await customer.balance()).toEqual(before);
  });

  it.each([DRAWING, ONE_PRICE])(
    'are held for an image by %s, unless the request rules it out',
    async (model) => {
      const customer = await relay.customer('1');
      const held = async (config: object) => {
        const body = { contents: contentsOf('a fox'), generationConfig: { maxOutputTokens: 1, ...config } };
        const dry = await send(customer, `/v1beta/models/${model}:generateContent`, {
          ...body,
          dry_run: true,
        });
        const { models } = (await dry.json()) as { models: { amount: string }[] };
        return parseAmount(models[0]!.amount);
      };
      expect(await held({})).toBeGreaterThan(parseAmount('0.078'));
      expect(await held({ responseModalities: ['TEXT'] })).toBeLessThan(parseAmount('0.001'));
    },
  );

  it('are charged once per idempotency key, and free if only counted', async () => {
    const customer = await relay.customer('1');
    const headers = { 'idempotency-key': 'once' };
    const ask = () => send(customer, `${PATH}:generateContent`, { contents: contentsOf('hello') }, headers);
    const first = await (await ask()).text();
    const paid = await customer.balance();
    const again = await ask();
    expect(await again.text()).toBe(first);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const count = await send(customer, `${PATH}:countTokens`, { contents: contentsOf('hello') }, headers);
    expect(count.status).toBe(400);
    const free = { 'idempotency-key': 'counted' };
    for (let time = 0; time < 2; time += 1) {
      const counted = await send(customer, `${PATH}:countTokens`, { contents: contentsOf('hello') }, free);
      expect(await counted.json()).toEqual({ totalTokens: 2 });
    }
    expect(await customer.balance()).toEqual(paid);
  });

  it('cost at most their input and what was streamed if the client leaves', async () => {
    const customer = await relay.customer('1');
    const leaving = new AbortController();
    const response = await customer.send(`${PATH}:streamGenerateContent?alt=sse`, {
      ...json({ contents: contentsOf('[[tokens:400]] [[fault:slow-bytes]]') }),
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    leaving.abort();
    const { settled } = await lastSettled(customer);
    expect(settled).toBeGreaterThan(10n * PRICE[0]);
    expect(settled).toBeLessThan(600n * PRICE[2]);
    expect((await customer.balance()).held).toBe('0');
  });

  it.each([
    ['reject-400', 400, 'upstream_rejected'],
    ['moderation', 400, 'content_policy_violation'],
    ['reject-401', 503, 'service_unavailable'],
    ['reject-503', 503, 'service_unavailable'],
  ])('are not counted by a vendor that refuses: %s', async (fault, status, code) => {
    const customer = await relay.customer('1');
    const body = { contents: contentsOf(`[[fault:${fault}]]`) };
    const refusal = await send(customer, `${PATH}:countTokens`, body);
    expect(refusal.status).toBe(status);
    expect(await refusal.json()).toMatchObject({ error: { code: status, details: [{ reason: code }] } });
  });

  it('are not counted for a key that may not use the model', async () => {
    const customer = await relay.customer('1');
    await relay.fixture.owner.query(`UPDATE api_keys SET allowed_models = '{vendora-chat}' WHERE id = $1`, [
      customer.keyId,
    ]);
    const body = { contents: contentsOf('hello') };
    for (const call of ['countTokens', 'generateContent']) {
      const refusal = await send(customer, `${PATH}:${call}`, body);
      expect({ call, status: refusal.status }).toEqual({ call, status: 403 });
    }
    // A model that another vendor counts is not served by this path.
    const other = await relay.customer('1');
    expect((await send(other, '/v1beta/models/vendora-messages:countTokens', body)).status).toBe(404);
  });
});
