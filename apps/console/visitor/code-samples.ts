import type { Code } from '../ui/code/code.js';

/** The placeholder for the key in code that people copy. */
export const KEY_PLACEHOLDER = '<API_KEY>';

export interface SampleModels {
  image: string;
  video: string;
  google: string;
  messages: string;
}

/** The sandbox's models. */
export const usualModels: SampleModels = {
  image: 'vendora-imagine-image',
  video: 'vendora-imagine-video',
  google: 'imgmodel-4',
  messages: 'vendora-messages',
};

/** A complete program for one client. Package names are not translated. */
export interface CodeSample extends Code {
  language: 'bash' | 'js' | 'python';
  use: keyof SampleModels;
}

/** Replaced in the code; `KEY_PLACEHOLDER` stays if people have no key yet. */
const BASE_URL = '<BASE_URL>';
const MODEL = '<MODEL>';

const SAMPLES: readonly CodeSample[] = [
  {
    id: 'curl',
    use: 'image',
    name: 'curl',
    language: 'bash',
    code: `curl ${BASE_URL}/v1/images/generations \\
  -H "Authorization: Bearer ${KEY_PLACEHOLDER}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${MODEL}", "prompt": "a lighthouse at dusk"}'`,
  },
  {
    id: 'openai-js',
    use: 'image',
    name: 'OpenAI JavaScript',
    language: 'js',
    code: `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${BASE_URL}/v1', apiKey: '${KEY_PLACEHOLDER}' });
const { data } = await client.images.generate({ model: '${MODEL}', prompt: 'a lighthouse at dusk' });
console.log(data[0].url);`,
  },
  {
    id: 'openai-python',
    use: 'image',
    name: 'OpenAI Python',
    language: 'python',
    code: `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${BASE_URL}/v1", api_key="${KEY_PLACEHOLDER}")
image = client.images.generate(model="${MODEL}", prompt="a lighthouse at dusk")
print(image.data[0].url)`,
  },
  {
    id: 'openai-video',
    use: 'video',
    name: 'OpenAI JavaScript (video)',
    language: 'js',
    code: `// npm install openai
import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${BASE_URL}/v1', apiKey: '${KEY_PLACEHOLDER}' });
let video = await client.videos.create({ model: '${MODEL}', prompt: 'waves at night', seconds: '4' });
while (!['completed', 'failed'].includes(video.status)) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  video = await client.videos.retrieve(video.id);
}
if (video.status === 'failed') throw new Error(video.error.message); // refunded
const file = await client.videos.downloadContent(video.id);
await writeFile('waves.mp4', Buffer.from(await file.arrayBuffer()));`,
  },
  {
    id: 'google-genai',
    use: 'google',
    name: 'Google GenAI',
    language: 'js',
    code: `// npm install @google/genai@1
import { writeFile } from 'node:fs/promises';
import { GoogleGenAI } from '@google/genai';

const ai = new GoogleGenAI({ apiKey: '${KEY_PLACEHOLDER}', httpOptions: { baseUrl: '${BASE_URL}' } });
const answer = await ai.models.generateImages({ model: '${MODEL}', prompt: 'a lighthouse at dusk' });
await writeFile('lighthouse.png', Buffer.from(answer.generatedImages[0].image.imageBytes, 'base64'));`,
  },
  {
    id: 'ai-sdk',
    use: 'image',
    name: 'Vercel AI SDK',
    language: 'js',
    code: `// npm install ai @ai-sdk/openai
import { writeFile } from 'node:fs/promises';
import { createOpenAI } from '@ai-sdk/openai';
import { generateImage } from 'ai';

const relay = createOpenAI({ baseURL: '${BASE_URL}/v1', apiKey: '${KEY_PLACEHOLDER}' });
const { image } = await generateImage({ model: relay.image('${MODEL}'), prompt: 'a lighthouse at dusk' });
await writeFile('lighthouse.png', image.uint8Array);`,
  },
  {
    id: 'anthropic',
    use: 'messages',
    name: 'Anthropic',
    language: 'js',
    code: `// npm install @anthropic-ai/sdk
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${BASE_URL}', authToken: '${KEY_PLACEHOLDER}' });
const message = await client.messages.create({
  model: '${MODEL}',
  max_tokens: 256,
  messages: [{ role: 'user', content: 'Name three lighthouses.' }],
});
console.log(message.content[0].text);`,
  },
];

interface SamplesOf {
  /** Without /v1. */
  baseUrl: string;
  apiKey?: string;
  models?: Partial<SampleModels>;
}

/** Only samples that have a model to call. */
export function codeSamples(filled: SamplesOf): CodeSample[] {
  const { baseUrl, apiKey = KEY_PLACEHOLDER, models = usualModels } = filled;
  return SAMPLES.filter(({ use }) => use in models).map((sample) => ({
    ...sample,
    code: sample.code
      .replaceAll(BASE_URL, () => baseUrl)
      .replaceAll(MODEL, () => models[sample.use] ?? usualModels[sample.use])
      .replaceAll(KEY_PLACEHOLDER, () => apiKey),
  }));
}
