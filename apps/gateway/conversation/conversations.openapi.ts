import { MAX_MODEL_CHARS, MAX_SPEECH_CHARS } from '../http/limits.js';
import {
  type Answer,
  flag,
  listOf,
  oneOfWords,
  type Operation,
  record,
  request,
  type Schema,
  text,
  whole,
} from '../openapi/operation.js';

const TAG = 'Conversation';
const PASSED_ON =
  'The fields of the vendor pass as they are, but for those that cost beyond tokens, which are refused by name. What the model answers is passed on.';

const model = text(undefined, { maxLength: MAX_MODEL_CHARS });
const MESSAGES = listOf({ type: 'object' }, { minItems: 1 });
const MAX_TOKENS = whole('The longest answer, in tokens: what is held for it.', { minimum: 1 });
const stream = flag('Answers by server-sent events.');
const tools = listOf({ type: 'object' }, { description: 'Functions, or tools that the client runs.' });

/** A whole answer, or its events. */
function answered(whole: Schema): Record<number, Answer> {
  const content = { 'application/json': whole, 'text/event-stream': null };
  return { 200: { description: 'The answer, whole or as a stream. What was used is charged.', content } };
}

export const createChatCompletion: Operation = {
  id: 'createChatCompletion',
  tag: TAG,
  summary: 'A chat completion.',
  description: PASSED_ON,
  body: {
    'application/json': request(
      { model, messages: MESSAGES },
      {
        max_completion_tokens: MAX_TOKENS,
        max_tokens: MAX_TOKENS,
        n: whole('Answers.', { minimum: 1, maximum: 128 }),
        stream,
        stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
        tools,
      },
    ),
  },
  answers: answered(
    record(
      {
        id: text(),
        object: { const: 'chat.completion' },
        model: text(),
        choices: listOf({ type: 'object' }),
        usage: record({ prompt_tokens: whole(), completion_tokens: whole(), total_tokens: whole() }),
      },
      ['usage'],
    ),
  ),
  refusals: [],
};

export const createResponse: Operation = {
  id: 'createResponse',
  tag: TAG,
  summary: 'A response.',
  description: `${PASSED_ON} Answers are not kept: \`background\` must be false.`,
  body: {
    'application/json': request(
      { model },
      {
        input: { anyOf: [text(undefined, { minLength: 1 }), MESSAGES] },
        prompt: { type: 'object', description: 'A stored prompt, which may be all the input.' },
        previous_response_id: text(),
        max_output_tokens: MAX_TOKENS,
        stream,
        background: flag('False.'),
        tools,
      },
    ),
  },
  answers: answered(
    record(
      {
        id: text(),
        object: { const: 'response' },
        model: text(),
        output: listOf({ type: 'object' }),
        usage: record({ input_tokens: whole(), output_tokens: whole() }),
      },
      ['usage'],
    ),
  ),
  refusals: [],
};

export const createMessage: Operation = {
  id: 'createMessage',
  tag: TAG,
  summary: 'A message.',
  description: PASSED_ON,
  headers: { 'anthropic-version': text('Sent by the clients of this style.') },
  body: {
    'application/json': request({ model, messages: MESSAGES, max_tokens: MAX_TOKENS }, { stream, tools }),
  },
  answers: answered(
    record({
      id: text(),
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: text(),
      content: listOf({ type: 'object' }),
      usage: record({ input_tokens: whole(), output_tokens: whole() }),
    }),
  ),
  refusals: [],
};

export const createSpeech: Operation = {
  id: 'createSpeech',
  tag: TAG,
  summary: 'Speaks a text.',
  description: PASSED_ON,
  body: {
    'application/json': request(
      {
        model,
        input: text(undefined, { minLength: 1, maxLength: MAX_SPEECH_CHARS }),
        voice: { type: ['string', 'object'] },
      },
      { stream_format: oneOfWords(['audio', 'sse']), response_format: text('Such as `mp3`.') },
    ),
  },
  answers: {
    200: {
      description: 'The audio, as it is generated.',
      content: { 'audio/*': null, 'text/event-stream': null },
    },
  },
  refusals: [],
};
