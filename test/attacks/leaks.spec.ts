import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import {
  event,
  type Script,
  type ScriptedUpstream,
  SSE,
  startScriptedUpstream,
  word,
} from '../support/scripted-upstream.js';

const LITE = 'vendora-chat-lite';
const CHAT = 'vendora-chat';
/** Nano-USD per call in the group Public-Relay, and per token of input and of output. */
const CALL_NANOS = 200_000n;
const INPUT_NANOS = 2_500n;
const OUTPUT_NANOS = 10_000n;
/** What an upstream stream uses, and how much of it is visible before the usage arrives. */
const USED = { prompt_tokens: 30, completion_tokens: 1_000, total_tokens: 1_030 };
const WHOLE_COST = 30n * INPUT_NANOS + 1_000n * OUTPUT_NANOS;

/** Streams that wait for a signal from the test before they report their usage. */
const waiting: (() => void)[] = [];

const choice = (index: number) => ({ index, message: { role: 'assistant', content: 'x' } });
const usage = event({ choices: [], usage: USED });
const scripts: Record<string, Script> = {
  answers: (response, { n = 1 }) => {
    const choices = Array.from({ length: Number(n) }, (_, index) => choice(index));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices, usage: USED }));
  },
  fewer: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [choice(0), choice(1)], usage: USED }));
  },
  streams: (response) => {
    response.writeHead(200, SSE);
    response.write(word('the last word'));
    waiting.push(() => response.end(usage + event('[DONE]')));
  },
  thinks: (response) => {
    waiting.push(() => {
      response.writeHead(200, SSE);
      response.end(word('late') + usage + event('[DONE]'));
    });
  },
};

let relay: Relay;
/** Does not read on for long; the other relay reads to the end. */
let hasty: Relay;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startScriptedUpstream(scripts);
  relay = await startRelay({ STREAM_DRAIN_SECONDS: '300' });
  hasty = await startRelay({ STREAM_DRAIN_SECONDS: '1' });
  for (const each of [relay, hasty]) await addScripted(each);
});

