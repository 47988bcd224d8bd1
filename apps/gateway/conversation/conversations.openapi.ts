import { MAX_EMBEDDED, MAX_MODEL_CHARS, MAX_SPEECH_CHARS } from '../http/limits.js';
import {
  type DocumentedAnswer,
  flagSchema,
  json,
  listSchema,
  oneOfWords,
  type Operation,
  objectSchema,
  request,
  type Schema,
  textSchema,
  integerSchema,
} from '../openapi/operation.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Conversation';
const PASSED_ON =
  "The vendor's fields are passed on unchanged, except those that cost more than tokens, which are refused by name. The model's answer is passed on unchanged.";

const model = textSchema(undefined, { maxLength: MAX_MODEL_CHARS });
const MESSAGES = listSchema({ type: 'object' }, { minItems: 1 });
const MAX_TOKENS = integerSchema('The maximum length of the answer in tokens, for which credits are held.', {
  minimum: 1,
});
const stream = flagSchema('Stream the answer as server-sent events.');
const tools = listSchema({ type: 'object' }, { description: 'Functions and tools that the client runs.' });

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
  body: {
    'application/json': request(
      { model, messages: MESSAGES },
      {
        max_completion_tokens: MAX_TOKENS,
        max_tokens: MAX_TOKENS,
        n: integerSchema('The number of answers.', { minimum: 1, maximum: 128 }),
        stream,
        stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
        tools,
        ...MODEL_CHOICE,
      },
    ),
  },
  answers: answered(
    objectSchema(
      {
        id: textSchema(),
        object: { const: 'chat.completion' },
        model: textSchema(),
        choices: listSchema({ type: 'object' }),
        usage: objectSchema({
          prompt_tokens: integerSchema(),
          completion_tokens: integerSchema(),
          total_tokens: integerSchema(),
        }),
      },
      ['usage'],
    ),
  ),
  refusals: [],
};

export const createResponseOperation: Operation = {
  id: 'createResponse',
  tag: TAG,
  summary: 'Create a response.',
  description: `${PASSED_ON} Answers are not stored: \`background\` must be false, \`store\` counts as false, and ids of stored answers, prompts and files are refused.`,
  body: {
    'application/json': request(
      {
        model,
        input: { anyOf: [textSchema(undefined, { minLength: 1 }), MESSAGES] },
      },
      {
        max_output_tokens: MAX_TOKENS,
        stream,
        background: flagSchema('Must be false.'),
        tools,
        ...MODEL_CHOICE,
      },
    ),
  },
  answers: answered(
    objectSchema(
      {
        id: textSchema(),
        object: { const: 'response' },
        model: textSchema(),
        output: listSchema({ type: 'object' }),
        usage: objectSchema({ input_tokens: integerSchema(), output_tokens: integerSchema() }),
      },
      ['usage'],
    ),
  ),
  refusals: [],
};

export const createMessageOperation: Operation = {
  id: 'createMessage',
  tag: TAG,
  summary: 'Create a message.',
  description: PASSED_ON,
  headers: { 'anthropic-version': textSchema('Sent by clients of this API style.') },
  body: {
    'application/json': request(
      { model, messages: MESSAGES, max_tokens: MAX_TOKENS },
      { stream, tools, ...MODEL_CHOICE },
    ),
  },
  answers: answered(
    objectSchema({
      id: textSchema(),
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: textSchema(),
      content: listSchema({ type: 'object' }),
      usage: objectSchema({ input_tokens: integerSchema(), output_tokens: integerSchema() }),
    }),
  ),
  refusals: [],
};

export const createEmbeddingOperation: Operation = {
  id: 'createEmbedding',
  tag: TAG,
  summary: 'Create embeddings.',
  description: 'Charged by input tokens.',
  body: {
    'application/json': request(
      {
        model,
        input: {
          anyOf: [textSchema(undefined, { minLength: 1 }), listSchema({}, { minItems: 1 })],
          description: `A text or up to ${MAX_EMBEDDED} texts. Each can also be given as tokens.`,
          examples: ['a lighthouse at dusk'],
        },
      },
      {
        dimensions: integerSchema('The length of the vectors, if the model supports a choice.', {
          minimum: 1,
        }),
        encoding_format: oneOfWords(['float', 'base64']),
        ...MODEL_CHOICE,
      },
    ),
  },
  answers: {
    200: {
      description: 'One vector per text.',
      content: json({
        anyOf: [
          objectSchema({
            object: { const: 'list' },
            data: listSchema(
              objectSchema({
                object: { const: 'embedding' },
                index: integerSchema(),
                embedding: { anyOf: [listSchema({ type: 'number' }), textSchema('Base64.')] },
              }),
            ),
            model: textSchema(),
            usage: objectSchema({ prompt_tokens: integerSchema(), total_tokens: integerSchema() }),
          }),
          DRY_RUN,
        ],
      }),
    },
  },
  refusals: [],
};

export const createSpeechOperation: Operation = {
  id: 'createSpeech',
  tag: TAG,
  summary: 'Generate speech.',
  description: PASSED_ON,
  body: {
    'application/json': request(
      {
        model,
        input: textSchema(undefined, { minLength: 1, maxLength: MAX_SPEECH_CHARS }),
        voice: { type: ['string', 'object'] },
      },
      {
        stream_format: oneOfWords(['audio', 'sse']),
        response_format: textSchema('Such as `mp3`.'),
        ...MODEL_CHOICE,
      },
    ),
  },
  answers: {
    200: {
      description: 'The audio, as it is generated.',
      content: { 'audio/*': null, 'text/event-stream': null, 'application/json': DRY_RUN },
    },
  },
  refusals: [],
};
