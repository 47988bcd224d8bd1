import { flagSchema, listSchema, objectSchema, type Schema, textSchema } from '../openapi/operation.js';
import { MAX_MODELS } from './model-choice.js';

/** The fields by which a request chooses among models. */
export const MODEL_CHOICE = {
  models: listSchema(textSchema(undefined, { examples: ['vendora-chat'] }), {
    maxItems: MAX_MODELS,
    description:
      'Models to ask in this order after `model`: the next one is asked when a model cannot take the request, and nothing of it was charged. `x-served-model` names the one that answered and is charged, `x-failed-models` those before it.',
  }),
  dry_run: flagSchema(
    'Answers what the request would cost and which model would serve it; nothing is held or sent.',
  ),
};

export const DRY_RUN: Schema = objectSchema({
  object: { const: 'dry_run' },
  model: textSchema('The one that would be asked first.'),
  models: listSchema({
    anyOf: [
      objectSchema({
        model: textSchema(),
        available: { const: true },
        amount: textSchema('What would be held, the most that it can cost. Credits, a decimal string.'),
        units: textSchema('A whole number: images, calls, or tokens at most.'),
      }),
      objectSchema({
        model: textSchema(),
        available: { const: false },
        error: objectSchema({ code: textSchema(), message: textSchema() }),
      }),
    ],
  }),
});