async function addScripted({ fixture: { owner } }: Relay): Promise<void> {
  await owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, priority) VALUES ('scripted', 'openai', $1, 'k', 9)`,
    [upstream.url],
  );
  await owner.query(`INSERT INTO channel_models VALUES ('scripted', $1, $1), ('scripted', $2, $2)`, [
    LITE,
    CHAT,
  ]);
  await owner.query(
    `INSERT INTO channel_groups VALUES ('scripted', 'Vendora-Main'), ('scripted', 'Public-Relay')`,
  );
}

afterAll(async () => {
  await closeClean(relay);
  await closeClean(hasty);
  upstream.close();
});

const user = (content: string) => [{ role: 'user', content }];

interface Refusal {
  status: number;
  code: string;
  param: string | null;
}

async function refusalOf(customer: Customer, path: string, body: object): Promise<Refusal> {
  const response = await customer.send(path, json(body));
  const { error } = (await response.json()) as { error: { code?: string; param?: string | null } };
  return { status: response.status, code: error.code ?? '', param: error.param ?? null };
}

async function settledOf(customer: Customer, at = relay): Promise<bigint> {
  const read = async () => {
    const { rows } = await at.fixture.billing.query<{ state: string; settled: bigint }>(
      'SELECT state, settled FROM charges WHERE account_id = $1',
      [customer.accountId],
    );
    return rows;
  };
  await until('the settlement', async () => (await read()).some(({ state }) => state === 'settled'));
  const rows = await read();
  expect(rows).toHaveLength(1);
  return rows[0]?.settled ?? 0n;
}

async function expectNothingCharged(customer: Customer): Promise<void> {
  const { rows } = await relay.fixture.billing.query('SELECT FROM charges WHERE account_id = $1', [
    customer.accountId,
  ]);
  expect(rows).toHaveLength(0);
}

describe('a chat with one price per call', () => {
  it.each([
    ['answers', 7, 7n],
    ['fewer', 7, 2n],
    ['answers', undefined, 1n],
  ])('is charged for each of its answers: %s, n %s', async (script, n, calls) => {
    const customer = await relay.customer('1', 'Public-Relay');
    const response = await customer.send(
      '/v1/chat/completions',
      json({ model: LITE, messages: user(script), n }),
    );
    expect(response.status).toBe(200);
    expect(await settledOf(customer)).toBe(calls * CALL_NANOS);
  });

  it('needs the credits for all of them', async () => {
    const customer = await relay.customer('0.001', 'Public-Relay');
    const body = { model: LITE, messages: user('answers'), n: 128 };
    expect(await refusalOf(customer, '/v1/chat/completions', body)).toMatchObject({
      status: 403,
      code: 'insufficient_user_quota',
    });
  });

  it('sends the model’s limit to the upstream if the client sets none', async () => {
    const customer = await relay.customer('1', 'Public-Relay');
    await customer.send('/v1/chat/completions', json({ model: LITE, messages: user('answers') }));
    expect(upstream.bodies.at(-1)).toMatchObject({ max_completion_tokens: 2_048 });
  });
});

describe('what exceeds a model is refused before anything is charged', () => {
  const long = 'word '.repeat(60_000);
  const picture = { prompt: 'x', model: 'vendora-imagine-image' };
  const video = { model: 'vendora-imagine-video', prompt: 'x' };

  it.each<[string, string, object, string]>([
    ['/v1/chat/completions', 'n', { model: LITE, messages: user('x'), n: 129 }, 'Public-Relay'],
    [
      '/v1/chat/completions',
      'max_tokens',
      { model: LITE, messages: user('x'), max_tokens: 100_000 },
      'Public-Relay',
    ],
    [
      '/v1/chat/completions',
      'max_completion_tokens',
      { model: CHAT, messages: user('x'), max_completion_tokens: 4_097 },
      'Vendora-Main',
    ],
    ['/v1/chat/completions', 'messages', { model: LITE, messages: user(long) }, 'Public-Relay'],
    [
      '/v1/chat/completions',
      'messages',
      { model: LITE, messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'AAAA' } }] }] },
      'Public-Relay',
    ],
    [
      '/v1/responses',
      'max_output_tokens',
      { model: CHAT, input: 'x', max_output_tokens: 5_000 },
      'Vendora-Main',
    ],
    ['/v1/responses', 'input', { model: LITE, input: long }, 'Public-Relay'],
    [
      '/v1/chat/completions',
      'messages',
      { model: CHAT, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'Vendora-Main',
    ],
    [
      '/v1/responses',
      'input',
      { model: CHAT, input: [{ type: 'item_reference', id: 'msg_1' }] },
      'Vendora-Main',
    ],
    [
      '/v1/responses',
      'previous_response_id',
      { model: CHAT, input: 'x', previous_response_id: 'r' },
      'Vendora-Main',
    ],
    ['/v1/images/generations', 'n', { ...picture, n: 11 }, 'Vendora-Main'],
    ['/v1/videos', 'n', { ...video, n: 2 }, 'Vendora-Main'],
    ['/v1/videos', 'seconds', { ...video, seconds: '16' }, 'Vendora-Main'],
    ['/v1/videos', 'duration', { ...video, duration: 0 }, 'Vendora-Main'],
    [
      '/v1/audio/speech',
      'input',
      { model: 'vendora-speech', voice: 'a', input: 'x'.repeat(5_000) },
      'Vendora-Main',
    ],
  ])('%s %s %#', async (path, param, body, group) => {
    const customer = await relay.customer('1', group);
    expect(await refusalOf(customer, path, body)).toEqual({ status: 400, code: 'invalid_value', param });
    await expectNothingCharged(customer);
  });

  it('including calls without an image to a model that edits images', async () => {
    const customer = await relay.customer('1');
    const body = { ...picture, model: 'vendora-imagine-edit' };
    const code = 'missing_required_parameter';
    const refusal = await refusalOf(customer, '/v1/images/generations', body);
    expect(refusal).toEqual({ status: 400, code, param: 'image' });
    await expectNothingCharged(customer);
  });

  it('on the paths of the other families, in their formats', async () => {
    const customer = await relay.customer('1');
    const message = { model: 'vendora-messages', messages: user('x'), max_tokens: 8_193 };
    const anthropic = await customer.send('/v1/messages', json(message));
    expect(anthropic.status).toBe(400);
    expect(await anthropic.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', details: { error_code: 'invalid_value', param: 'max_tokens' } },
    });
    const images = { instances: [{ prompt: 'x' }], parameters: { sampleCount: 11 } };
    const google = await customer.send('/v1beta/models/imgmodel-4:predict', json(images));
    expect(google.status).toBe(400);
    expect(await google.json()).toMatchObject({
      error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining('parameters.sampleCount') },
    });
    await expectNothingCharged(customer);
  });
});

describe('a field without a price is refused by name, on every path', () => {
  const chat = { model: CHAT, messages: user('x') };
  const picture = { prompt: 'x', model: 'vendora-imagine-image' };

  it.each<[string, string, object]>([
    ['/v1/chat/completions', 'search_parameters', { ...chat, search_parameters: { mode: 'on' } }],
    ['/v1/chat/completions', 'plugins', { ...chat, plugins: [{ id: 'web' }] }],
    ['/v1/chat/completions', 'best_of', { ...chat, best_of: 20 }],
    ['/v1/responses', 'n', { model: CHAT, input: 'x', n: 4 }],
    ['/v1/audio/speech', 'n', { model: 'vendora-speech', voice: 'a', input: 'x', n: 4 }],
    ['/v1/images/generations', 'image', { ...picture, image: 'aGk=' }],
    ['/v1/images/generations', 'candidateCount', { ...picture, candidateCount: 4 }],
    ['/v1/images/edits', 'num_images', { ...picture, image: 'aGk=', num_images: 4 }],
    ['/v1/videos', 'sample_count', { model: 'vendora-imagine-video', prompt: 'x', sample_count: 4 }],
    ['/v1/3d', 'texture_quality', { model: 'vendora-3d', prompt: 'x', texture_quality: 'detailed' }],
  ])('%s %s', async (path, param, body) => {
    const customer = await relay.customer('1');
    expect(await refusalOf(customer, path, body)).toEqual({ status: 400, code: 'unknown_parameter', param });
    await expectNothingCharged(customer);
  });

  it('including Google’s', async () => {
    const customer = await relay.customer('1');
    const body = { instances: [{ prompt: 'x' }], parameters: { storageUri: 'gs://theirs' } };
    const response = await customer.send('/v1beta/models/imgmodel-4:predict', json(body));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("Unknown parameter: 'parameters.storageUri'");
  });
});

describe('leaving a stream early', () => {
  async function leaveAfter(customer: Customer, content: string, isSeen: boolean): Promise<void> {
    const leaving = new AbortController();
    const body = { model: CHAT, messages: user(content), stream: true };
    const before = waiting.length;
    const call = customer.send('/v1/chat/completions', { ...json(body), signal: leaving.signal });
    if (isSeen) {
      const reader = (await call).body?.getReader();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('the last word');
    } else {
      call.catch(() => undefined);
      await until('the upstream to be asked', async () => waiting.length > before);
    }
    leaving.abort();
    // Answered after the gateway has noticed.
    await (await customer.send('/v1/models')).text();
  }

  it.each([
    ['after the last word', 'streams', true],
    ['before the first', 'thinks', false],
  ])('costs the same as the finished stream: %s', async (_when, content, isSeen) => {
    const customer = await relay.customer('1');
    await leaveAfter(customer, content, isSeen);
    waiting.at(-1)?.();
    expect(await settledOf(customer)).toBe(WHOLE_COST);
  });

  it.each([
    ['after the last word', 'streams', true],
    ['before the first', 'thinks', false],
  ])(
    'costs the most that the input can cost if the upstream does not end in time: %s',
    async (_when, content, isSeen) => {
      const customer = await hasty.customer('1');
      const padded = `${content} ${'x'.repeat(1_000)}`;
      await leaveAfter(customer, padded, isSeen);
      const settled = await settledOf(customer, hasty);
      expect(settled).toBeGreaterThan(1_000n * INPUT_NANOS);
      const { rows } = await hasty.fixture.billing.query<{ amount: bigint }>(
        'SELECT amount FROM charges WHERE account_id = $1',
        [customer.accountId],
      );
      expect(settled).toBeLessThanOrEqual(rows[0]?.amount ?? 0n);
    },
  );
});
