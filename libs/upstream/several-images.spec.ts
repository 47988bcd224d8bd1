import { expect, it } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import type { ImageOutcome } from './outcomes.js';
import { severalImages } from './several-images.js';

const { signal } = new AbortController();

const outcomes: Record<string, ImageOutcome> = {
  made: { kind: 'delivered', images: [{ url: 'x' }], upstreamStatus: 200 },
  unclear: { kind: 'unknown', reason: 'lost', upstreamStatus: null },
  refused: { kind: 'refused', status: 400, code: 'upstream_rejected', message: 'no', upstreamStatus: 400 },
  turned: { kind: 'not_accepted', reason: 'busy', upstreamStatus: 429 },
};

it.each([
  ['made made', 'delivered', 2],
  ['made turned refused', 'delivered', 1],
  ['unclear made', 'delivered', 1],
  ['turned unclear refused', 'unknown', 0],
  ['turned refused', 'refused', 0],
  ['turned turned', 'not_accepted', 0],
])('%s result in %s', async (words, kind, images) => {
  const queue = words.split(' ').map((word) => outcomes[word]!);
  const ask = () => Promise.resolve(queue.shift()!);
  const outcome = await severalImages({ maxConcurrency: null }, { n: queue.length, signal, ask });
  expect(outcome.kind).toBe(kind);
  if (outcome.kind === 'delivered') expect(outcome.images).toHaveLength(images);
});

it('requests no more at a time than the channel may, and no more after a refusal', async () => {
  const ends: (() => void)[] = [];
  const answers = ['made', 'made', 'turned'].map((word) => outcomes[word]!);
  const ask = () => new Promise<ImageOutcome>((resolve) => ends.push(() => resolve(answers.shift()!)));
  const made = severalImages({ maxConcurrency: 2 }, { n: 10, signal, ask });
  expect(ends).toHaveLength(2);
  ends[0]!();
  ends[1]!();
  await setImmediate();
  expect(ends).toHaveLength(4);
  ends[2]!();
  await setImmediate();
  answers.push(outcomes['made']!);
  ends[3]!();
  await expect(made).resolves.toMatchObject({ kind: 'delivered', images: { length: 3 } });
  expect(ends).toHaveLength(4);
});
