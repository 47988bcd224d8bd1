import { asObject, asText, type JsonObject } from './answers.js';
import type { StreamKind } from './outcomes.js';

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
  /** Some of them came after the last count of output, or without any: the count does not cover them. */
  isBeyondCount?: boolean;
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
const CONTENTS_COUNTS = [
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

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.ceil(value) : undefined;
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((entry) => entry !== null) : [];
}

function lengthOf(...texts: unknown[]): number {
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

/** Takes a report in; a later one replaces an earlier one, since all of them count from the beginning. */
function report(
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
  reading.isFinal = true;
}

const CHAT_NAMES = { input: 'prompt_tokens', output: 'completion_tokens' };
const RESPONSE_NAMES = { input: 'input_tokens', output: 'output_tokens' };

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
    for (const { delta, index } of choices) {
      reading.characters += chatCharacters(asObject(delta));
      reading.answers = Math.max(reading.answers, (asCount(index) ?? 0) + 1);
    }
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

/** Anthropic counts what it reads from its cache, and what it writes there, apart from the input. */
function reportMessage(reading: UsageReading, usage: JsonObject | null): void {
  const input = asCount(usage?.['input_tokens']);
  if (input !== undefined) {
    const told = asObject(usage?.['cache_creation']);
    const short = asCount(told?.['ephemeral_5m_input_tokens']) ?? 0;
    const long = asCount(told?.['ephemeral_1h_input_tokens']) ?? 0;
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

/** Speech reports only when it is streamed as events; the bytes of a sound say nothing about tokens. */
const speech: UsageDialect = {
  event(json, reading) {
    if (json['type'] === 'speech.audio.done') {
      report(reading, asObject(json['usage']), RESPONSE_NAMES);
      reading.end = 'complete';
    }
    if (json['type'] === 'error' || json['error']) reading.end = 'failed';
    return false;
  },
  answer: () => undefined,
};

/** Embeddings have input alone. */
const embeddings: UsageDialect = {
  event: () => false,
  answer(json, reading) {
    report(reading, asObject(json['usage']), CHAT_NAMES);
    if (reading.input !== undefined) reading.output = 0;
  },
};

/** What was heard is metered by the token, or by the second: then whole answers say the length twice, in two places. */
function reportHeard(reading: UsageReading, json: JsonObject): void {
  const usage = asObject(json['usage']);
  report(reading, usage, RESPONSE_NAMES);
  reading.seconds = asCount(usage?.['seconds']) ?? asLength(json['duration']) ?? reading.seconds;
}

/** Some vendors write the seconds of a duration as text. */
function asLength(value: unknown): number | undefined {
  return asCount(typeof value === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value);
}

const hearing: UsageDialect = {
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

/** What Google's image models write for an image, in tokens; its bytes say nothing. */
const IMAGE_TOKENS = 1_290;

/** Google leaves out zeros, and, in some last events, what it has reported before: a count holds until another comes. */
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
}

function contentCharacters(part: JsonObject): number {
  if (asObject(part['inlineData'])) return IMAGE_TOKENS * CHARACTERS_PER_TOKEN;
  const call = asObject(part['functionCall'])?.['args'];
  return lengthOf(part['text'], call === undefined ? undefined : JSON.stringify(call));
}

/** An event has the shape of a whole answer; each says why it ends where it does. */
const contents: UsageDialect = {
  event(json, reading) {
    if (json['error']) reading.end = 'failed';
    const before = reading.characters;
    for (const { content, index, finishReason } of objects(json['candidates'])) {
      for (const part of objects(asObject(content)?.['parts'])) reading.characters += contentCharacters(part);
      reading.answers = Math.max(reading.answers, (asCount(index) ?? 0) + 1);
      if (asText(finishReason)) reading.finished += 1;
    }
    // A prompt that was blocked has no candidates.
    if (asText(asObject(json['promptFeedback'])?.['blockReason'])) reading.finished += 1;
    reading.isFinal = reading.finished > 0 && reading.finished >= reading.answers;
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

export const dialects: Record<StreamKind, UsageDialect> = {
  chat,
  responses,
  messages,
  contents,
  speech,
  embeddings,
  transcription: hearing,
  translation: hearing,
};
