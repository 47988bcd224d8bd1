import { MAX_TOKENS, type TokenCounts } from '#pricing/quote.js';
import { asObject, asText, type JsonObject, readObject } from './answers.js';
import type { StreamKind } from './outcomes.js';
import type { SseEvent } from './sse-splitter.js';

/** What one stream or answer has reported so far. Input holds what was cached too, as it does with all but Anthropic. */
interface Reading {
  input?: number;
  cachedInput?: number;
  /** Written into a cache for five minutes, for an hour, and for a time that was not reported. */
  writes: { short: number; long: number; untold: number };
  output?: number;
  /** Output is known to the end; before that, a count may be a beginning only. */
  isFinal: boolean;
  /** Characters that were streamed to the client, reasoning and tool calls included. */
  characters: number;
  /** Answers to one request that were seen. */
  answers: number;
  end: 'open' | 'complete' | 'failed';
}

/** How one family of answers reports its usage. */
interface Dialect {
  /** Takes in the JSON of one event. True for a chat chunk that carries the usage and nothing else. */
  event(json: JsonObject, reading: Reading): boolean;
  /** Takes in a whole answer. */
  answer(json: JsonObject, reading: Reading): void;
}

/** Where no usage is reported, a token is taken for this many characters: what vendors give as the rule of thumb. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Reads from the answer of a pass-through call how many tokens it used, event by event or from the whole. It holds no
 * text. What it cannot read it leaves aside: metering never breaks a stream.
 */
export class UsageMeter {
  private readonly reading: Reading = {
    writes: { short: 0, long: 0, untold: 0 },
    isFinal: false,
    characters: 0,
    answers: 0,
    end: 'open',
  };
  private readonly dialect: Dialect;

  /** @param longWrites the request asked for a cache of an hour, so that writes whose time is not reported may be such */
  constructor(
    kind: StreamKind,
    private readonly longWrites = false,
  ) {
    this.dialect = dialects[kind];
  }

  /**
   * Takes in one event of a stream. True for the last chunk of a chat, which carries the usage and no choices: a client
   * that did not ask for it with `stream_options.include_usage` must not get it.
   */
  addEvent({ data }: SseEvent): boolean {
    if (data === null) return false;
    if (data === '[DONE]') {
      if (this.reading.end === 'open') this.reading.end = 'complete';
      return false;
    }
    const json = parseObject(data);
    return json !== null && this.dialect.event(json, this.reading);
  }

  /** Takes in the whole body of an answer that was not streamed. */
  addAnswer(body: Buffer): void {
    const json = readObject(body);
    if (json === null) return;
    this.dialect.answer(json, this.reading);
    this.reading.end = 'complete';
  }

  /** What the upstream reported, cached and written input apart from input; null while it has not. */
  reported(): TokenCounts | null {
    const { input, output, cachedInput = 0, isFinal } = this.reading;
    if (input === undefined || output === undefined) return null;
    const cached = Math.min(cachedInput, input);
    const { short, long } = this.writes(input - cached);
    const streamed = isFinal ? 0n : this.streamed();
    const counted = toTokens(output);
    return {
      input: toTokens(input - cached - short - long),
      cachedInput: toTokens(cached),
      output: counted > streamed ? counted : streamed,
      ...(short > 0 && { cacheWrite: toTokens(short) }),
      ...(long > 0 && { cacheWrite1h: toTokens(long) }),
    };
  }

  /** Writes are part of the input, whatever is reported of them. */
  private writes(most: number): { short: number; long: number } {
    const { short, long, untold } = this.reading.writes;
    const [all, forLong] = [short + long + untold, this.longWrites ? long + untold : long];
    const counted = Math.min(forLong, most);
    return { short: Math.min(all - forLong, most - counted), long: counted };
  }

  /** An estimate of the output from what was streamed, rounded up: for an upstream that reports nothing. */
  streamed(): bigint {
    return toTokens(Math.ceil(this.reading.characters / CHARACTERS_PER_TOKEN));
  }

  /** What to bill: as reported, else the caller's estimates and what was streamed, whichever output is more. */
  billable(estimated: TokenCounts): TokenCounts {
    const streamed = this.streamed();
    const output = streamed > estimated.output ? streamed : estimated.output;
    return this.reported() ?? { ...estimated, output };
  }

  /** How many answers to the one request were seen; 0 in dialects that have one at most. */
  get answers(): number {
    return this.reading.answers;
  }

  /** `open` when the stream ended without its last event: it was cut off. `failed` after an error event. */
  get end(): 'open' | 'complete' | 'failed' {
    return this.reading.end;
  }
}

function parseObject(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.ceil(value) : undefined;
}

function toTokens(count: number): bigint {
  return count > Number(MAX_TOKENS) ? MAX_TOKENS : BigInt(count);
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((entry) => entry !== null) : [];
}

function lengthOf(...texts: unknown[]): number {
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

/** Takes a report in; a later one replaces an earlier one, since all of them count from the beginning. */
function report(reading: Reading, usage: JsonObject | null, names: Record<'input' | 'output', string>): void {
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

const chat: Dialect = {
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

const responses: Dialect = {
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
function reportMessage(reading: Reading, usage: JsonObject | null): void {
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

const messages: Dialect = {
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
const speech: Dialect = {
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
const embeddings: Dialect = {
  event: () => false,
  answer(json, reading) {
    report(reading, asObject(json['usage']), CHAT_NAMES);
    if (reading.input !== undefined) reading.output = 0;
  },
};

const dialects: Record<StreamKind, Dialect> = { chat, responses, messages, speech, embeddings };
