import { describe, expect, it } from 'vitest';
import type { ApiError } from '#platform/errors.js';
import { MAX_MODELS, readModelChoice } from './model-choice.js';

const many = (count: number) => Array.from({ length: count }, (_, at) => `m${at}`);

function fault(body: object): ApiError {
  try {
    readModelChoice({ ...body }, {});
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('it was accepted');
}

describe('the models of a request', () => {
  it.each<[string, object, string[], object]>([
    [
      'are each tried once',
      { model: 'a', models: ['b', 'a', 'b', ' ', ''] },
      [],
      { models: ['a', 'b'], named: 2 },
    ],
    ['may be a list alone', { models: ['a', 'b'] }, ['c'], { models: ['a', 'b'], named: 2 }],
    ['are followed by those of the key', { model: 'a' }, ['b', 'a'], { models: ['a', 'b'], named: 1 }],
    ['are also if the list is null', { model: 'a', models: null }, ['b'], { models: ['a', 'b'], named: 1 }],
    ['are not if there is a list, even an empty one', { model: 'a', models: [] }, ['b'], { models: ['a'] }],
    ['are never too many', { model: 'a' }, many(9), { models: ['a', ...many(MAX_MODELS - 1)], named: 1 }],
  ])('%s', (_what, body, fallbackModels, expected) => {
    expect(readModelChoice({ ...body }, { fallbackModels })).toMatchObject(expected);
  });

  it.each<[string, object, string]>([
    ['a list that is too long with the model', { model: 'a', models: many(MAX_MODELS) }, 'models'],
    ['a list of a million', { models: Array<string>(1_000_000).fill('a') }, 'models'],
    ['a name that is too long', { models: ['a'.repeat(100_000)] }, 'models'],
    ['a list in a list', { model: 'a', models: [['b']] }, 'models'],
    ['nothing but blanks', { model: ' ', models: [' '] }, 'model'],
  ])('are refused: %s', (_what, body, param) => {
    expect(fault(body)).toMatchObject({ param });
  });
});
