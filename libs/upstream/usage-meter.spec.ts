import { describe, expect, it } from 'vitest';
import type { StreamKind } from './outcomes.js';
import { SseSplitter } from './sse-splitter.js';
import { UsageMeter } from './usage-meter.js';

/** Feeds a stream byte by byte, which must not matter to the meter. */
function metered(kind: StreamKind, events: (object | string)[]) {
  const meter = new UsageMeter(kind);
  const splitter = new SseSplitter();
  const dropped: boolean[] = [];
  const text = events.map(
    (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
  );
  for (const byte of Buffer.from(text.join(''))) {
    for (const event of splitter.push(Buffer.from([byte]))) dropped.push(meter.addEvent(event));
  }
  return { meter, dropped };
}

const whole = (kind: StreamKind, body: unknown) => {
  const meter = new UsageMeter(kind);
  meter.addAnswer(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  return meter;
};
const tokens = (input: bigint, cachedInput: bigint, output: bigint) => ({ input, cachedInput, output });

describe('a chat', () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 7,
    total_tokens: 107,
    prompt_tokens_details: { cached_tokens: 60 },
  };
  const delta = (content: string) => ({ choices: [{ index: 0, delta: { content } }], usage: null });

  it('is billed by its last chunk, which is marked for dropping', () => {
    const { meter, dropped } = metered('chat', [
      delta('grüße'),
      delta(' 😀'),
      { choices: [], usage },
      '[DONE]',
    ]);
    expect(meter.reported()).toEqual(tokens(40n, 60n, 7n));
    expect(meter.end).toBe('complete');
    expect(dropped).toEqual([false, false, true, false]);
  });

  it('is billed by what was streamed if no usage came', () => {
    const tool = { choices: [{ delta: { tool_calls: [{ function: { arguments: '{"a":1}' } }] } }] };
    const { meter } = metered('chat', [delta('12345'), tool]);
    expect(meter.reported()).toBeNull();
    expect(meter.billable(tokens(9n, 0n, 0n))).toEqual(tokens(9n, 0n, 3n));
    expect(meter.billable(tokens(9n, 0n, 7n))).toEqual(tokens(9n, 0n, 7n));
    expect(meter.billable(tokens(9n, 0n, 1n))).toEqual(tokens(9n, 0n, 3n));
    expect(meter.end).toBe('open');
  });

  it('uses the last of several reports, and leaves a first chunk without choices alone', () => {
    const early = { choices: [{ delta: { content: 'x' } }], usage: { ...usage, completion_tokens: 1 } };
    const { meter, dropped } = metered('chat', [
      { choices: [], prompt_filter_results: [] },
      early,
      { choices: [], usage },
    ]);
    expect(meter.reported()).toEqual(tokens(40n, 60n, 7n));
    expect(dropped).toEqual([false, false, true]);
  });

  it('is billed by what was streamed if its only count came before that', () => {
    const early = { ...delta(''), usage: { ...usage, completion_tokens: 1 } };
    const text = delta('x'.repeat(40));
    for (const streamed of [text, { ...text, usage: {} }, { ...text, usage: { prompt_tokens: 100 } }]) {
      const { meter } = metered('chat', [early, streamed, '[DONE]']);
      expect(meter.reported()).toEqual(tokens(40n, 60n, 10n));
    }
  });

  it('is billed by what was streamed after a count of its output alone', () => {
    const early = { ...delta(''), usage: { completion_tokens: 1 } };
    const { meter } = metered('chat', [early, delta('x'.repeat(40)), '[DONE]']);
    expect(meter.billable(tokens(9n, 0n, 50n))).toEqual(tokens(9n, 0n, 10n));
  });

  it('is billed by an output that is reported alone, and by an estimate of its input', () => {
    const reports = [delta('x'.repeat(400)), { choices: [], usage: { completion_tokens: 7 } }];
    const { meter } = metered('chat', reports);
    expect(meter.reported()).toBeNull();
    expect(meter.billable(tokens(9n, 0n, 50n))).toEqual(tokens(9n, 0n, 7n));
    const spoken = { input_tokens: undefined, output_tokens: 30 };
    const speech = metered('speech', [{ type: 'speech.audio.done', usage: spoken }]).meter;
    expect(speech.billable({ ...tokens(9n, 0n, 0n), audioOutput: 20n })).toEqual({
      ...tokens(9n, 0n, 0n),
      audioOutput: 20n,
    });
  });

  it('has failed after an error event', () => {
    expect(metered('chat', [delta('x'), { error: { message: 'broken' } }]).meter.end).toBe('failed');
  });

  it('is read from a whole answer too', () => {
    const body = { choices: [{ message: { content: '12345678' } }], usage };
    expect(whole('chat', body).reported()).toEqual(tokens(40n, 60n, 7n));
    expect(whole('chat', { ...body, usage: undefined }).billable(tokens(3n, 0n, 0n))).toEqual(
      tokens(3n, 0n, 2n),
    );
  });

  it.each([
    'not json',
    '[]',
    '{"usage":5,"choices":{}}',
    '{"usage":{"prompt_tokens":-1,"completion_tokens":"x"}}',
  ])('reads nothing from %s', (data) => {
    expect(metered('chat', [data]).meter.reported()).toBeNull();
    expect(whole('chat', data).reported()).toBeNull();
  });

  it('never counts more cached than read, nor more than a charge can hold', () => {
    const strange = {
      prompt_tokens: 5,
      completion_tokens: 1e15,
      prompt_tokens_details: { cached_tokens: 9 },
    };
    expect(whole('chat', { usage: strange }).reported()).toEqual(tokens(0n, 5n, 100_000_000n));
  });
});

