import { MAX_TOKENS } from '#pricing/quote.js';
import { mapCounts, type TokenCounts } from '#pricing/token-kinds.js';
import { asObject, type JsonObject } from '../answers.js';

/** How many of some tokens are for images and for sound; absent if not reported. */
export interface MediaReading {
  image?: number | undefined;
  audio?: number | undefined;
}

/** Tokens in a report that are no text. Cached ones are also counted as read. */
export interface KindsReading {
  input: MediaReading;
  cached: MediaReading;
  output: MediaReading;
}

export const NO_KINDS: KindsReading = { input: {}, cached: {}, output: {} };

/** Input and output of a call by kind. They add up to the report. */
export interface SortedInput {
  text: number;
  cached: number;
  image: number;
  cachedImage: number;
  audio: number;
  cachedAudio: number;
}

/** OpenAI's `input_tokens_details` and similar. */
export function openAiMedia(details: JsonObject | null): MediaReading {
  return { image: asCount(details?.['image_tokens']), audio: asCount(details?.['audio_tokens']) };
}

/** OpenAI's cached tokens, inside the details of the input. */
export function openAiCachedMedia(details: JsonObject | null): MediaReading {
  return openAiMedia(asObject(details?.['cached_tokens_details']));
}

/** Google's lists of counts by modality. Frames of a video count as images. Null if there is none. */
export function googleMedia(list: unknown): MediaReading | null {
  if (!Array.isArray(list)) return null;
  const sum = (...modalities: string[]) =>
    list
      .map(asObject)
      .filter((entry) => modalities.includes(String(entry?.['modality'])))
      .reduce((total, entry) => total + (asCount(entry?.['tokenCount']) ?? 0), 0);
  return { image: sum('IMAGE', 'VIDEO'), audio: sum('AUDIO') };
}

/**
 * Sorts input by kind. Cached tokens without a reported kind are text as far as there is text. Whatever is reported, no
 * token is counted twice.
 */
export function sortInput(
  { input, cached }: { input: number; cached: number },
  { input: read, cached: reported }: KindsReading,
): SortedInput {
  const image = Math.min(read.image ?? 0, input);
  const audio = Math.min(read.audio ?? 0, input - image);
  const text = input - image - audio;
  const isReported = reported.image !== undefined || reported.audio !== undefined;
  const beyondText = Math.max(0, cached - text);
  const cachedImage = Math.min(
    isReported ? Math.max(reported.image ?? 0, beyondText - audio) : beyondText,
    image,
    cached,
  );
  const cachedAudio = Math.min(
    Math.max(isReported ? (reported.audio ?? 0) : 0, beyondText - cachedImage),
    audio,
    cached - cachedImage,
  );
  const cachedText = cached - cachedImage - cachedAudio;
  return {
    text: text - cachedText,
    cached: cachedText,
    image: image - cachedImage,
    cachedImage,
    audio: audio - cachedAudio,
    cachedAudio,
  };
}

export function sortOutput(
  output: number,
  { image = 0, audio = 0 }: MediaReading,
): { text: number; image: number; audio: number } {
  const images = Math.min(image, output);
  const sound = Math.min(audio, output - images);
  return { text: output - images - sound, image: images, audio: sound };
}

/** Sorted tokens as charges count them, without empty kinds. */
export function countsOf(
  input: SortedInput,
  output: { text: number; image: number; audio: number },
  writes: { short: number; long: number } = { short: 0, long: 0 },
): TokenCounts {
  const counts = {
    input: toTokens(input.text - writes.short - writes.long),
    cachedInput: toTokens(input.cached),
    output: toTokens(output.text),
    cacheWrite: toTokens(writes.short),
    cacheWrite1h: toTokens(writes.long),
    imageInput: toTokens(input.image),
    cachedImageInput: toTokens(input.cachedImage),
    imageOutput: toTokens(output.image),
    audioInput: toTokens(input.audio),
    cachedAudioInput: toTokens(input.cachedAudio),
    audioOutput: toTokens(output.audio),
  };
  return mapCounts(counts, (count) => count);
}

export function toTokens(count: number): bigint {
  return count > Number(MAX_TOKENS) ? MAX_TOKENS : BigInt(count);
}

/** Far more than a charge can hold, and little enough to add and split counts exactly. */
const MOST_COUNTED = 1e12;

/** A number of tokens, or undefined for anything else. */
export function asCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined;
  return Math.min(Math.ceil(value), MOST_COUNTED);
}
