import { MAX_LANGUAGE_CHARS, MAX_MODEL_CHARS, MAX_PROMPT_CHARS, MAX_SOUND_BYTES } from '../http/limits.js';
import {
  listSchema,
  objectSchema,
  oneOfWords,
  type Operation,
  request,
  type Schema,
  textSchema,
} from '../openapi/operation.js';
import { DRY_RUN } from '../routing/routing.openapi.js';
import { answerFormats, granularities } from './transcript-text.js';

const TAG = 'Conversation';
const CHARGED =
  'Charged by the seconds that were heard, or by the tokens that were used, as the model is priced; what the vendor reports counts, and never more than what was held. What is held follows from the file: its length is counted from its frames, and a file whose length cannot be read is refused.';

const required = {
  file: textSchema(
    `The audio, at most ${MAX_SOUND_BYTES} bytes: flac, mp3, mp4, m4a, ogg, wav or webm, with PCM, MP3, AAC, Opus, Vorbis or FLAC inside. Its name and type are not read.`,
    { contentMediaType: 'application/octet-stream' },
  ),
  model: textSchema(undefined, { maxLength: MAX_MODEL_CHARS }),
};
const optional = {
  prompt: textSchema('Words that the audio is likely to have.', { maxLength: MAX_PROMPT_CHARS }),
  response_format: oneOfWords(answerFormats, '`json` without it. `srt` and `vtt` are subtitles.'),
  temperature: textSchema('From 0 to 1.'),
  models: listSchema(textSchema(), {
    description: 'Models to ask in this order after `model`, as with the other calls. Repeat the field.',
  }),
  dry_run: oneOfWords(['true', 'false'], 'Answers what the request would cost; nothing is held or sent.'),
};

const TRANSCRIPT = objectSchema({ text: textSchema() });

function hearing(operation: Pick<Operation, 'id' | 'summary'>, fields: Record<string, Schema>): Operation {
  const isStreamed = 'stream' in fields;
  return {
    ...operation,
    tag: TAG,
    description: CHARGED,
    body: { 'multipart/form-data': request(required, { ...fields, ...optional }) },
    answers: {
      200: {
        description: 'The text, in the format that was asked for.',
        content: {
          'application/json': { anyOf: [TRANSCRIPT, DRY_RUN] },
          'text/plain': null,
          ...(isStreamed && { 'text/event-stream': null }),
        },
      },
    },
    refusals: [],
  };
}

export const createTranscriptionOperation = hearing(
  { id: 'createTranscription', summary: 'Transcribe audio.' },
  {
    language: textSchema('Of the audio, such as `en`.', { maxLength: MAX_LANGUAGE_CHARS }),
    timestamp_granularities: listSchema(oneOfWords(granularities), {
      description: 'With `verbose_json`. Repeat the field, with brackets or without.',
    }),
    stream: oneOfWords(
      ['true', 'false'],
      'Answers by server-sent events, where the model is priced by tokens and the format is `json`.',
    ),
  },
);

export const createTranslationOperation = hearing(
  { id: 'createTranslation', summary: 'Translate audio to English.' },
  {},
);
