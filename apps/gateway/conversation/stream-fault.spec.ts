import { expect, it } from 'vitest';
import { ApiError } from '#platform/errors.js';
import type { StreamKind } from '#upstream/outcomes.js';
import { SseSplitter } from '#upstream/sse-splitter.js';
import { UsageMeter } from '#upstream/usage-meter.js';
import { faultEvent } from './stream-fault.js';

const fault = new ApiError('generation_failed', 'The answer broke off.');

it.each<[StreamKind, string | null]>([
  ['chat', null],
  ['responses', 'error'],
  ['messages', 'error'],
  ['contents', null],
  ['speech', null],
])('an error in mid-stream is one event in the format of %s', (kind, name) => {
  const [event, ...more] = new SseSplitter().push(faultEvent(kind, fault, { requestId: 'r1', ordinal: 4 }));
  expect(more).toEqual([]);
  expect(event?.event).toBe(name);
  expect(JSON.parse(event?.data ?? '')).toMatchObject({
    error: {
      message: expect.stringContaining('The answer broke off.'),
      ...(kind === 'contents' && { code: 502, status: 'INTERNAL' }),
    },
    ...(kind === 'chat' || kind === 'contents' ? {} : { type: 'error' }),
    ...(kind === 'responses' && { sequence_number: 4, code: 'generation_failed' }),
    ...(kind === 'messages' && { request_id: 'r1' }),
  });
  const meter = new UsageMeter(kind);
  if (event) meter.addEvent(event);
  expect(meter.end).toBe('failed');
});
