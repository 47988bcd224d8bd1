// Bodies of the examples in the API reference. What has none here gets a value that its schema allows.
const PROMPT = 'a lighthouse at dusk';
const MESSAGES = [{ role: 'user', content: 'Name three lighthouses.' }];

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
  createAsset: { model: 'vendora-3d', prompt: 'a small lighthouse' },
  predict: { instances: [{ prompt: PROMPT }], parameters: { sampleCount: 1 } },
  predictLongRunning: { instances: [{ prompt: PROMPT }], parameters: { durationSeconds: 4 } },
  createChatCompletion: { model: 'vendora-chat', messages: MESSAGES, max_tokens: 100 },
  createResponse: { model: 'vendora-chat', input: 'Name three lighthouses.' },
  createMessage: { model: 'vendora-messages', messages: MESSAGES, max_tokens: 100 },
  createSpeech: { model: 'vendora-speech', input: 'The light is on.', voice: 'alloy' },
};

/** The body of an operation's example, or undefined. */
export function exampleBody(api, operationId) {
  return api === 'gateway' ? GATEWAY[operationId] : undefined;
}

/** What the braces of a path hold in its example, or undefined. */
export function examplePath(operationId) {
  return { predict: 'imgmodel-4', predictLongRunning: 'vidmodel-3' }[operationId];
}
