import type { VendorModel } from '../vendor-model.js';
import { LITELLM, listedRate } from './sources.js';

const OPENAI_PRICES = {
  url: 'https://developers.openai.com/api/docs/pricing',
  read: '2026-07-24',
  via: LITELLM,
};

function openAiChat(
  id: string,
  [input, cachedInput, output]: readonly [string, string, string],
  [maxInputTokens, maxOutputTokens]: readonly [number, number],
): VendorModel {
  return {
    id,
    vendor: 'openai',
    family: 'chat',
    unit: 'token',
    protocol: 'openai',
    limits: { maxInputTokens, maxOutputTokens },
    listPrice: { input, cachedInput, output },
    source: OPENAI_PRICES,
  };
}

/** Paid by the token, with the same prices since GPT Image 2. */
function openAiImages(id: string, source: VendorModel['source']): VendorModel {
  return {
    id,
    vendor: 'openai',
    family: 'image',
    unit: 'token',
    protocol: 'openai',
    limits: { maxImages: 10 },
    listPrice: {
      input: '5',
      cachedInput: '1.25',
      output: '10',
      imageInput: '8',
      cachedImageInput: '2',
      imageOutput: '30',
    },
    source,
    note: 'An image of 4K takes more tokens than are held by default: set maxOutputTokens. The price of text output is that of GPT Image 2.',
  };
}

/** Longer prompts cost more, so the limit stays below the step. */
const OPENAI_STEP = 272_000;
const LONG_PROMPTS = `Prompts of more than ${OPENAI_STEP} tokens cost more at the vendor: the limit keeps them out.`;

export const openAiModels: readonly VendorModel[] = [
  openAiImages('gpt-image-2', OPENAI_PRICES),
  openAiImages('gpt-image-2.6-sunburst', {
    url: 'https://developers.openai.com/api/docs/models/gpt-image-2.6-sunburst',
    read: '2026-11-26',
  }),
  {
    id: 'gpt-image-1-mini',
    vendor: 'openai',
    family: 'image',
    unit: 'call',
    protocol: 'openai',
    limits: { maxImages: 10 },
    listPrice: {
      unitPrice: '0.052',
      rates: [
        listedRate({ size: '1024x1024', quality: 'low' }, '0.005'),
        listedRate({ size: '1024x1536', quality: 'low' }, '0.006'),
        listedRate({ size: '1536x1024', quality: 'low' }, '0.006'),
        listedRate({ size: '1024x1024', quality: 'medium' }, '0.011'),
        listedRate({ size: '1024x1536', quality: 'medium' }, '0.015'),
        listedRate({ size: '1536x1024', quality: 'medium' }, '0.015'),
        listedRate({ size: '1024x1024', quality: 'high' }, '0.036'),
      ],
    },
    source: {
      url: 'https://developers.openai.com/api/docs/models/gpt-image-1-mini',
      read: '2026-11-23',
    },
    note: 'Deprecated by its vendor. The tokens of the prompt and of input images cost extra.',
  },
  { ...openAiChat('gpt-5.5', ['5', '0.5', '30'], [OPENAI_STEP, 128_000]), note: LONG_PROMPTS },
  { ...openAiChat('gpt-5.4', ['2.5', '0.25', '15'], [OPENAI_STEP, 128_000]), note: LONG_PROMPTS },
  openAiChat('gpt-5.4-mini', ['0.75', '0.075', '4.5'], [400_000, 128_000]),
  openAiChat('gpt-5.4-nano', ['0.2', '0.02', '1.25'], [400_000, 128_000]),
  openAiChat('gpt-5.2', ['1.75', '0.175', '14'], [OPENAI_STEP, 128_000]),
  openAiChat('gpt-4.1', ['2', '0.5', '8'], [1_047_576, 32_768]),
  openAiChat('gpt-4.1-mini', ['0.4', '0.1', '1.6'], [1_047_576, 32_768]),
  openAiChat('gpt-4.1-nano', ['0.1', '0.025', '0.4'], [1_047_576, 32_768]),
];
