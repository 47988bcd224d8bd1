import { expect, it } from 'vitest';
import { operationNames } from './gemini.answers.js';

it.each(['4f1', 'operations/4f1', 'models/veo-3/operations/4f1'])(
  'finds the names of the operation that a webhook calls %s: one without a model and one for each model of the vendor',
  (id) => {
    expect(operationNames(id, ['veo-3', 'veo-3', 'veo-3-fast'])).toEqual([
      'operations/4f1',
      'models/veo-3/operations/4f1',
      'models/veo-3-fast/operations/4f1',
    ]);
  },
);
