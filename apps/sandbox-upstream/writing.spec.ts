import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { type Json, SandboxUnderTest } from './sandbox.fixture.js';

let sandbox: SandboxUnderTest;
let client: OpenAI;

beforeAll(async () => {
  sandbox = await SandboxUnderTest.start();
  client = new OpenAI({ apiKey: 'sandbox-key', baseURL: `${sandbox.url}/v1`, maxRetries: 0 });
});
afterAll(() => sandbox.close());

const chat = (content: string, more: Json = {}) => ({
  model: 'm',
  messages: [{ role: 'user' as const, content }],
  ...more,
});
const headers = { 'x-api-key': 'sandbox-key', 'anthropic-version': '2023-06-01' };
const ask = (content: string, more: Json = {}) =>
  sandbox.post('/v1/messages', { ...chat(content), max_tokens: 100, ...more }, headers);

/** The events of a stream, and whether it ended properly. */
async function events(response: Response): Promise<{ names: string[]; data: Json[]; isWhole: boolean }> {
  let text = '';
  let isWhole = true;
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  } catch {
    isWhole = false;
  }
  const blocks = text.split('\n\n').slice(0, -1);
  const lines = (name: string) =>
    blocks.flatMap((block) => block.split('\n')).filter((line) => line.startsWith(`${name}: `));
  return {
    names: lines('event').map((line) => line.slice(7)),
    data: lines('data').map((line) => (line === 'data: [DONE]' ? {} : (JSON.parse(line.slice(6)) as Json))),
    isWhole,
  };
}

describe('a chat', () => {
  it('echoes the prompt and reports its usage', async () => {
    const result = await client.chat.completions.create(chat('a red fox [[cached:2]]'));
    expect(result.choices[0]).toMatchObject({
      message: { role: 'assistant', content: 'You said: a red fox' },
      finish_reason: 'stop',
    });
    expect(result.usage).toMatchObject({
      prompt_tokens: 6,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 2 },
    });
  });

  it('streams the same, with usage only on request', async () => {
    const read = async (more: Json) => {
      const stream = await client.chat.completions.create({ ...chat('a red fox'), stream: true, ...more });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      return chunks;
    };
    const plain = await read({});
    expect(plain.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('You said: a red fox');
    expect(plain.every(({ choices, usage }) => choices.length === 1 && !usage)).toBe(true);
    const metered = await read({ stream_options: { include_usage: true } });
    expect(metered.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 5 } });
  });

  it('is as long as ordered, and cut off at the limit', async () => {
    const long = await client.chat.completions.create(chat('x [[tokens:40]]'));
    expect(long.usage?.completion_tokens).toBe(40);
    const cut = await client.chat.completions.create(chat('x [[tokens:40]]', { max_tokens: 7 }));
    expect(cut).toMatchObject({ usage: { completion_tokens: 7 }, choices: [{ finish_reason: 'length' }] });
  });

  it.each<[string, number]>([
    ['reject-400', 400],
    ['reject-401', 401],
    ['reject-403', 403],
    ['reject-404', 404],
    ['reject-429', 429],
    ['reject-500', 500],
    ['reject-503', 503],
    ['moderation', 400],
    ['fail-late', 500],
  ])('%s answers %i, even for a stream', async (fault, status) => {
    for (const stream of [false, true]) {
      const answer = await sandbox.post('/v1/chat/completions', chat(`[[fault:${fault}]]`, { stream }));
      expect(answer.status).toBe(status);
      expect((await answer.json()) as Json).toHaveProperty('error.code');
    }
  });

  it('is refused without a user’s text', async () => {
    const post = (messages: unknown) => sandbox.post('/v1/chat/completions', { model: 'm', messages });
    const bad = [
      undefined,
      [],
      [{ role: 'system', content: 'x' }],
      [null],
      [{ content: [{ type: 'image' }] }],
    ];
    for (const messages of bad) expect((await post(messages)).status).toBe(400);
    const parts = [{ role: 'user', content: [{ type: 'text', text: 'in parts' }] }];
    expect((await post(parts)).status).toBe(200);
  });
});

describe('faults of a stream', () => {
  const open = (prompt: string) =>
    sandbox.post(
      '/v1/chat/completions',
      chat(prompt, { stream: true, stream_options: { include_usage: true } }),
    );

  it('no-usage omits it, whole and streamed', async () => {
    const { data } = await events(await open('x [[fault:no-usage]]'));
    expect(data.some(({ usage }) => usage)).toBe(false);
    const whole = await sandbox.post('/v1/chat/completions', chat('[[fault:no-usage]]'));
    expect((await whole.json()) as Json).not.toHaveProperty('usage');
  });

  it('mid-stream-error sends half and an error', async () => {
    const { data, isWhole } = await events(await open('[[tokens:10]] [[fault:mid-stream-error]]'));
    expect(isWhole).toBe(true);
    expect(data).toHaveLength(7);
    expect(data.at(-1)).toHaveProperty('error.message');
  });

  it('stream-cut breaks off half-way', async () => {
    const { data, isWhole } = await events(await open('[[tokens:10]] [[fault:stream-cut]]'));
    expect(isWhole).toBe(false);
    expect(data.length).toBeLessThan(7);
  });

  it('slow-bytes trickles, and a client that leaves is noticed', async () => {
    const before = performance.now();
    const slow = await open('[[tokens:8]] [[fault:slow-bytes]]');
    expect((await events(slow)).isWhole).toBe(true);
    expect(performance.now() - before).toBeGreaterThan(300);
    const abandoned = (await sandbox.read('/_sandbox/stats'))['textsAbandoned'] as number;
    const gone = new AbortController();
    const body = chat('[[tokens:200]] [[fault:slow-bytes]]', { stream: true });
    await sandbox.post('/v1/chat/completions', body, {}, gone.signal);
    gone.abort();
    await sandbox.readUntil('/_sandbox/stats', (stats) => stats['textsAbandoned'] === abandoned + 1);
  });
});

