import type { TokenCounts } from '#pricing/token-kinds.js';
import { asObject, asText, type JsonObject } from '../answers.js';
import { asCount, countsOf, openAiCachedMedia, openAiMedia, sortInput, sortOutput } from './usage-kinds.js';
import type { UsageDialect, UsageReading } from './usage-reading.js';

/**
 * An answer with images: everything that is not reported as text is an image, of the output and, if there are input
 * images, of the input.
 */
function reportImages(reading: UsageReading, json: JsonObject): void {
  const usage = asObject(json['usage']);
  const details = asObject(usage?.['input_tokens_details']);
  reading.input = asCount(usage?.['input_tokens']);
  // An image takes tokens, so 0 comes from a vendor that does not count them.
  reading.output = asCount(usage?.['output_tokens']) || undefined;
  reading.cachedInput = asCount(details?.['cached_tokens']);
  const made = openAiMedia(asObject(usage?.['output_tokens_details']));
  reading.kinds = {
    input: openAiMedia(details),
    cached: openAiCachedMedia(details),
    output: made.image === undefined ? { image: reading.output } : made,
  };
  reading.isFinal = true;
}

/** The images of a stream: partial ones report no tokens, and only a complete one is an answer. */
export const image: UsageDialect = {
  event(json, reading) {
    const type = asText(json['type']) ?? '';
    if (/^image_(generation|edit)\.completed$/.test(type)) {
      const isThere = asText(json['b64_json']) !== undefined || asText(json['url']) !== undefined;
      reportImages(reading, json);
      reading.answers = 1;
      reading.end = isThere ? 'complete' : 'failed';
    }
    if (type === 'error' || json['error']) reading.end = 'failed';
    return false;
  },
  answer: () => undefined,
};

/** The usage that an answer with images reports; undefined if it does not. */
export function tokensOfImages(answer: JsonObject | null): TokenCounts | undefined {
  const reading = {
    writes: { short: 0, long: 0, untold: 0 },
    characters: 0,
    answers: 0,
    finished: new Set<number>(),
  };
  const read: UsageReading = { ...reading, isFinal: false, end: 'open' };
  reportImages(read, answer ?? {});
  const { input, output, cachedInput = 0, kinds } = read;
  if (input === undefined || output === undefined || !kinds) return undefined;
  return countsOf(
    sortInput({ input, cached: Math.min(cachedInput, input) }, kinds),
    sortOutput(output, kinds.output),
  );
}
