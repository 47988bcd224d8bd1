import {
  type DocumentedAnswer,
  json,
  type Operation,
  type Schema,
  answer,
  jsonAnswer,
  schema,
} from '../openapi/operation.js';
import { conversationBodies } from './conversation-bodies.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Conversation';
const PASSED_ON =
  "The vendor's fields are passed on unchanged, except those that cost more than tokens, which are refused by name. The model's answer is passed on unchanged.";

/** A whole answer, or its events. */
function answered(whole: Schema): Record<number, DocumentedAnswer> {
  const content = { 'application/json': { anyOf: [whole, DRY_RUN] }, 'text/event-stream': null };
  return { 200: { description: 'The answer, complete or as a stream. Actual usage is charged.', content } };
}

export const createChatCompletionOperation: Operation = {
  id: 'createChatCompletion',
  tag: TAG,
  summary: 'Create a chat completion.',
  description: PASSED_ON,
  body: json(conversationBodies.chat.schema(MODEL_CHOICE)),
  answers: answered(
    schema.object(
      {
        id: schema.text(),
        object: { const: 'chat.completion' },
        model: schema.text(),
        choices: schema.list({ type: 'object' }),
        usage: schema.object({
          prompt_tokens: schema.integer(),
          completion_tokens: schema.integer(),
          total_tokens: schema.integer(),
        }),
      },
      ['usage'],
    ),
  ),
};

export const createResponseOperation: Operation = {
  id: 'createResponse',
  tag: TAG,
  summary: 'Create a response.',
  description: `${PASSED_ON} Answers are not stored: \`background\` must be false, \`store\` counts as false, and ids of stored answers, prompts and files are refused.`,
  body: json(conversationBodies.responses.schema(MODEL_CHOICE)),
  answers: answered(
    schema.object(
      {
        id: schema.text(),
        object: { const: 'response' },
        model: schema.text(),
        output: schema.list({ type: 'object' }),
        usage: schema.object({ input_tokens: schema.integer(), output_tokens: schema.integer() }),
      },
      ['usage'],
    ),
  ),
};

export const createMessageOperation: Operation = {
  id: 'createMessage',
  tag: TAG,
  summary: 'Create a message.',
  description: PASSED_ON,
  headers: { 'anthropic-version': schema.text('Sent by clients of this API style.') },
  body: json(conversationBodies.messages.schema(MODEL_CHOICE)),
  answers: answered(
    schema.object({
      id: schema.text(),
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: schema.text(),
      content: schema.list({ type: 'object' }),
      usage: schema.object({ input_tokens: schema.integer(), output_tokens: schema.integer() }),
    }),
  ),
};

export const createEmbeddingOperation: Operation = {
  id: 'createEmbedding',
  tag: TAG,
  summary: 'Create embeddings.',
  description: 'Charged by input tokens.',
  body: json(conversationBodies.embeddings.schema(MODEL_CHOICE)),
  answers: jsonAnswer('One vector per text.', {
    anyOf: [
      schema.object({
        object: { const: 'list' },
        data: schema.list(
          schema.object({
            object: { const: 'embedding' },
            index: schema.integer(),
            embedding: { anyOf: [schema.list({ type: 'number' }), schema.text('Base64.')] },
          }),
        ),
        model: schema.text(),
        usage: schema.object({ prompt_tokens: schema.integer(), total_tokens: schema.integer() }),
      }),
      DRY_RUN,
    ],
  }),
};

export const createSpeechOperation: Operation = {
  id: 'createSpeech',
  tag: TAG,
  summary: 'Generate speech.',
  description: PASSED_ON,
  body: json(conversationBodies.speech.schema(MODEL_CHOICE)),
  answers: answer('The audio, as it is generated.', {
    'audio/*': null,
    'text/event-stream': null,
    'application/json': DRY_RUN,
  }),
};
