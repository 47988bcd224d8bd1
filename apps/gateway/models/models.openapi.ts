import {
  listSchema,
  nullable,
  type Operation,
  objectSchema,
  textSchema,
  UNIX_SECONDS,
  jsonAnswer,
} from '../openapi/operation.js';

const TAG = 'Models';

const MODEL = objectSchema({
  id: textSchema(),
  object: { const: 'model' },
  created: UNIX_SECONDS,
  owned_by: textSchema(),
});
const ANTHROPIC_MODEL = objectSchema({
  type: { const: 'model' },
  id: textSchema(),
  display_name: textSchema(),
  created_at: textSchema(undefined, { format: 'date-time' }),
});
const ANTHROPIC_LIST = objectSchema({
  data: listSchema(ANTHROPIC_MODEL),
  has_more: { const: false },
  first_id: nullable(textSchema()),
  last_id: nullable(textSchema()),
});
const headers = {
  'anthropic-version': textSchema('Selects the format of the messages API, also for errors.'),
};

export const listModelsOperation: Operation = {
  id: 'listModels',
  tag: TAG,
  summary: 'List the models the key can use.',
  headers,
  answers: jsonAnswer('All models, on one page.', {
    anyOf: [objectSchema({ object: { const: 'list' }, data: listSchema(MODEL) }), ANTHROPIC_LIST],
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
