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
  grok('grok-4.5', ['2', '0.5', '6'], 500_000),
  grok('grok-4.3', ['1.25', '0.2', '2.5'], 1_000_000),
];
