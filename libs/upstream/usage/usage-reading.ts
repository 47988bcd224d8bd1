import { asObject, type JsonObject } from '../answers.js';
import { asCount, type KindsReading, openAiCachedMedia, openAiMedia } from './usage-kinds.js';

/** What one stream or answer has reported so far. Input holds what was cached too, as it does with all but Anthropic. */
export interface UsageReading {
  input?: number;
  cachedInput?: number;
  /** Written into a cache for five minutes, for an hour, and for a time that was not reported. */
  writes: { short: number; long: number; untold: number };
  output?: number;
  /** Output is known to the end; before that, a count may be a beginning only. */
  isFinal: boolean;
  /** Characters that were streamed to the client, reasoning and tool calls included. */
  characters: number;
  /** Tokens of images that were streamed; as characters, they are among those. */
  imageTokens?: number;
  /** Some of the characters came after the last count of output, or without any: the count does not cover them. */
  isBeyondCount?: boolean;
  /** Those of images and sound among them. */
  kinds?: KindsReading;
  /** What Google reported last, each count by its name. */
  contents?: Partial<Record<ContentsCount, number>>;
  /** Of sound that was heard, where it is metered by its length. */
  seconds?: number;
  /** Answers to one request that were seen, and those of them that said why they ended. */
  answers: number;
  finished: number;
  end: 'open' | 'complete' | 'failed';
}

/** Google counts what it read from its cache within the prompt, and thoughts and the results of tools apart. */
export const CONTENTS_COUNTS = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
] as const;
type ContentsCount = (typeof CONTENTS_COUNTS)[number];

/** How one family of answers reports its usage. */
export interface UsageDialect {
  /** Takes in the JSON of one event. True for a chat chunk that carries the usage and nothing else. */
  event(json: JsonObject, reading: UsageReading): boolean;
  /** Takes in a whole answer. */
  answer(json: JsonObject, reading: UsageReading): void;
}

/** Where no usage is reported, a token is taken for this many characters: what vendors give as the rule of thumb. */
export const CHARACTERS_PER_TOKEN = 4;

export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((entry) => entry !== null) : [];
}

export function lengthOf(...texts: unknown[]): number {
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

export const RESPONSE_NAMES = { input: 'input_tokens', output: 'output_tokens' };

/** Takes a report in; a later one replaces an earlier one, since all of them count from the beginning. */
export function report(
  reading: UsageReading,
  usage: JsonObject | null,
  names: Record<'input' | 'output', string>,
): void {
  if (usage === null) return;
  const details = asObject(usage[`${names.input}_details`]);
  reading.input = asCount(usage[names.input]) ?? reading.input;
  reading.cachedInput = asCount(details?.['cached_tokens']) ?? reading.cachedInput;
  reading.writes.short = asCount(details?.['cache_write_tokens']) ?? reading.writes.short;
  reading.output = asCount(usage[names.output]) ?? reading.output;
  reading.kinds = {
    input: openAiMedia(details),
    cached: openAiCachedMedia(details),
    output: openAiMedia(asObject(usage[`${names.output}_details`])),
  };
  reading.isFinal = true;
}