describe('a response', () => {
  const usage = { input_tokens: 50, output_tokens: 8, input_tokens_details: { cached_tokens: 10 } };

  it.each([
    ['response.completed', 'complete'],
    ['response.incomplete', 'complete'],
    ['response.failed', 'failed'],
  ])('is billed by %s', (type, end) => {
    const { meter } = metered('responses', [
      { type: 'response.output_text.delta', delta: 'abc' },
      { type, response: { usage } },
    ]);
    expect(meter.reported()).toEqual(tokens(40n, 10n, 8n));
    expect(meter.end).toBe(end);
  });

  it('is billed by what was streamed if it was cut off, or reported none', () => {
    const deltas = [
      { type: 'response.created', response: { usage: null } },
      { type: 'response.output_text.delta', delta: '123456789' },
      { type: 'response.function_call_arguments.delta', delta: '{}' },
    ];
    expect(metered('responses', deltas).meter.billable(tokens(5n, 0n, 0n))).toEqual(tokens(5n, 0n, 3n));
    const failed = { type: 'response.failed', response: { usage: null } };
    expect(metered('responses', [...deltas, failed]).meter.reported()).toBeNull();
  });

  it('is read from a whole answer too', () => {
    expect(whole('responses', { usage }).reported()).toEqual(tokens(40n, 10n, 8n));
    const output = [{ content: [{ type: 'output_text', text: '12345' }] }, { arguments: '{}' }];
    expect(whole('responses', { output }).streamed()).toBe(2n);
  });
});

describe('a message', () => {
  const start = {
    type: 'message_start',
    message: {
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 5,
        cache_read_input_tokens: 30,
        output_tokens: 1,
      },
    },
  };
  const text = (value: string) => ({
    type: 'content_block_delta',
    delta: { type: 'text_delta', text: value },
  });

  it('is billed by its start and its last delta', () => {
    const delta = (output_tokens: number) => ({ type: 'message_delta', delta: {}, usage: { output_tokens } });
    const { meter } = metered('messages', [
      start,
      text('x'.repeat(400)),
      delta(3),
      delta(12),
      { type: 'message_stop' },
    ]);
    expect(meter.reported()).toEqual({ ...tokens(10n, 30n, 12n), cacheWrite: 5n });
    expect(meter.end).toBe('complete');
  });

  it('is billed by what was streamed if it was cut off before the delta', () => {
    const { meter } = metered('messages', [start, { type: 'ping' }, text('x'.repeat(41))]);
    expect(meter.reported()).toEqual({ ...tokens(10n, 30n, 11n), cacheWrite: 5n });
    expect(meter.end).toBe('open');
  });

  it('counts thinking and tool input, and has failed after an error event', () => {
    const thinking = { type: 'content_block_delta', delta: { thinking: '1234' } };
    const tool = { type: 'content_block_delta', delta: { partial_json: '{"a":' } };
    const { meter } = metered('messages', [thinking, tool, { type: 'error', error: {} }]);
    expect(meter.billable(tokens(2n, 0n, 0n))).toEqual(tokens(2n, 0n, 3n));
    expect(meter.end).toBe('failed');
  });

  it('is read from a whole answer too', () => {
    const body = { content: [{ type: 'text', text: 'x' }], usage: { input_tokens: 4, output_tokens: 2 } };
    expect(whole('messages', body).reported()).toEqual(tokens(4n, 0n, 2n));
  });
});

