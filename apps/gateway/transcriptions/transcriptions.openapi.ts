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
  'Charged by the second of audio or by the token, depending on the model, according to the usage reported by the vendor and never more than the hold. The hold follows from the length of the file, which is counted from its frames. A file whose length cannot be determined is refused.';

const required = {
  file: textSchema(
    `The audio, at most ${MAX_SOUND_BYTES} bytes: flac, mp3, mp4, m4a, ogg, wav or webm, containing PCM, MP3, AAC, Opus, Vorbis or FLAC. Its name and type are ignored.`,
    { contentMediaType: 'application/octet-stream' },
  ),
  model: textSchema(undefined, { maxLength: MAX_MODEL_CHARS }),
};
const optional = {
  prompt: textSchema('Words that are likely to occur in the audio.', { maxLength: MAX_PROMPT_CHARS }),
  response_format: oneOfWords(answerFormats, 'Default: `json`. `srt` and `vtt` are subtitles.'),
  temperature: textSchema('From 0 to 1.'),
  models: listSchema(textSchema(), {
    description: 'Fallback models, tried in this order after `model`. Repeat the field for each.',
  }),
  dry_run: oneOfWords(['true', 'false'], 'Returns what the request would cost. Nothing is held or sent.'),
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
        description: 'The text in the requested format.',
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
    language: textSchema('The language of the audio, such as `en`.', { maxLength: MAX_LANGUAGE_CHARS }),
    timestamp_granularities: listSchema(oneOfWords(granularities), {
      description: 'For `verbose_json`. Repeat the field for each, with or without brackets.',
    }),
    stream: oneOfWords(
      ['true', 'false'],
      'Stream the answer as server-sent events, if the model is priced by the token and the format is `json`.',
    ),
  },
);

export const createTranslationOperation = hearing(
  { id: 'createTranslation', summary: 'Translate audio to English.' },
  {},
);
