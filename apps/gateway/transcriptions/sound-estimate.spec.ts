import { expect, it } from 'vitest';
import { withWritten } from './sound-estimate.js';

const seconds = { most: 10_000n, likely: 9_999n };

it('leaves room for as long a text as its sound allows, if the model has no limit of its own', () => {
  const answer = { most: 16_384n, likely: 0n };
  expect(withWritten(answer, seconds, {})).toEqual({ most: 200_000n, likely: 0n });
  expect(withWritten(answer, { ...seconds, most: 10n }, {})).toEqual(answer);
  expect(withWritten(answer, seconds, { maxOutputTokens: 16_384 })).toEqual(answer);
});