describe('a response', () => {
  it('is understood by the OpenAI client, whole and streamed', async () => {
    const whole = await client.responses.create({ model: 'm', input: 'a red fox', instructions: 'be kind' });
    expect(whole.output_text).toBe('You said: a red fox');
    expect(whole.usage).toMatchObject({ output_tokens: 5 });
    const stream = await client.responses.create({
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'a red fox' }] }],
      stream: true,
    });
    const types: string[] = [];
    const numbers: number[] = [];
    for await (const event of stream) {
      types.push(event.type);
      numbers.push(event.sequence_number);
    }
    expect(types[0]).toBe('response.created');
    expect(types.at(-1)).toBe('response.completed');
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('is incomplete at its limit, and fails in the middle on request', async () => {
    const post = (input: string, more: Json = {}) =>
      sandbox.post('/v1/responses', { model: 'm', input, stream: true, ...more }).then(events);
    const cut = await post('[[tokens:9]]', { max_output_tokens: 3 });
    expect(cut.data.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { usage: { output_tokens: 3 } },
    });
    const failed = await post('[[tokens:9]] [[fault:mid-stream-error]]');
    expect(failed.names.at(-1)).toBe('response.failed');
    const silent = await post('[[fault:no-usage]]');
    expect(silent.data.at(-1)).toMatchObject({ type: 'response.completed', response: { usage: null } });
  });
});

describe('a message', () => {
  it('is answered whole', async () => {
    const body = (await (await ask('a red fox [[cached:4]]')).json()) as Json;
    expect(body).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'You said: a red fox' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 2, cache_read_input_tokens: 4, output_tokens: 5 },
    });
  });

  it('is streamed with named events', async () => {
    const { names, data } = await events(await ask('a red fox', { stream: true }));
    expect([...new Set(names)]).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(data.at(-2)).toMatchObject({ usage: { output_tokens: 5 }, delta: { stop_reason: 'end_turn' } });
    const broken = await events(await ask('[[tokens:6]] [[fault:mid-stream-error]]', { stream: true }));
    expect(broken.data.at(-1)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
  });

  it('is refused in its family’s format', async () => {
    const refused = async (answer: Promise<Response>) => {
      const { status, body } = await answer.then(async (it) => ({
        status: it.status,
        body: (await it.json()) as Json,
      }));
      return [status, body['type'], body['error']['type']];
    };
    expect(await refused(ask('[[fault:reject-529]]'))).toEqual([529, 'error', 'overloaded_error']);
    expect(await refused(ask('[[fault:moderation]]'))).toEqual([400, 'error', 'invalid_request_error']);
    expect(await refused(ask('x', { max_tokens: null }))).toEqual([400, 'error', 'invalid_request_error']);
    const wrong = sandbox.post('/v1/messages', chat('x'), {
      ...headers,
      'x-api-key': 'no',
      authorization: '',
    });
    expect(await refused(wrong)).toEqual([401, 'error', 'authentication_error']);
  });
});

describe('speech', () => {
  const speak = (input: string, more: Json = {}) =>
    sandbox.post('/v1/audio/speech', { model: 'm', voice: 'alloy', input, ...more });
  const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

  it('is a WAV with a correct header', async () => {
    const answer = await speak('one two three', { response_format: 'wav' });
    const file = await bytesOf(answer);
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(file.toString('latin1', 0, 4) + file.toString('latin1', 8, 12)).toBe('RIFFWAVE');
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    expect(file.readUInt32LE(40)).toBe(file.length - 44);
    expect(file.readUInt32LE(40) / file.readUInt32LE(28)).toBeCloseTo(0.6);
    expect(file.subarray(44).some((byte) => byte !== 0)).toBe(true);
    expect((await bytesOf(await speak('one two three', { response_format: 'wav' }))).equals(file)).toBe(true);
  });

  it('is an MP3 of whole frames by default', async () => {
    const answer = await speak('one two three');
    const file = await bytesOf(answer);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(file.length % 417).toBe(0);
    for (let at = 0; at < file.length; at += 417) expect(file.readUInt32BE(at)).toBe(0xfffb90c4);
  });

  it('is refused without a voice, in other formats, and on request', async () => {
    const asked = [
      speak('x', { voice: null }),
      speak('x', { response_format: 'opus' }),
      speak('[[fault:reject-422]]'),
    ];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([400, 400, 422]);
    await expect(speak('one [[fault:stream-cut]]').then(bytesOf)).rejects.toThrow();
  });
});

describe('embeddings', () => {
  it.each([0, 1.5, 1e9])('have no %s dimensions', async (dimensions) => {
    const asked = client.embeddings.create({ model: 'm', input: 'a red fox', dimensions });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'dimensions' });
  });

  it('have the usual dimensions if none are given', async () => {
    const asked = { model: 'm', input: 'a red fox', dimensions: null };
    expect((await sandbox.post('/v1/embeddings', asked)).status).toBe(200);
  });
});
