import type { VendorModel } from '../vendor-model.js';

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

export const anthropicModels: readonly VendorModel[] = [
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
