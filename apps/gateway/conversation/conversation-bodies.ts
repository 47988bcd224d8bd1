import type { WrittenKind } from '#upstream/outcomes.js';
import { declareBody, type DeclaredField, fieldOf, MODEL } from '../http/declared-body.js';
import { optionalBoolean, optionalWord, requiredString } from '../http/fields.js';
import { MAX_EMBEDDED, MAX_LANGUAGE_CHARS, MAX_PROMPT_CHARS, MAX_SPEECH_CHARS } from '../http/limits.js';
import { schema } from '../openapi/operation.js';
import { answerFormats, granularities } from '../transcriptions/transcript-text.js';

/** OpenAI's own limit. */
const MAX_CHOICES = 128;
/** The longest vectors of vendors' models, which fit into the longest answer that is passed on. */
const MAX_DIMENSIONS = 4_096;
/** `0.25`, in a form. */
const MAX_TEMPERATURE_CHARS = 20;
/** More than any model writes. The model's own limit caps the hold. */
const MAX_TOKENS_ASKED = 10_000_000;

export const ANSWER_TOKENS = fieldOf.whole(
  { minimum: 1, maximum: MAX_TOKENS_ASKED },
  'The maximum length of the answer in tokens, for which credits are held.',
);
export const CHOICES = fieldOf.whole({ minimum: 1, maximum: MAX_CHOICES }, 'The number of answers.');

const OBJECTS = schema.list({ type: 'object' }, { minItems: 1 });
const MESSAGES = fieldOf.own(OBJECTS);
const TEXT = schema.text(undefined, { minLength: 1 });
const TOOLS = fieldOf.own(
  schema.list({ type: 'object' }, { description: 'Functions and tools that the client runs.' }),
);
const STREAM = fieldOf.flag('Stream the answer as server-sent events.');

const SPOKEN: DeclaredField<string> = {
  schema: schema.text(undefined, { minLength: 1, maxLength: MAX_SPEECH_CHARS }),
  read: (body, param) => requiredString(body, param, MAX_SPEECH_CHARS),
};

const HEARD = {
  prompt: fieldOf.text(MAX_PROMPT_CHARS, 'Words that are likely to occur in the audio.'),
  response_format: fieldOf.word(answerFormats, 'Default: `json`. `srt` and `vtt` are subtitles.'),
  temperature: fieldOf.text(MAX_TEMPERATURE_CHARS, 'From 0 to 1.'),
};

/** In a form all values are text. `hearingFields` has read it. */
const FORM_STREAM: DeclaredField<boolean | undefined> = {
  schema: schema.words(
    ['true', 'false'],
    'Stream the answer as server-sent events, if the model is priced by the token and the format is `json`.',
  ),
  read: optionalBoolean,
};

const GRANULARITIES: DeclaredField<void> = {
  schema: schema.list(schema.words(granularities), {
    description: 'For `verbose_json`. Repeat the field for each, with or without brackets.',
  }),
  read: (body, param) => {
    const times = body[param];
    for (const each of Array.isArray(times) ? (times as unknown[]) : [])
      optionalWord({ [param]: each }, param, granularities);
  },
};

/** The described fields of each dialect. The vendors' other fields are in `conversation-fields.ts`. */
export const conversationBodies = {
  chat: declareBody(
    { model: MODEL, messages: MESSAGES },
    {
      max_completion_tokens: ANSWER_TOKENS,
      max_tokens: ANSWER_TOKENS,
      n: CHOICES,
      stream: STREAM,
      stream_options: fieldOf.own({ type: 'object', properties: { include_usage: { type: 'boolean' } } }),
      tools: TOOLS,
    },
  ),
  responses: declareBody(
    { model: MODEL, input: fieldOf.own({ anyOf: [TEXT, OBJECTS] }) },
    {
      max_output_tokens: ANSWER_TOKENS,
      stream: STREAM,
      background: fieldOf.flag('Must be false.'),
      tools: TOOLS,
    },
  ),
  messages: declareBody(
    { model: MODEL, messages: MESSAGES, max_tokens: ANSWER_TOKENS },
    { stream: STREAM, tools: TOOLS },
  ),
  embeddings: declareBody(
    {
      model: MODEL,
      input: fieldOf.own({
        anyOf: [TEXT, schema.list({}, { minItems: 1 })],
        description: `A text or up to ${MAX_EMBEDDED} texts. Each can also be given as tokens.`,
        examples: ['a lighthouse at dusk'],
      }),
    },
    {
      dimensions: fieldOf.whole(
        { minimum: 1, maximum: MAX_DIMENSIONS },
        'The length of the vectors, if the model supports a choice.',
      ),
      encoding_format: fieldOf.word(['float', 'base64']),
    },
  ),
  speech: declareBody(
    { model: MODEL, input: SPOKEN, voice: fieldOf.own({ type: ['string', 'object'] }) },
    {
      instructions: fieldOf.text(MAX_SPEECH_CHARS),
      stream_format: fieldOf.word(['audio', 'sse']),
      response_format: fieldOf.own(schema.text('Such as `mp3`.')),
    },
  ),
  transcription: declareBody(
    { model: MODEL },
    {
      language: fieldOf.text(MAX_LANGUAGE_CHARS, 'The language of the audio, such as `en`.'),
      timestamp_granularities: GRANULARITIES,
      stream: FORM_STREAM,
      ...HEARD,
    },
  ),
  translation: declareBody({ model: MODEL }, HEARD),
} satisfies Record<Exclude<WrittenKind, 'contents'>, unknown>;
