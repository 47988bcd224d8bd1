import { asObject, asText, type JsonObject } from '../answers.js';
import { asCount, NO_KINDS } from './usage-kinds.js';
import { lengthOf, report, RESPONSE_NAMES, type UsageDialect, type UsageReading } from './usage-reading.js';

/**
 * Transcriptions are metered by tokens or by seconds. In the latter case, whole answers give the length twice, in two
 * places.
 */
function reportHeard(reading: UsageReading, json: JsonObject): void {
  const usage = asObject(json['usage']);
  report(reading, usage, RESPONSE_NAMES);
  reading.kinds = {
    ...NO_KINDS,
    input: { audio: audioOf(asObject(usage?.['input_token_details']), reading.input) },
  };
  reading.seconds = asCount(usage?.['seconds']) ?? asLength(json['duration']) ?? reading.seconds;
}

/** All of it, if the vendor does not say how much is text. */
function audioOf(details: JsonObject | null, input = 0): number {
  const { audio, text } = {
    audio: asCount(details?.['audio_tokens']),
    text: asCount(details?.['text_tokens']),
  };
  return audio ?? Math.max(0, input - (text ?? 0));
}

/** Some vendors write the seconds of a duration as text. */
function asLength(value: unknown): number | undefined {
  return asCount(typeof value === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value);
}

export const hearing: UsageDialect = {
  event(json, reading) {
    const type = asText(json['type']);
    if (type === 'transcript.text.delta') reading.characters += lengthOf(json['delta']);
    if (type === 'transcript.text.done') {
      reportHeard(reading, json);
      reading.end = 'complete';
    }
    if (type === 'error' || json['error']) reading.end = 'failed';
    return false;
  },
  answer(json, reading) {
    reportHeard(reading, json);
    reading.characters += lengthOf(json['text']);
  },
};

/** Speech reports usage only when it is streamed as events. The bytes of a sound say nothing about tokens. */
export const speech: UsageDialect = {
  event(json, reading) {
    if (json['type'] === 'speech.audio.done') {
      report(reading, asObject(json['usage']), RESPONSE_NAMES);
      reading.kinds = { ...NO_KINDS, output: { audio: reading.output } };
      reading.end = 'complete';
    }
    if (json['type'] === 'error' || json['error']) reading.end = 'failed';
    return false;
  },
  answer: () => undefined,
};
