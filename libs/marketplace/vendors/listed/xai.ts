import type { VendorModel } from '../vendor-model.js';
import { LITELLM } from './sources.js';

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

export const xaiModels: readonly VendorModel[] = [
  {
    id: 'grok-imagine-image',
    vendor: 'xai',
    family: 'image',
    unit: 'call',
    protocol: 'xai',
    limits: { maxImages: 10 },
    listPrice: { unitPrice: '0.02' },
    source: {
      url: 'https://docs.x.ai/developers/models',
      read: '2026-11-26',
      via: "Crazyrouter's documentation, without a date",
    },
    note: 'The images of an edit cost more at the vendor.',
  },
  {
    id: 'grok-imagine-video',
    vendor: 'xai',
    family: 'video',
    unit: 'second',
    protocol: 'xai',
    limits: { defaultSeconds: 8, minSeconds: 1, maxSeconds: 15, resolutions: ['480p'] },
    listPrice: { unitPrice: '0.05' },
    source: {
      url: 'https://docs.x.ai/developers/models',
      read: '2026-11-26',
      via: "APIYI's documentation, without a date",
    },
    note: 'The vendor makes 720p, too, at a higher price that was not found: the limit keeps it out.',
  },
  grok('grok-4.5', ['2', '0.5', '6'], 500_000),
  grok('grok-4.3', ['1.25', '0.2', '2.5'], 1_000_000),
];
