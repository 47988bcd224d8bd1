/** The placeholder of the key in lines that people copy. */
export const KEY_PLACEHOLDER = '<API_KEY>';

const IMAGE_MODEL = 'vendora-imagine-image';
const NATIVE_MODEL = 'imgmodel-4';
const MESSAGES_MODEL = 'vendora-messages';

/** The lines that matter for one kind of client. Names of programs and packages are the same in every language. */
export interface CodeSample {
  id: string;
  name: string;
  code: string;
}

/** @param baseUrl where calls for models go, without /v1 */
export function codeSamples(baseUrl: string): CodeSample[] {
  return [
    {
      id: 'curl',
      name: 'curl',
      code: `curl ${baseUrl}/v1/images/generations \\
  -H "Authorization: Bearer ${KEY_PLACEHOLDER}" -H "Content-Type: application/json" \\
  -d '{"model": "${IMAGE_MODEL}", "prompt": "a lighthouse at dusk"}'`,
    },
    {
      id: 'openai-js',
      name: 'OpenAI JavaScript',
      code: `import OpenAI from 'openai';
const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${KEY_PLACEHOLDER}' });
const { data } = await client.images.generate({ model: '${IMAGE_MODEL}', prompt: 'a lighthouse at dusk' });`,
    },
    {
      id: 'openai-python',
      name: 'OpenAI Python',
      code: `from openai import OpenAI
client = OpenAI(base_url="${baseUrl}/v1", api_key="${KEY_PLACEHOLDER}")
image = client.images.generate(model="${IMAGE_MODEL}", prompt="a lighthouse at dusk")`,
    },
    {
      id: 'google-genai',
      name: 'Google GenAI',
      code: `import { GoogleGenAI } from '@google/genai';
const ai = new GoogleGenAI({ apiKey: '${KEY_PLACEHOLDER}', httpOptions: { baseUrl: '${baseUrl}' } });
const answer = await ai.models.generateImages({ model: '${NATIVE_MODEL}', prompt: 'a lighthouse at dusk' });`,
    },
    {
      id: 'ai-sdk',
      name: 'Vercel AI SDK',
      code: `import { createOpenAI } from '@ai-sdk/openai';
import { generateImage } from 'ai';

const relay = createOpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${KEY_PLACEHOLDER}' });
const { image } = await generateImage({ model: relay.image('${IMAGE_MODEL}'), prompt: 'a lighthouse at dusk' });`,
    },
    {
      id: 'anthropic',
      name: 'Anthropic',
      code: `import Anthropic from '@anthropic-ai/sdk';
const client = new Anthropic({ baseURL: '${baseUrl}', authToken: '${KEY_PLACEHOLDER}' });
await client.messages.create({ model: '${MESSAGES_MODEL}', max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] });`,
    },
  ];
}
