/** A request that works in a new installation. */
interface RequestExample {
  readonly body: Readonly<Record<string, unknown>>;
  /** Values for the braces of its path. */
  readonly path?: Readonly<Record<string, string>>;
}

const PROMPT = 'a lighthouse at dusk';
const QUESTION = 'Name three lighthouses.';
const MESSAGES = [{ role: 'user', content: QUESTION }];
const CONTENTS = [{ role: 'user', parts: [{ text: QUESTION }] }];
/** An image of one pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** One for each operation with a body, by its id. */
export const requestExamples: Readonly<Record<string, RequestExample>> = {
  generateImages: {
    body: { model: 'vendora-imagine-image', prompt: PROMPT, n: 1, size: '1024x1024' },
  },
  editImages: { body: { model: 'vendora-imagine-edit', prompt: 'at night', image: PIXEL } },
  createVideo: {
    body: { model: 'vendora-imagine-video', prompt: PROMPT, seconds: '4', resolution: '720p' },
  },
  generateVideo: { body: { model: 'vendora-imagine-video', prompt: PROMPT, duration: 4 } },
  remixVideo: { body: { prompt: 'the same, at dawn' } },
  createAsset: { body: { model: 'vendora-3d', prompt: 'a small lighthouse' } },
  predict: {
    body: { instances: [{ prompt: PROMPT }], parameters: { sampleCount: 1 } },
    path: { model: 'imgmodel-4' },
  },
  predictLongRunning: {
    body: { instances: [{ prompt: PROMPT }], parameters: { durationSeconds: 4 } },
    path: { model: 'vidmodel-3' },
  },
  generateContent: {
    body: { contents: CONTENTS, generationConfig: { maxOutputTokens: 100 } },
    path: { model: 'chatmodel-2' },
  },
  streamGenerateContent: { body: { contents: CONTENTS }, path: { model: 'chatmodel-2' } },
  countTokens: { body: { contents: CONTENTS }, path: { model: 'chatmodel-2' } },
  createChatCompletion: { body: { model: 'vendora-chat', messages: MESSAGES, max_tokens: 100 } },
  createResponse: { body: { model: 'vendora-chat', input: QUESTION } },
  createMessage: { body: { model: 'vendora-messages', messages: MESSAGES, max_tokens: 100 } },
  countMessageTokens: { body: { model: 'vendora-messages', messages: MESSAGES } },
  createEmbedding: { body: { model: 'vendora-embed', input: PROMPT } },
  createTranscription: { body: { model: 'vendora-transcribe', file: 'speech.wav' } },
  createTranslation: { body: { model: 'vendora-transcribe', file: 'speech.wav', response_format: 'srt' } },
  createSpeech: { body: { model: 'vendora-speech', input: 'The light is on.', voice: 'alloy' } },
};
