import { json, listOf, nullable, type Operation, record, text, UNIX_SECONDS } from '../openapi/operation.js';

const TAG = 'Models';

const MODEL = record({ id: text(), object: { const: 'model' }, created: UNIX_SECONDS, owned_by: text() });
const ANTHROPIC_MODEL = record({
  type: { const: 'model' },
  id: text(),
  display_name: text(),
  created_at: text(undefined, { format: 'date-time' }),
});
const ANTHROPIC_LIST = record({
  data: listOf(ANTHROPIC_MODEL),
  has_more: { const: false },
  first_id: nullable(text()),
  last_id: nullable(text()),
});
const headers = { 'anthropic-version': text('Asks for the shapes of the messages style, errors included.') };

export const listModels: Operation = {
  id: 'listModels',
  tag: TAG,
  summary: 'The models that the key may call.',
  headers,
  answers: {
    200: {
      description: 'All of them: there is no further page.',
      content: json({ anyOf: [record({ object: { const: 'list' }, data: listOf(MODEL) }), ANTHROPIC_LIST] }),
    },
  },
  refusals: [],
};

export const retrieveModel: Operation = {
  id: 'retrieveModel',
  tag: TAG,
  summary: 'One model.',
  path: { id: 'The name of the model.' },
  headers,
  answers: { 200: { description: 'The model.', content: json({ anyOf: [MODEL, ANTHROPIC_MODEL] }) } },
  refusals: ['model_not_found'],
};
