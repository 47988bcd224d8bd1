import type { Dimensions } from '#pricing/rates.js';
import type { RateText } from '#pricing/price-text.js';
import type { VendorModel } from './vendor-model.js';

/**
 * The models of vendors with their list prices. An entry is here only with a source; a price that depends on what no price
 * of ours can say (megapixels, sound, another currency) is left out. The README says how to add one.
 */

const LITELLM = 'the price list of LiteLLM of that day';

function rate(when: Dimensions, unitPrice: string): RateText {
  return { when, unitPrice };
}

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

/** Longer prompts cost more, so that the limit stays below the step. */
const OPENAI_STEP = 272_000;
const LONG_PROMPTS = `Prompts of more than ${OPENAI_STEP} tokens cost more at the vendor: the limit keeps them out.`;

const OPENAI: readonly VendorModel[] = [
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
        rate({ size: '1024x1024', quality: 'low' }, '0.005'),
        rate({ size: '1024x1536', quality: 'low' }, '0.006'),
        rate({ size: '1536x1024', quality: 'low' }, '0.006'),
        rate({ size: '1024x1024', quality: 'medium' }, '0.011'),
        rate({ size: '1024x1536', quality: 'medium' }, '0.015'),
        rate({ size: '1536x1024', quality: 'medium' }, '0.015'),
        rate({ size: '1024x1024', quality: 'high' }, '0.036'),
      ],
    },
    source: {
      url: 'https://developers.openai.com/api/docs/models/gpt-image-1-mini',
      read: '2026-11-23',
    },
    note: 'Deprecated by its vendor. The tokens of the prompt and of input images come on top.',
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

const ANTHROPIC_PRICES = {
  url: 'https://platform.claude.com/docs/en/about-claude/pricing',
  read: '2026-10-10',
  via: 'the price table of the crate synaps 0.10.2',
};

function claude(
  id: string,
  prices: VendorModel['listPrice'],
  [maxInputTokens, maxOutputTokens]: readonly [number, number],
): VendorModel {
  return {
    id,
    vendor: 'anthropic',
    family: 'chat',
    unit: 'token',
    protocol: 'anthropic',
    limits: { maxInputTokens, maxOutputTokens },
    listPrice: prices,
    source: ANTHROPIC_PRICES,
  };
}

const FIVE_AND_25 = {
  input: '5',
  cachedInput: '0.5',
  output: '25',
  cacheWrite: '6.25',
  cacheWrite1h: '10',
};
const THREE_AND_15 = {
  input: '3',
  cachedInput: '0.3',
  output: '15',
  cacheWrite: '3.75',
  cacheWrite1h: '6',
};

const ANTHROPIC: readonly VendorModel[] = [
  claude('claude-opus-5', FIVE_AND_25, [1_000_000, 128_000]),
  claude('claude-opus-4-8', FIVE_AND_25, [1_000_000, 128_000]),
  claude(
    'claude-sonnet-5',
    { input: '2', cachedInput: '0.2', output: '10', cacheWrite: '2.5', cacheWrite1h: '4' },
    [1_000_000, 128_000],
  ),
  claude('claude-sonnet-4-6', THREE_AND_15, [1_000_000, 64_000]),
  claude(
    'claude-haiku-4-5',
    { input: '1', cachedInput: '0.1', output: '5', cacheWrite: '1.25', cacheWrite1h: '2' },
    [200_000, 64_000],
  ),
];

const GOOGLE: readonly VendorModel[] = [
  {
    id: 'veo-3.1-generate-preview',
    vendor: 'google',
    family: 'video',
    unit: 'second',
    protocol: 'gemini',
    limits: {
      defaultSeconds: 8,
      minSeconds: 4,
      maxSeconds: 8,
      resolutions: ['720p', '1080p', '4k'],
      aspectRatios: ['16:9', '9:16'],
    },
    listPrice: {
      unitPrice: '0.6',
      rates: [
        rate({ resolution: 'auto' }, '0.4'),
        rate({ resolution: '720p' }, '0.4'),
        rate({ resolution: '1080p' }, '0.4'),
      ],
    },
    source: {
      url: 'https://ai.google.dev/gemini-api/docs/pricing',
      read: '2026-10-07',
      via: 'the pricing files of API Evangelist',
    },
    note: 'With sound. The vendor makes videos of 4, 6 and 8 seconds.',
  },
];

function flux(id: string, unitPrice: string): VendorModel {
  return {
    id,
    vendor: 'black-forest-labs',
    family: 'image',
    unit: 'call',
    protocol: 'bfl',
    limits: {},
    listPrice: { unitPrice },
    source: { url: 'https://docs.bfl.ml/quick_start/pricing', read: '2026-11-23' },
  };
}

const BLACK_FOREST_LABS: readonly VendorModel[] = [
  flux('flux-kontext-pro', '0.04'),
  flux('flux-kontext-max', '0.08'),
  flux('flux-pro-1.1', '0.04'),
  flux('flux-pro-1.1-ultra', '0.06'),
];

const FAL: readonly VendorModel[] = [
  {
    id: 'fal-ai/flux-pro/kontext',
    vendor: 'fal',
    family: 'image',
    unit: 'call',
    protocol: 'fal',
    limits: { minInputImages: 1 },
    listPrice: { unitPrice: '0.04' },
    source: {
      url: 'https://fal.ai/pricing',
      read: '2026-09-20',
      via: 'the pricing files of API Evangelist',
    },
  },
  {
    id: 'fal-ai/veo3/fast',
    vendor: 'fal',
    family: 'video',
    unit: 'second',
    protocol: 'fal',
    limits: { defaultSeconds: 8, minSeconds: 4, maxSeconds: 8, aspectRatios: ['16:9', '9:16'] },
    listPrice: { unitPrice: '0.15' },
    source: { url: 'https://fal.ai/models/fal-ai/veo3/fast/llms.txt', read: '2026-11-23' },
    note: 'With sound; without, the vendor asks 0.10. It makes videos of 4, 6 and 8 seconds.',
  },
  {
    id: 'kling/v4/text-to-video',
    vendor: 'fal',
    family: 'video',
    unit: 'second',
    protocol: 'fal',
    limits: { minSeconds: 3, maxSeconds: 30, resolutions: ['720p', '1080p'] },
    listPrice: { unitPrice: '0.235', rates: [rate({ resolution: '720p' }, '0.157')] },
    source: { url: 'https://fal.ai/learn/tools/kling-api', read: '2026-11-23' },
  },
];

function grok(
  id: string,
  [input, cachedInput, output]: readonly [string, string, string],
  tokens: number,
): VendorModel {
  return {
    id,
    vendor: 'xai',
    family: 'chat',
    unit: 'token',
    protocol: 'openai',
    limits: { maxInputTokens: tokens, maxOutputTokens: tokens },
    listPrice: { input, cachedInput, output },
    source: { url: `https://docs.x.ai/developers/models/${id}`, read: '2026-07-24', via: LITELLM },
  };
}

const XAI: readonly VendorModel[] = [
  grok('grok-4.5', ['2', '0.5', '6'], 500_000),
  grok('grok-4.3', ['1.25', '0.2', '2.5'], 1_000_000),
];

export const vendorModels: readonly VendorModel[] = [
  ...OPENAI,
  ...GOOGLE,
  ...XAI,
  ...BLACK_FOREST_LABS,
  ...FAL,
  ...ANTHROPIC,
];
