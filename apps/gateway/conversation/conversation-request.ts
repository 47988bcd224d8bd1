import { ApiError } from '#platform/errors.js';
import type { StreamKind } from '#upstream/outcomes.js';
import { type Body, invalid, isAbsent, optionalInteger, optionalWord, requiredText } from '../http/fields.js';
import { MAX_SPEECH_CHARS } from '../http/limits.js';

/** A pass-through request after the fields that its billing depends on were checked; all others are the upstream's. */
export interface Conversation {
  readonly kind: StreamKind;
  /** The answer comes as server-sent events. */
  readonly streamed: boolean;
  /** A streamed chat that asked for the chunk with the usage. */
  readonly wantsUsage: boolean;
  /** What one answer may be long, in tokens; undefined when the request leaves it to the model. */
  readonly maxOutputTokens: number | undefined;
  /** Answers to the same request, each as long as that. */
  readonly choices: number;
  /** What goes to the upstream, but for the model's name. */
  readonly body: Body;
}

/** OpenAI's own limit. */
const MAX_CHOICES = 128;
/** Beyond what any model writes; the model's own limit caps what is held. */
const MAX_TOKENS_ASKED = 10_000_000;

/** Bodies are walked and printed by recursion; no real one is nested nearly as deep. */
const MAX_DEPTH = 100;

/**
 * Fields that make the vendor charge another price than the one in the catalog, and which no client needs for an
 * answer: they stay here.
 */
const PRICE_CHANGING = new Set(['service_tier', 'inference_geo', 'speed']);
/** Tools that the vendor runs itself and charges for by the call. Functions, and tools that the client runs, are free. */
const VENDORS_TOOL =
  /^(web_search|web_fetch|file_search|code_interpreter|code_execution|image_generation|mcp)/;

/** @throws ApiError naming the field at fault */
export function readConversation(kind: StreamKind, body: Body): Conversation {
  refuseDepth(body);
  return kind === 'speech' ? readSpeech(body) : readTalk(kind, body);
}

function readSpeech(body: Body): Conversation {
  requiredText(body, 'input', MAX_SPEECH_CHARS);
  const { voice } = body;
  if (isAbsent(voice)) throw missing('voice');
  const streamed = optionalWord(body, 'stream_format', ['audio', 'sse']) === 'sse';
  return {
    kind: 'speech',
    streamed,
    wantsUsage: true,
    maxOutputTokens: undefined,
    choices: 1,
    body: withoutPriceChanges(body, ['speed']),
  };
}

function readTalk(kind: Exclude<StreamKind, 'speech'>, body: Body): Conversation {
  if (kind === 'responses') refuseBackground(body);
  requireInput(kind, body);
  refuseVendorsTools(body);
  const maxOutputTokens = MAX_TOKENS_FIELDS[kind]
    .map((param) => optionalCount(body, param, MAX_TOKENS_ASKED))
    .reduce((most, count) => (count === undefined ? most : Math.max(most ?? 0, count)), undefined);
  if (kind === 'messages' && maxOutputTokens === undefined) throw missing('max_tokens');
  return {
    kind,
    streamed: optionalBoolean(body, 'stream') ?? false,
    wantsUsage: kind !== 'chat' || wantsUsage(body),
    maxOutputTokens,
    choices: (kind === 'chat' ? optionalCount(body, 'n', MAX_CHOICES) : undefined) ?? 1,
    body: withoutPriceChanges(body),
  };
}

/** The names under which each dialect bounds an answer; of two that are sent the larger counts. */
const MAX_TOKENS_FIELDS = {
  chat: ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
} as const;

function requireInput(kind: Exclude<StreamKind, 'speech'>, body: Body): void {
  const param = kind === 'responses' ? 'input' : 'messages';
  const value = body[param];
  if (kind === 'responses' && typeof value === 'string' && value !== '') return;
  // A stored prompt, or the answer before, may be all the input there is.
  if (
    kind === 'responses' &&
    isAbsent(value) &&
    !(isAbsent(body['prompt']) && isAbsent(body['previous_response_id']))
  )
    return;
  if (isAbsent(value) || value === '') throw missing(param);
  if (!Array.isArray(value)) throw new ApiError('invalid_type', `${param} must be an array.`, { param });
  if (value.length === 0) throw missing(param);
}

/** Such an answer would be fetched later by a path that does not exist here, and its usage would never be known. */
function refuseBackground(body: Body): void {
  if (optionalBoolean(body, 'background'))
    throw invalid('background', 'must be false: answers are not kept here');
}

function refuseVendorsTools(body: Body): void {
  const tools: unknown[] = Array.isArray(body['tools']) ? body['tools'] : [];
  for (const tool of tools) {
    const type = (tool as { type?: unknown } | null)?.type;
    if (typeof type === 'string' && VENDORS_TOOL.test(type)) {
      throw invalid('tools', `must be functions or tools that the client runs, not ${type.slice(0, 50)}`);
    }
  }
  for (const param of ['web_search_options', 'mcp_servers']) {
    if (!isAbsent(body[param])) throw invalid(param, 'is not offered here');
  }
}

function wantsUsage(body: Body): boolean {
  const options = body['stream_options'];
  if (isAbsent(options)) return false;
  if (typeof options !== 'object' || Array.isArray(options)) {
    throw new ApiError('invalid_type', 'stream_options must be an object.', { param: 'stream_options' });
  }
  return (options as Body)['include_usage'] === true;
}

function withoutPriceChanges(body: Body, kept: readonly string[] = []): Body {
  const entries = Object.entries(body).filter(([name]) => kept.includes(name) || !PRICE_CHANGING.has(name));
  return Object.fromEntries(entries);
}

function optionalBoolean(body: Body, param: string): boolean | undefined {
  const value = body[param];
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  throw new ApiError('invalid_type', `${param} must be true or false.`, { param });
}

function optionalCount(body: Body, param: string, most: number): number | undefined {
  const count = optionalInteger(body, param);
  if (count !== undefined && (count < 1 || count > most)) throw invalid(param, `must be from 1 to ${most}`);
  return count;
}

function missing(param: string): ApiError {
  return new ApiError('missing_required_parameter', `${param} is required.`, { param });
}

/** @throws ApiError for a body that later stages could not walk */
function refuseDepth(body: Body): void {
  let level: object[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw new ApiError('invalid_value', `The body is nested more than ${MAX_DEPTH} levels deep.`);
    }
    level = level.flatMap((value) => Object.values(value).filter(isNested));
  }
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