describe('contents', () => {
  const usage = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 7,
    thoughtsTokenCount: 20,
    toolUsePromptTokenCount: 5,
    totalTokenCount: 132,
  };
  const piece = (parts: object[], more: object = {}, index = 0) => ({
    candidates: [{ content: { parts, role: 'model' }, index, ...more }],
  });
  const STOP = { finishReason: 'STOP' };

  it('are billed by what is reported: cached input is part of the prompt, thoughts are output', () => {
    const body = { ...piece([{ text: 'x' }], STOP), usageMetadata: usage };
    expect(whole('contents', body).reported()).toEqual(tokens(45n, 60n, 27n));
  });

  it('may omit zeros, and have no more from the cache than in the prompt', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } };
    expect(whole('contents', blocked).reported()).toEqual(tokens(9n, 0n, 0n));
    const odd = { usageMetadata: { promptTokenCount: 9, cachedContentTokenCount: 12 } };
    expect(whole('contents', odd).reported()).toEqual(tokens(0n, 9n, 0n));
  });

  it('count from the beginning in every event, and are final once each answer has said why it ended', () => {
    const grown = (candidatesTokenCount: number) => ({
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount },
    });
    const events = [
      { ...piece([{ text: 'one ' }]), ...grown(1) },
      { ...piece([{ text: 'two' }], STOP), ...grown(2) },
    ];
    const { meter, dropped } = metered('contents', events);
    expect(meter.reported()).toEqual(tokens(9n, 0n, 2n));
    expect({ final: meter.isFinished, end: meter.end, dropped }).toEqual({
      final: true,
      end: 'open',
      dropped: [false, false],
    });
    expect(metered('contents', events.slice(0, 1)).meter.isFinished).toBe(false);
    const two = [piece([{ text: 'a' }], {}, 1), piece([{ text: 'b' }], STOP, 0)];
    expect(metered('contents', two).meter).toMatchObject({ isFinished: false, answers: 2 });
    expect(metered('contents', [...two, piece([], STOP, 1)]).meter.isFinished).toBe(true);
    const blocked = metered('contents', [
      { promptFeedback: { blockReason: 'OTHER' } },
      { usageMetadata: usage },
    ]);
    expect(blocked.meter.isFinished).toBe(true);
  });

  it('are billed by what was streamed if they were cut off, or no usage came', () => {
    const cut = { ...piece([{ text: 'x'.repeat(41) }]), usageMetadata: { promptTokenCount: 9 } };
    expect(metered('contents', [cut]).meter.reported()).toEqual(tokens(9n, 0n, 11n));
    const parts = [
      { text: '1234', thought: true },
      { functionCall: { name: 'f', args: { a: 1 } } },
      { inlineData: { mimeType: 'image/png', data: 'A'.repeat(1_000_000) } },
    ];
    const { meter } = metered('contents', [piece(parts, STOP)]);
    expect(meter.reported()).toBeNull();
    expect(meter.billable(tokens(3n, 0n, 0n))).toEqual({ ...tokens(3n, 0n, 3n), imageOutput: 1_290n });
  });

  it('have images billed as such if no count covers them', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const counted = {
      promptTokenCount: 9,
      candidatesTokenCount: 1_300,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    };
    const first = { ...piece([{ text: 'x'.repeat(40) }, image]), usageMetadata: counted };
    const billed = (imageOutput: bigint) => ({ ...tokens(9n, 0n, 10n), imageOutput });
    const reported = (...events: object[]) => metered('contents', events).meter.reported();
    expect(reported(first)).toEqual(billed(1_290n));
    expect(reported(first, piece([image], STOP))).toEqual(billed(2_580n));
    const sound = { inlineData: { mimeType: 'audio/pcm', data: 'AAAA' } };
    expect(metered('contents', [piece([sound], STOP)]).meter.billable(tokens(3n, 0n, 0n))).toEqual(
      tokens(3n, 0n, 1_290n),
    );
  });

  it('never count more than a charge can hold, however large the counts are', () => {
    const candidatesTokensDetails = [1, 2].map(() => ({ modality: 'IMAGE', tokenCount: 1.7e308 }));
    const counts = { promptTokenCount: 1.7e308, candidatesTokenCount: 1.7e308, thoughtsTokenCount: 1.7e308 };
    const body = { ...piece([], STOP), usageMetadata: { ...counts, candidatesTokensDetails } };
    expect(whole('contents', body).reported()).toEqual({
      ...tokens(100_000_000n, 0n, 0n),
      imageOutput: 100_000_000n,
    });
  });

  it('keep a count that the last event omits', () => {
    const counted = { promptTokenCount: 9, cachedContentTokenCount: 4, candidatesTokenCount: 800 };
    const events = [
      { ...piece([{ text: 'x' }]), usageMetadata: { ...counted, thoughtsTokenCount: 20 } },
      { ...piece([], { finishReason: 'SAFETY' }), usageMetadata: { promptTokenCount: 9 } },
    ];
    expect(metered('contents', events).meter.reported()).toEqual(tokens(5n, 4n, 820n));
  });

  it('are billed by what was streamed if no count covers it, ended or not', () => {
    const prompt = { usageMetadata: { promptTokenCount: 9 } };
    const text = (characters: number, more = {}) => piece([{ text: 'x'.repeat(characters) }], more);
    const reported = (...events: object[]) => metered('contents', events).meter.reported();
    expect(reported({ ...text(400), ...prompt }, text(400), text(40, STOP))).toEqual(tokens(9n, 0n, 210n));
    expect(reported(prompt, text(40), text(40, STOP))).toEqual(tokens(9n, 0n, 20n));
    const begun = { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 } };
    expect(reported({ ...text(4), ...begun }, text(400, STOP))).toEqual(tokens(9n, 0n, 101n));
    const thought = { usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 20 } };
    expect(reported({ ...text(400, STOP), ...thought })).toEqual(tokens(9n, 0n, 100n));
    expect(whole('contents', { ...text(41, STOP), ...prompt }).reported()).toEqual(tokens(9n, 0n, 11n));
  });

  it('have failed after an error', () => {
    expect(metered('contents', [piece([{ text: 'x' }]), { error: { code: 503 } }]).meter.end).toBe('failed');
  });
});

