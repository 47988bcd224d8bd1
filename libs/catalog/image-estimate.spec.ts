import { expect, it } from 'vitest';
import { measureImages } from './image-estimate.js';

it.each([
  [{}, 0, 0n],
  [{}, 2, 15_000n],
  [{ maxInputTokens: 9_000 }, 0, 0n],
  [{ maxInputTokens: 9_000 }, 1, 9_000n],
  [{ maxInputTokens: 9_000 }, 3, 27_000n],
])('a model with limits %o is held for each input image, of %i', (limits, inputImages, read) => {
  const { most } = measureImages({ model: { limits }, prompts: ['a boat'], count: 1, inputImages });
  expect(most.imageInput).toBe(read);
});
