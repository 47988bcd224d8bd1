import { asObject, type JsonObject } from '../answers.js';
import { asCount, type KindsReading, openAiCachedMedia, openAiMedia } from './usage-kinds.js';

/** What one stream or answer has reported so far. Input includes cached tokens, as with all vendors but Anthropic. */
export interface UsageReading {
  input?: number;
  cachedInput?: number;
  /** Written into a cache for five minutes, for an hour, and for an unreported time. */
  writes: { short: number; long: number; untold: number };
  output?: number;
  /** Output is known to the end. Before that, a count may only cover the beginning. */
  isFinal: boolean;
  /** Characters streamed to the client, including reasoning and tool calls. */
  characters: number;
  /** Tokens of streamed images. As characters, they are among those. */
  imageTokens?: number;
  /** Some characters came after the last count of output, or without any, so the count does not cover them. */
  isBeyondCount?: boolean;
  /** Of these, the tokens of images and sound. */
  kinds?: KindsReading;
  /** Google's latest report, each count by its name. */
  contents?: Partial<Record<ContentsCount, number>>;
  /** The length of the sound, if it is metered by its length. */
  seconds?: number;
  /** Answers to one request that were seen, and the places of those that said why they ended. */
  answers: number;
  readonly finished: Set<number>;
  end: 'open' | 'complete' | 'failed';
}

/** Google counts cache reads within the prompt, and thoughts and tool results separately. */
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
  /** Reads the JSON of one event. True for a chat chunk with the usage and nothing else. */
  event(json: JsonObject, reading: UsageReading): boolean;
  /** Reads a whole answer. */
  answer(json: JsonObject, reading: UsageReading): void;
}

/** Without reported usage, a token counts as this many characters, which is the vendors' rule of thumb. */
export const CHARACTERS_PER_TOKEN = 4;

export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((entry) => entry !== null) : [];
}

export function lengthOf(...texts: unknown[]): number {
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

export const RESPONSE_NAMES = { input: 'input_tokens', output: 'output_tokens' };

/** Adds a report. A later one replaces an earlier one, because all of them count from the beginning. */
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
