import { describe, expect, it } from 'vitest';
import type { StreamKind } from '#upstream/outcomes.js';
import { UsageMeter } from '#upstream/usage-meter.js';
import { EventFilter } from './event-filter.js';

const data = (body: object | string) => `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`;
const delta = (content: string) => data({ choices: [{ index: 0, delta: { content } }], usage: null });
const usage = data({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } });
const STOP = data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null });
const DONE = data('[DONE]');

interface Options {
  kind?: StreamKind;
  wantsUsage?: boolean;
  closes?: boolean;
}

/** Sends a stream through in chunks. Returns what came out and how it ended. */
function filtered(chunks: string[], { kind = 'chat', wantsUsage = false, closes = false }: Options = {}) {
  const meter = new UsageMeter(kind);
  const filter = new EventFilter(kind, meter, { wantsUsage: wantsUsage, clientsModel: null });
  const passed: string[] = [];
  for (const chunk of chunks) {
    const { pass, end, last } = filter.push(Buffer.from(chunk));
    passed.push(pass.toString());
    if (end !== 'open') return { passed, end, last: last?.toString() ?? null, meter, count: filter.passed };
  }
  const { end, last } = closes ? filter.close() : { end: 'open', last: null };
  return { passed, end, last: last?.toString() ?? null, meter, count: filter.passed };
}

describe('the events of a chat', () => {
  it('pass as they come, comments included, except that the last is kept back', () => {
    const chunks = [': keep-alive\n\n', delta('a') + delta('b'), delta('c'), DONE];
    const { passed, end, last, count } = filtered(chunks);
    expect(passed).toEqual([...chunks.slice(0, 3), '']);
    expect({ end, last, count }).toEqual({ end: 'done', last: DONE, count: 4 });
  });

  it('pass without the usage chunk unless the client asked for it', () => {
    expect(filtered([delta('a'), usage + DONE]).passed.join('')).toBe(delta('a'));
    const asked = filtered([delta('a'), usage + DONE], { wantsUsage: true });
    expect(asked.passed.join('')).toBe(delta('a') + usage);
    expect(asked.meter.reported()).toEqual({ input: 9n, cachedInput: 0n, output: 3n });
  });

  it('wait for their end, wherever they are cut', () => {
    const text = delta('grüße') + usage + DONE;
    const bytes = [...text].map((character) => character);
    const { passed, last } = filtered(bytes);
    expect(passed.join('')).toBe(delta('grüße'));
    expect(last).toBe(DONE);
  });

  it('end with an upstream error, which is not passed on', () => {
    const { passed, end, last } = filtered([
      delta('a') + data({ error: { message: 'secret' } }) + delta('b'),
    ]);
    expect({ passed, end, last }).toEqual({ passed: [delta('a')], end: 'failed', last: null });
  });

  it('are complete if the stream closes after the reason to end, or after a [DONE] without its blank line', () => {
    for (const end of [STOP, STOP + usage])
      expect(filtered([delta('a') + end], { closes: true })).toMatchObject({ end: 'done', last: null });
    expect(filtered([`${delta('a')}data: [DONE]`], { closes: true })).toMatchObject({
      end: 'done',
      last: DONE,
    });
  });

  it('are incomplete if the stream closes before that, and half an event is not passed on', () => {
    const { passed, end } = filtered([delta('a') + delta('b').slice(0, 20)], { closes: true });
    expect({ passed, end }).toEqual({ passed: [delta('a')], end: 'failed' });
  });

  it('are incomplete without a reason to end, even if each reports its usage, and the last report is billed', () => {
    const counted = (output: number) =>
      data({
        choices: [{ index: 0, delta: { content: 'word '.repeat(9) }, finish_reason: null }],
        usage: { prompt_tokens: 9, completion_tokens: output, total_tokens: 9 + output },
      });
    const { passed, end, meter } = filtered([counted(1), counted(2)], { closes: true });
    expect({ passed, end }).toEqual({ passed: [counted(1), counted(2)], end: 'failed' });
    expect(meter.reported()).toEqual({ input: 9n, cachedInput: 0n, output: 2n });
  });

  it('are incomplete until each answer gave its reason to end', () => {
    const second = data({ choices: [{ index: 1, delta: { content: 'b' } }] });
    expect(filtered([delta('a') + second + STOP + STOP], { closes: true }).end).toBe('failed');
  });
});

