import type { ModelLimits } from '#catalog/catalog.js';
import type { MeasuredTokens } from '#catalog/token-estimate.js';
import type { SoundSeconds } from './sound-file.js';

/** OpenAI counts a token for a tenth of a second; others up to 12.5 a second. */
const LIKELY_TOKENS_PER_SECOND = 10n;
const MOST_TOKENS_PER_SECOND = 20n;

/** The input of a request with its sound, in tokens, capped by what the model reads. */
export function withSound(text: MeasuredTokens, seconds: SoundSeconds, limits: ModelLimits): MeasuredTokens {
  const heard = seconds.likely * LIKELY_TOKENS_PER_SECOND;
  const most = text.most + seconds.most * MOST_TOKENS_PER_SECOND;
  const likely = text.likely + heard;
  const cap = limits.maxInputTokens === undefined ? most : BigInt(limits.maxInputTokens);
  return {
    most: least(most, cap),
    likely: least(likely, cap),
    // What was not measured is no ground for a refusal.
    counted: text.counted + (seconds.isMeasured ? heard : 0n),
    unbounded: false,
  };
}

/** The same in seconds: a model that hears no longer sound is not held for more. */
export function secondsHeld({ most, likely, isMeasured }: SoundSeconds, limits: ModelLimits): SoundSeconds {
  const cap = limits.maxSeconds === undefined ? most : BigInt(limits.maxSeconds);
  return { most: least(most, cap), likely: least(likely, cap), isMeasured };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
