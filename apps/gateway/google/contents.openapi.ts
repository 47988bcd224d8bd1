import {
  json,
  type Operation,
  request,
  type Schema,
  answer,
  jsonAnswer,
  schema,
} from '../openapi/operation.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';
import { COUNT_REFUSALS, countIn } from '../tokens/token-count.openapi.js';

const TAG = 'Native style';
const PASSED_ON =
  "The vendor's fields are passed on unchanged, except those that cost more than tokens, which are refused by name. The model's answer is passed on, including images.";
const path = { model: 'The name of the model, without `models/`.' };

const PART: Schema = {
  type: 'object',
  description: 'Text, an image or document as `inlineData`, its URL as `fileData`, or a function call.',
};
const CONTENT = request({ parts: schema.list(PART) }, { role: schema.text() });
const CONTENTS = schema.list(CONTENT, { minItems: 1 });
const INPUT = {
  systemInstruction: request({ parts: schema.list(PART) }),
  tools: schema.list(
    { type: 'object' },
    { description: 'Only `functionDeclarations` are supported: functions that the client runs.' },
  ),
  toolConfig: { type: 'object' },
} satisfies Record<string, Schema>;
const BODY = request(
  { contents: CONTENTS },
  {
    ...INPUT,
    generationConfig: request(
      {},
      {
        maxOutputTokens: schema.integer(
          'The maximum length of the answer in tokens, for which credits are held.',
          { minimum: 1 },
        ),
        candidateCount: schema.integer('The number of answers.', { minimum: 1, maximum: 128 }),
        responseModalities: schema.list(schema.text(undefined, { enum: ['TEXT', 'IMAGE'] })),
      },
    ),
    safetySettings: schema.list({ type: 'object' }),
    ...MODEL_CHOICE,
  },
);

const USAGE = schema.object({ promptTokenCount: schema.integer() });
const ANSWER = schema.object(
  { candidates: schema.list({ type: 'object' }), modelVersion: schema.text(), usageMetadata: USAGE },
  ['candidates', 'modelVersion', 'usageMetadata'],
);

export const generateContentOperation: Operation = {
  id: 'generateContent',
  tag: TAG,
  summary: 'Generate content.',
  description: PASSED_ON,
  ending: '{model}:generateContent',
  path,
  body: json(BODY),
  answers: jsonAnswer('The answer. Actual usage is charged.', { anyOf: [ANSWER, DRY_RUN] }),
  refusals: ['unknown_url', 'unknown_parameter', 'invalid_image'],
};

export const streamGenerateContentOperation: Operation = {
  ...generateContentOperation,
  id: 'streamGenerateContent',
  summary: 'Generate content as server-sent events.',
  ending: '{model}:streamGenerateContent',
  query: { alt: schema.text('`sse`, as sent by SDKs. It is the only format of streams.', { const: 'sse' }) },
  answers: answer('The answer in chunks. Actual usage is charged.', {
    'text/event-stream': null,
    'application/json': DRY_RUN,
  }),
};

export const countTokensOperation: Operation = {
  id: 'countTokens',
  tag: TAG,
  summary: 'Count the tokens of contents.',
  description: 'Free. Takes `contents`, or a complete request as `generateContentRequest`.',
  free: true,
  ending: '{model}:countTokens',
  path,
  body: json({
    anyOf: [
      request({ contents: CONTENTS }, INPUT),
      request({ generateContentRequest: request({ contents: CONTENTS }, INPUT) }),
    ],
  }),
  answers: countIn('totalTokens'),
  refusals: ['unknown_url', ...COUNT_REFUSALS],
};
