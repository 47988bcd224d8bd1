// Written by `npm run reference` from libs/upstream/adapters.ts.
export const protocols = [
  'openai-xai',
  'openai',
  'xai',
  'gemini',
  'vertex',
  'anthropic',
  'mesh3d',
  'meshy',
  'fal',
  'replicate',
  'bfl',
  'ark',
] as const;

/** Their vendors sign webhooks with a secret that the channel needs to know. */
export const withWebhookSecret: readonly string[] = ['openai', 'gemini', 'replicate'];
