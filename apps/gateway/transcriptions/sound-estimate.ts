import type { ModelLimits } from '#catalog/catalog.js';
import type { MeasuredTokens, TokenEstimate } from '#catalog/token-estimate.js';
import type { Body } from '../http/fields.js';
import type { SoundSeconds } from './sound-file.js';

/** OpenAI counts a token per tenth of a second, others up to 12.5 per second. */
export const LIKELY_TOKENS_PER_SECOND = 10n;
const MOST_TOKENS_PER_SECOND = 20n;
/** Five words per second, in a language with four tokens per word. */
const MOST_WRITTEN_PER_SECOND = 20n;

/** The text of a request to be measured: its `prompt` is words, where that of other calls refers to a stored one. */
export function textBeside({ prompt, ...rest }: Body): Body {
  return prompt === undefined ? rest : { ...rest, words: prompt };
}

/** The input of a request with its sound, in tokens, capped by what the model reads. */
export function withSound(text: MeasuredTokens, seconds: SoundSeconds, limits: ModelLimits): MeasuredTokens {
  const heard = seconds.likely * LIKELY_TOKENS_PER_SECOND;
  const most = text.most + seconds.most * MOST_TOKENS_PER_SECOND;
  const likely = text.likely + heard;
  const cap = limits.maxInputTokens === undefined ? most : BigInt(limits.maxInputTokens);
  return {
    most: least(most, cap),
    likely: least(likely, cap),
    counted: text.counted + heard,
    unbounded: false,
  };
}

/** The transcript: as long as the audio allows, unless the model has its own limit. */
export function withWritten(
  output: TokenEstimate,
  seconds: SoundSeconds,
  limits: ModelLimits,
): TokenEstimate {
  const heard = seconds.most * MOST_WRITTEN_PER_SECOND;
  const isOpen = limits.maxOutputTokens === undefined && heard > output.most;
  return isOpen ? { ...output, most: heard } : output;
}

/** The same in seconds, at most the longest audio that the model accepts. */
export function secondsHeld({ most, likely }: SoundSeconds, limits: ModelLimits): SoundSeconds {
  const cap = limits.maxSeconds === undefined ? most : BigInt(limits.maxSeconds);
  return { most: least(most, cap), likely: least(likely, cap) };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
