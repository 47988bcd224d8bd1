import { expect, it } from '@jest/globals';
import type { ImageOutcome } from './outcomes.js';
import { severalImages } from './several-images.js';

const outcomes: Record<string, ImageOutcome> = {
  made: { kind: 'delivered', images: [{ url: 'x' }], upstreamStatus: 200 },
  unclear: { kind: 'unknown', reason: 'lost', upstreamStatus: null },
  refused: { kind: 'refused', status: 400, code: 'upstream_rejected', message: 'no', upstreamStatus: 400 },
  turned: { kind: 'not_accepted', reason: 'busy', upstreamStatus: 429 },
};

it.each([
  ['made made', 'delivered', 2],
  ['turned made refused', 'delivered', 1],
  ['unclear made', 'delivered', 1],
  ['turned unclear refused', 'unknown', 0],
  ['turned refused', 'refused', 0],
  ['turned turned', 'not_accepted', 0],
])('%s comes to %s', async (words, kind, images) => {
  const queue = words.split(' ').map((word) => outcomes[word]!);
  const outcome = await severalImages(queue.length, () => Promise.resolve(queue.shift()!));
  expect(outcome.kind).toBe(kind);
  if (outcome.kind === 'delivered') expect(outcome.images).toHaveLength(images);
});