describe('the events of other dialects', () => {
  it('end with message_stop, and need it', () => {
    const start = { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } };
    const events = [
      `event: message_start\n${data(start)}`,
      `event: message_stop\n${data({ type: 'message_stop' })}`,
    ];
    expect(filtered(events, { kind: 'messages' })).toMatchObject({ end: 'done', last: events[1], count: 1 });
    expect(filtered(events.slice(0, 1), { kind: 'messages', closes: true }).end).toBe('failed');
  });

  it.each([
    ['response.completed', 'done'],
    ['response.incomplete', 'done'],
    ['response.failed', 'failed'],
    ['error', 'failed'],
  ])('of responses end with %s', (type, end) => {
    const event = `event: ${type}\n${data({ type, response: { usage: { input_tokens: 1, output_tokens: 1 } } })}`;
    const result = filtered([event], { kind: 'responses' });
    expect(result).toMatchObject({ end, last: end === 'done' ? event : null, passed: [''] });
  });
});

describe('the events of contents', () => {
  const piece = (text: string, finishReason?: string) =>
    data({ candidates: [{ content: { parts: [{ text }] }, finishReason, index: 0 }] });
  const usage = data({ usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 } });
  const kind = 'contents';

  it('end when the stream closes, and the one that says why is kept until then', () => {
    const events = [piece('a'), piece('b', 'STOP')];
    const { passed, end, last, count } = filtered(events, { kind, closes: true });
    expect({ passed, end, last, count }).toEqual({
      passed: [events[0], ''],
      end: 'done',
      last: events[1],
      count: 1,
    });
  });

  it('continue after such an event, which is then sent; a comment waits with it', () => {
    const events = [piece('a', 'STOP'), ': ping\n\n', piece('b', 'STOP'), usage];
    const { passed, last, meter } = filtered(events, { kind, closes: true });
    expect(passed).toEqual(['', '', `${events[0]}${events[1]}`, events[2]]);
    expect(last).toBe(usage);
    expect(meter.reported()).toEqual({ input: 9n, cachedInput: 0n, output: 2n });
  });

  it('are complete without the last blank line, but not without a reason to end', () => {
    const cut = piece('b', 'STOP').trimEnd();
    expect(filtered([piece('a'), cut], { kind, closes: true })).toMatchObject({
      end: 'done',
      last: `${cut}\n\n`,
    });
    expect(filtered([piece('a')], { kind, closes: true })).toMatchObject({ end: 'failed', last: null });
    const half = filtered([piece('a', 'STOP'), piece('b').slice(0, 9)], { kind, closes: true });
    expect(half).toMatchObject({ end: 'done', last: piece('a', 'STOP') });
  });

  it('end with an upstream error, which is not passed on, unlike what was kept', () => {
    const events = [piece('a'), piece('b', 'STOP'), data({ error: { code: 503 } })];
    const { passed, end, last, count } = filtered(events, { kind });
    expect({ passed, end, last, count }).toEqual({
      passed: [events[0], '', events[1]],
      end: 'failed',
      last: null,
      count: 2,
    });
    expect(filtered([events.join('')], { kind }).passed).toEqual([`${events[0]}${events[1]}`]);
  });

  it('end with a [DONE] too, which is not passed on, but not without a reason to end', () => {
    const end = piece('b', 'STOP');
    for (const chunks of [[piece('a'), end, DONE], [`${piece('a')}${end}${DONE}`]])
      expect(filtered(chunks, { kind })).toMatchObject({ end: 'done', last: end, count: 1 });
    const unended = filtered([piece('a'), `${end}data: [DONE]`], { kind, closes: true });
    expect(unended).toMatchObject({ end: 'done', last: end });
    expect(filtered([piece('a'), DONE], { kind })).toMatchObject({ end: 'failed', last: null, count: 1 });
  });

  it('keep one that follows the reason to end without its blank line', () => {
    const { last, meter } = filtered([piece('b', 'STOP'), usage.trimEnd()], { kind, closes: true });
    expect(last).toBe(`${piece('b', 'STOP')}${usage}`);
    expect(meter.reported()).toEqual({ input: 9n, cachedInput: 0n, output: 2n });
    const failed = filtered([piece('b', 'STOP'), data({ error: {} }).trimEnd()], { kind, closes: true });
    expect(failed).toMatchObject({ end: 'failed', last: null, count: 1 });
  });
});

it('end at an event too long to be counted, and none of it passes', () => {
  const image = `data: {"candidates":[{"content":{"parts":[{"inlineData":{"data":"${'A'.repeat(17 * 1024 * 1024)}`;
  const { passed, end } = filtered([image], { kind: 'contents' });
  expect([passed.join(''), end]).toEqual(['', 'too-long']);
});
