import { routings } from '#catalog/channel-order.js';
import { type Schema, schema } from '../openapi/operation.js';
import { MAX_MODELS } from './model-choice.js';

/** The fields by which a request chooses among models. */
export const MODEL_CHOICE = {
  models: schema.list(schema.text(undefined, { examples: ['vendora-chat'] }), {
    maxItems: MAX_MODELS,
    description: `Fallback models, at most ${MAX_MODELS} with \`model\`, tried in this order after \`model\` if a model cannot take the request and nothing was charged. \`x-served-model\` names the model that answered and is charged, \`x-failed-models\` those tried before it.`,
  }),
  dry_run: schema.flag(
    'Returns what the request would cost and which model would serve it. Nothing is held or sent.',
  ),
};

/** The same in a form. */
export const FORM_MODEL_CHOICE = {
  models: schema.list(schema.text(), {
    description: 'Fallback models, tried in this order after `model`. Repeat the field for each.',
  }),
  dry_run: schema.words(['true', 'false'], 'Returns what the request would cost. Nothing is held or sent.'),
};

export const DRY_RUN: Schema = schema.object({
  object: { const: 'dry_run' },
  model: schema.text('The model that would be tried first.'),
  models: schema.list({
    anyOf: [
      schema.object({
        model: schema.text(),
        available: { const: true },
        amount: schema.text(
          'The amount that would be held, which is the most that the request can cost. Credits, as a decimal string.',
        ),
        units: schema.text('The number of images, seconds, calls or maximum tokens.'),
        routing: {
          enum: [...routings],
          description:
            'What decides which upstream of the model is asked first: the priority that the operator gave it, its cost, or how fast it answered lately.',
        },
      }),
      schema.object({
        model: schema.text(),
        available: { const: false },
        error: schema.object({ code: schema.text(), message: schema.text() }),
      }),
    ],
  }),
});
