import type { VendorModel } from '../vendor-model.js';
import { API_EVANGELIST, LITELLM, listedRate } from './sources.js';

/** Announced for 2026-08-17 (Gemini API) and 2026-06-30 (Vertex AI). */
const SHUT_DOWN =
  'Google has announced that it will shut it down in the summer of 2026: check that it still answers.';

function imagen(id: string, unitPrice: string): VendorModel {
  return {
    id,
    vendor: 'google',
    family: 'image',
    unit: 'call',
    protocol: 'gemini',
    limits: { maxImages: 4 },
    listPrice: { unitPrice },
    source: { url: 'https://ai.google.dev/gemini-api/docs/pricing', read: '2026-04-21', via: LITELLM },
    note: SHUT_DOWN,
  };
}

/** Makes images as it answers contents. Its text is priced apart. */
function geminiImages(
  id: string,
  [input, output, imageOutput]: readonly [string, string, string],
): VendorModel {
  return {
    id,
    vendor: 'google',
    family: 'chat',
    unit: 'token',
    protocol: 'gemini',
    limits: { maxInputTokens: 65_536, maxOutputTokens: 32_768 },
    listPrice: { input, cachedInput: input, output, imageOutput },
    source: {
      url: 'https://ai.google.dev/gemini-api/docs/pricing',
      read: '2026-07-24',
      via: LITELLM,
    },
    note: 'No price of cached input was found: it costs what other input costs.',
  };
}

export const googleModels: readonly VendorModel[] = [
  imagen('imagen-4.0-fast-generate-001', '0.02'),
  imagen('imagen-4.0-generate-001', '0.04'),
  imagen('imagen-4.0-ultra-generate-001', '0.06'),
  geminiImages('gemini-3-pro-image', ['2', '12', '120']),
  geminiImages('gemini-3.1-flash-image', ['0.5', '3', '60']),
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
        listedRate({ resolution: 'auto' }, '0.4'),
        listedRate({ resolution: '720p' }, '0.4'),
        listedRate({ resolution: '1080p' }, '0.4'),
      ],
    },
    source: {
      url: 'https://ai.google.dev/gemini-api/docs/pricing',
      read: '2026-10-07',
      via: API_EVANGELIST,
    },
    note: 'With sound. The vendor makes videos of 4, 6 and 8 seconds.',
  },
];