describe('speech', () => {
  it('reports its usage if it is streamed as events', () => {
    const done = { type: 'speech.audio.done', usage: { input_tokens: 3, output_tokens: 20 } };
    const { meter } = metered('speech', [{ type: 'speech.audio.delta', audio: 'AAAA' }, done]);
    expect(meter.reported()).toEqual({ ...tokens(3n, 0n, 0n), audioOutput: 20n });
  });
});

describe('tokens of images and sound', () => {
  it('are distinguished as OpenAI and Google report them', () => {
    const usage = {
      prompt_tokens: 40,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 5, audio_tokens: 10, image_tokens: 20 },
      completion_tokens_details: { audio_tokens: 25 },
    };
    expect(whole('chat', { choices: [], usage }).reported()).toEqual({
      ...tokens(5n, 5n, 5n),
      imageInput: 20n,
      audioInput: 10n,
      audioOutput: 25n,
    });
    const usageMetadata = {
      promptTokenCount: 300,
      candidatesTokenCount: 1_300,
      promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 258 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    };
    expect(whole('contents', { candidates: [], usageMetadata }).reported()).toEqual({
      ...tokens(42n, 0n, 10n),
      imageInput: 258n,
      imageOutput: 1_290n,
    });
  });

  it('count what was heard as sound, unless it is said to be text', () => {
    const usage = { input_tokens: 20, output_tokens: 4 };
    expect(whole('transcription', { text: 'a', usage }).reported()).toEqual({
      ...tokens(0n, 0n, 4n),
      audioInput: 20n,
    });
    const input_token_details = { text_tokens: 6, audio_tokens: 14 };
    expect(whole('translation', { text: 'a', usage: { ...usage, input_token_details } }).reported()).toEqual({
      ...tokens(6n, 0n, 4n),
      audioInput: 14n,
    });
  });
});

describe('input that was written into a cache', () => {
  const anthropic = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 };
  const message = (usage: object) => ({ content: [], usage: { ...anthropic, ...usage } });
  const told = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 40 };

  it('is counted by its lifetime, separately from what was read', () => {
    const usage = { cache_creation_input_tokens: 60, cache_creation: told };
    expect(whole('messages', message(usage)).reported()).toEqual({
      ...tokens(10n, 5n, 3n),
      cacheWrite: 20n,
      cacheWrite1h: 40n,
    });
    expect(whole('messages', message({ cache_creation: told })).reported()).toMatchObject({
      input: 10n,
      cacheWrite1h: 40n,
    });
  });

  it('counts as an hour’s if its lifetime is not reported and the request asked for an hour', () => {
    const body = Buffer.from(JSON.stringify(message({ cache_creation_input_tokens: 60 })));
    const reported = (longWrites: boolean) => {
      const meter = new UsageMeter('messages', longWrites);
      meter.addAnswer(body);
      return meter.reported();
    };
    expect(reported(false)).toEqual({ ...tokens(10n, 5n, 3n), cacheWrite: 60n });
    expect(reported(true)).toEqual({ ...tokens(10n, 5n, 3n), cacheWrite1h: 60n });
  });

  it('is part of the input in OpenAI’s dialects, and never more than that', () => {
    const usage = (written: number) => ({
      choices: [],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: written },
      },
    });
    expect(whole('chat', usage(30)).reported()).toEqual({ ...tokens(10n, 60n, 7n), cacheWrite: 30n });
    expect(whole('chat', usage(3_000)).reported()).toEqual({ ...tokens(0n, 60n, 7n), cacheWrite: 40n });
  });
});
