import { asObject, asText, type JsonObject } from './answers.js';
import type { StreamKind } from './outcomes.js';
import { contents } from './usage/contents-usage.js';
import { image } from './usage/image-usage.js';
import { hearing, speech } from './usage/sound-usage.js';
import { asCount } from './usage/usage-kinds.js';
import {
  lengthOf,
  objects,
  report,
  RESPONSE_NAMES,
  type UsageDialect,
  type UsageReading,
} from './usage/usage-reading.js';

const CHAT_NAMES = { input: 'prompt_tokens', output: 'completion_tokens' };

function chatCharacters(message: JsonObject | null): number {
  const calls = objects(message?.['tool_calls']).map((call) => asObject(call['function'])?.['arguments']);
  return lengthOf(message?.['content'], message?.['reasoning_content'], message?.['refusal'], ...calls);
}

const chat: UsageDialect = {
  event(json, reading) {
    if (json['error']) reading.end = 'failed';
    const usage = asObject(json['usage']);
    report(reading, usage, CHAT_NAMES);
    const choices = objects(json['choices']);
    const before = reading.characters;
    for (const { delta, index, finish_reason } of choices) {
      reading.characters += chatCharacters(asObject(delta));
      reading.answers = Math.max(reading.answers, (asCount(index) ?? 0) + 1);
      if (asText(finish_reason)) reading.finished.add(asCount(index) ?? 0);
    }
    // Some vendors send their usage before the text, and never again.
    if (asCount(usage?.['completion_tokens']) !== undefined) reading.isBeyondCount = false;
    else if (reading.characters > before) reading.isBeyondCount = true;
    return usage !== null && choices.length === 0;
  },
  answer(json, reading) {
    report(reading, asObject(json['usage']), CHAT_NAMES);
    const choices = objects(json['choices']);
    for (const { message } of choices) reading.characters += chatCharacters(asObject(message));
    reading.answers = choices.length;
  },
};

const RESPONSE_ENDS = ['response.completed', 'response.incomplete', 'response.failed'];

const responses: UsageDialect = {
  event(json, reading) {
    const type = asText(json['type']) ?? '';
    if (type.endsWith('.delta')) reading.characters += lengthOf(json['delta']);
    if (type === 'error') reading.end = 'failed';
    if (RESPONSE_ENDS.includes(type)) {
      report(reading, asObject(asObject(json['response'])?.['usage']), RESPONSE_NAMES);
      reading.end = type === 'response.failed' ? 'failed' : 'complete';
    }
    return false;
  },
  answer(json, reading) {
    report(reading, asObject(json['usage']), RESPONSE_NAMES);
    for (const item of objects(json['output'])) {
      const parts = objects(item['content']).map(({ text }) => text);
      reading.characters += lengthOf(item['arguments'], ...parts);
    }
  },
};

/** Anthropic counts cache reads and cache writes separately from the input. */
function reportMessage(reading: UsageReading, usage: JsonObject | null): void {
  const input = asCount(usage?.['input_tokens']);
  if (input !== undefined) {
    const created = asObject(usage?.['cache_creation']);
    const short = asCount(created?.['ephemeral_5m_input_tokens']) ?? 0;
    const long = asCount(created?.['ephemeral_1h_input_tokens']) ?? 0;
    const written = Math.max(asCount(usage?.['cache_creation_input_tokens']) ?? 0, short + long);
    const cached = asCount(usage?.['cache_read_input_tokens']) ?? 0;
    reading.input = input + written + cached;
    reading.cachedInput = cached;
    reading.writes = { short, long, untold: Math.max(0, written - short - long) };
  }
  reading.output = asCount(usage?.['output_tokens']) ?? reading.output;
}

const messages: UsageDialect = {
  event(json, reading) {
    const type = asText(json['type']);
    if (type === 'message_start') reportMessage(reading, asObject(asObject(json['message'])?.['usage']));
    if (type === 'content_block_delta') {
      const delta = asObject(json['delta']);
      reading.characters += lengthOf(delta?.['text'], delta?.['thinking'], delta?.['partial_json']);
    }
    if (type === 'message_delta' && asObject(json['usage'])) {
      reportMessage(reading, asObject(json['usage']));
      reading.isFinal = true;
    }
    if (type === 'message_stop') reading.end = 'complete';
    if (type === 'error') reading.end = 'failed';
    return false;
  },
  answer(json, reading) {
    reportMessage(reading, asObject(json['usage']));
    reading.isFinal = true;
    for (const part of objects(json['content'])) {
      reading.characters += lengthOf(part['text'], part['thinking'], JSON.stringify(part['input']));
    }
  },
};

/** Embeddings only have input. */
const embeddings: UsageDialect = {
  event: () => false,
  answer(json, reading) {
    report(reading, asObject(json['usage']), CHAT_NAMES);
    if (reading.input !== undefined) reading.output = 0;
  },
};

export const dialects: Record<StreamKind, UsageDialect> = {
  chat,
  responses,
  messages,
  contents,
  speech,
  embeddings,
  transcription: hearing,
  translation: hearing,
  imageStream: image,
  editStream: image,
};
