import { asObject, asText, type JsonObject } from '../answers.js';
import { asCount, googleMedia } from './usage-kinds.js';
import {
  CHARACTERS_PER_TOKEN,
  CONTENTS_COUNTS,
  lengthOf,
  objects,
  type UsageDialect,
  type UsageReading,
} from './usage-reading.js';

/** The tokens that Google's image models write per image. Its bytes say nothing. */
const IMAGE_TOKENS = 1_290;

/** Google omits zeros, and, in some last events, what it has reported before. A count stays valid until another arrives. */
function reportContents(reading: UsageReading, usage: JsonObject | null): void {
  const counts = (reading.contents ??= {});
  for (const name of CONTENTS_COUNTS) {
    const count = asCount(usage?.[name]);
    if (count !== undefined) counts[name] = count;
  }
  if (counts.promptTokenCount === undefined) return;
  reading.input = counts.promptTokenCount + (counts.toolUsePromptTokenCount ?? 0);
  reading.cachedInput = counts.cachedContentTokenCount ?? 0;
  reading.output = (counts.candidatesTokenCount ?? 0) + (counts.thoughtsTokenCount ?? 0);
  const before = reading.kinds;
  reading.kinds = {
    input: googleMedia(usage?.['promptTokensDetails']) ?? before?.input ?? {},
    cached: googleMedia(usage?.['cacheTokensDetails']) ?? before?.cached ?? {},
    output: googleMedia(usage?.['candidatesTokensDetails']) ?? before?.output ?? {},
  };
}

function addPart(reading: UsageReading, part: JsonObject): void {
  const data = asObject(part['inlineData']);
  if (data) {
    reading.characters += IMAGE_TOKENS * CHARACTERS_PER_TOKEN;
    const isSound = /^audio\//i.test(asText(data['mimeType']) ?? '');
    if (!isSound) reading.imageTokens = (reading.imageTokens ?? 0) + IMAGE_TOKENS;
    return;
  }
  const call = asObject(part['functionCall'])?.['args'];
  reading.characters += lengthOf(part['text'], call === undefined ? undefined : JSON.stringify(call));
}

/** An event has the shape of a whole answer. Each says why it ends where it does. */
export const contents: UsageDialect = {
  event(json, reading) {
    if (json['error']) reading.end = 'failed';
    const before = reading.characters;
    for (const { content, index, finishReason } of objects(json['candidates'])) {
      for (const part of objects(asObject(content)?.['parts'])) addPart(reading, part);
      reading.answers = Math.max(reading.answers, (asCount(index) ?? 0) + 1);
      if (asText(finishReason)) reading.finished.add(asCount(index) ?? 0);
    }
    // A blocked prompt has no candidates.
    if (asText(asObject(json['promptFeedback'])?.['blockReason'])) reading.finished.add(0);
    reading.isFinal = reading.finished.size > 0 && reading.finished.size >= reading.answers;
    const usage = asObject(json['usageMetadata']);
    reportContents(reading, usage);
    if (asCount(usage?.['candidatesTokenCount']) !== undefined) reading.isBeyondCount = false;
    else if (reading.characters > before) reading.isBeyondCount = true;
    return false;
  },
  answer(json, reading) {
    contents.event(json, reading);
    reading.answers = objects(json['candidates']).length;
    reading.isFinal = true;
  },
};
