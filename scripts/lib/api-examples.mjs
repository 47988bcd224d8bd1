// Bodies of the examples in the API reference, by operation. Those of the gateway are run by test/docs, so each of its
// routes with a body needs one; what has none gets a value that its schema allows.
const PROMPT = 'a lighthouse at dusk';
const MESSAGES = [{ role: 'user', content: 'Name three lighthouses.' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'Name three lighthouses.' }] }];

const GATEWAY = {
  generateImages: { model: 'vendora-imagine-image', prompt: PROMPT, n: 1, size: '1024x1024' },
  editImages: {
    model: 'vendora-imagine-edit',
    prompt: 'at night',
    image:
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  },
  createVideo: { model: 'vendora-imagine-video', prompt: PROMPT, seconds: '4', resolution: '720p' },
  generateVideo: { model: 'vendora-imagine-video', prompt: PROMPT, duration: 4 },
  remixVideo: { prompt: 'the same, at dawn' },
  createAsset: { model: 'vendora-3d', prompt: 'a small lighthouse' },
  predict: { instances: [{ prompt: PROMPT }], parameters: { sampleCount: 1 } },
  predictLongRunning: { instances: [{ prompt: PROMPT }], parameters: { durationSeconds: 4 } },
  generateContent: { contents: CONTENTS, generationConfig: { maxOutputTokens: 100 } },
  streamGenerateContent: { contents: CONTENTS },
  countTokens: { contents: CONTENTS },
  createChatCompletion: { model: 'vendora-chat', messages: MESSAGES, max_tokens: 100 },
  createResponse: { model: 'vendora-chat', input: 'Name three lighthouses.' },
  createMessage: { model: 'vendora-messages', messages: MESSAGES, max_tokens: 100 },
  countMessageTokens: { model: 'vendora-messages', messages: MESSAGES },
  createEmbedding: { model: 'vendora-embed', input: 'a lighthouse at dusk' },
  createTranscription: { model: 'vendora-transcribe', file: '@speech.wav' },
  createTranslation: { model: 'vendora-transcribe', file: '@speech.wav', response_format: 'srt' },
  createSpeech: { model: 'vendora-speech', input: 'The light is on.', voice: 'alloy' },
};

/** The body of an operation's example, or undefined. */
export function exampleBody(api, operationId) {
  return api === 'gateway' ? GATEWAY[operationId] : undefined;
}

/** What the braces of a path hold in its example, or undefined. */
export function examplePath(operationId) {
  return {
    predict: 'imgmodel-4',
    predictLongRunning: 'vidmodel-3',
    generateContent: 'chatmodel-2',
    streamGenerateContent: 'chatmodel-2',
    countTokens: 'chatmodel-2',
  }[operationId];
}

/** What the address of an operation must have behind its path; empty for most. */
export function exampleQuery(operationId) {
  return { streamGenerateContent: '?alt=sse' }[operationId] ?? '';
}
