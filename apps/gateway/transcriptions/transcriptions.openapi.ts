import type { HearingKind } from '#upstream/outcomes.js';
import { conversationBodies } from '../conversation/conversation-bodies.js';
import { MAX_SOUND_BYTES } from '../http/limits.js';
import { type Operation, answer, schema } from '../openapi/operation.js';
import { DRY_RUN, FORM_MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Conversation';
const CHARGED =
  'Charged by the second of audio or by the token, depending on the model, according to the usage reported by the vendor and never more than the hold. The hold follows from the length of the file, which is counted from its frames. A file whose length cannot be determined is refused.';

const FILE = schema.text(
  `The audio, at most ${MAX_SOUND_BYTES} bytes: flac, mp3, mp4, m4a, ogg, wav or webm, containing PCM, MP3, AAC, Opus, Vorbis or FLAC. Its name and type are ignored.`,
  { contentMediaType: 'application/octet-stream' },
);
const TRANSCRIPT = schema.object({ text: schema.text() });

function hearing(kind: HearingKind, operation: Pick<Operation, 'id' | 'summary'>): Operation {
  const { properties, required = [] } = conversationBodies[kind].schema(FORM_MODEL_CHOICE);
  const form = { type: 'object', properties: { file: FILE, ...properties }, required: ['file', ...required] };
  return {
    ...operation,
    tag: TAG,
    description: CHARGED,
    body: { 'multipart/form-data': form },
    answers: answer('The text in the requested format.', {
      'application/json': { anyOf: [TRANSCRIPT, DRY_RUN] },
      'text/plain': null,
      ...(kind === 'transcription' && { 'text/event-stream': null }),
    }),
  };
}

export const createTranscriptionOperation = hearing('transcription', {
  id: 'createTranscription',
  summary: 'Transcribe audio.',
});

export const createTranslationOperation = hearing('translation', {
  id: 'createTranslation',
  summary: 'Translate audio to English.',
});
