import { nullable, type Operation, UNIX_SECONDS, jsonAnswer, schema } from '../openapi/operation.js';

const TAG = 'Models';

const MODEL = schema.object({
  id: schema.text(),
  object: { const: 'model' },
  created: UNIX_SECONDS,
  owned_by: schema.text(),
});
const ANTHROPIC_MODEL = schema.object({
  type: { const: 'model' },
  id: schema.text(),
  display_name: schema.text(),
  created_at: schema.text(undefined, { format: 'date-time' }),
});
const ANTHROPIC_LIST = schema.object({
  data: schema.list(ANTHROPIC_MODEL),
  has_more: { const: false },
  first_id: nullable(schema.text()),
  last_id: nullable(schema.text()),
});
const headers = {
  'anthropic-version': schema.text('Selects the format of the messages API, also for errors.'),
};

export const listModelsOperation: Operation = {
  id: 'listModels',
  tag: TAG,
  summary: 'List the models the key can use.',
  headers,
  answers: jsonAnswer('All models, on one page.', {
    anyOf: [schema.object({ object: { const: 'list' }, data: schema.list(MODEL) }), ANTHROPIC_LIST],
  }),
};

export const retrieveModelOperation: Operation = {
  id: 'retrieveModel',
  tag: TAG,
  summary: 'Get a model.',
  path: { id: 'The name of the model.' },
  headers,
  answers: jsonAnswer('The model.', { anyOf: [MODEL, ANTHROPIC_MODEL] }),
  refusals: ['model_not_found'],
};
