import { ApiError } from '#platform/errors.js';
import type { StreamKind, TalkKind, WrittenKind } from '#upstream/outcomes.js';
import { type Body, invalid, isAbsent } from '../http/fields.js';
import { CONTENTS_FIELDS, refuseUnpricedContents } from '../google/contents-fields.js';
import { knownFields } from '../http/known-fields.js';
import { conversationBodies } from './conversation-bodies.js';
import { refuseKeptFile, refuseKeptItem } from './kept-by-vendor.js';

/** More fields of every OpenAI dialect. Each is metered as tokens, or costs nothing. */
const OPENAI = [
  'stream_options',
  'temperature',
  'top_p',
  'top_logprobs',
  'tool_choice',
  'parallel_tool_calls',
  'metadata',
  'user',
  'safety_identifier',
  'store',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
];

/** The field with the model's input in each dialect. */
export const INPUT_FIELD = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
  contents: 'contents',
  speech: 'input',
  transcription: 'file',
  translation: 'file',
  embeddings: 'input',
  imageStream: 'prompt',
  editStream: 'prompt',
} as const;

/** Fields that are passed on. None of them is billed beyond tokens, as searches, sounds, predictions and plugins are. */
const FIELDS: Record<WrittenKind, ReadonlySet<string>> = {
  chat: new Set([
    ...conversationBodies.chat.names,
    ...OPENAI,
    'stop',
    'seed',
    'logit_bias',
    'logprobs',
    'frequency_penalty',
    'presence_penalty',
    'response_format',
    'modalities',
    'functions',
    'function_call',
    'reasoning_effort',
    'verbosity',
    // Fields of vendors with the same dialect: sampling, and thinking, which is metered as output.
    'top_k',
    'min_p',
    'repetition_penalty',
    'thinking',
    'enable_thinking',
    'thinking_budget',
    'reasoning',
  ]),
  responses: new Set([
    ...conversationBodies.responses.names,
    ...OPENAI,
    'instructions',
    'max_tool_calls',
    'include',
    'reasoning',
    'text',
    'truncation',
  ]),
  messages: new Set([
    ...conversationBodies.messages.names,
    'system',
    'stop_sequences',
    'temperature',
    'top_k',
    'top_p',
    'tool_choice',
    'thinking',
    'metadata',
    'cache_control',
    'context_management',
    'output_config',
    'output_format',
    'service_tier',
    'speed',
    'inference_geo',
  ]),
  contents: CONTENTS_FIELDS.body,
  embeddings: new Set([...conversationBodies.embeddings.names, 'user']),
  transcription: new Set(conversationBodies.transcription.names),
  translation: new Set(conversationBodies.translation.names),
  speech: new Set([...conversationBodies.speech.names, 'speed']),
};

/**
 * Fields that can change the vendor's price, and the values that do not. They are not passed on, because these values are the
 * default.
 */
const PRICE_CHANGING: Partial<Record<StreamKind, Readonly<Record<string, readonly string[]>>>> = {
  chat: { service_tier: ['auto', 'default'] },
  responses: { service_tier: ['auto', 'default'] },
  messages: { service_tier: ['auto', 'standard_only'], speed: ['standard'], inference_geo: ['global'] },
  contents: { serviceTier: ['unspecified', 'standard'] },
};

/** Functions and tools that the client runs: only their text is metered. The vendor runs any other tool, at a price. */
const FREE_TOOLS: Record<TalkKind, { rule: RegExp; such: string; withoutType: boolean }> = {
  chat: { rule: /^(function|custom)$/, such: 'function or custom', withoutType: false },
  responses: {
    rule: /^(function|custom|local_shell|apply_patch)$/,
    such: 'function, custom, local_shell or apply_patch',
    withoutType: false,
  },
  messages: {
    rule: /^(custom|(bash|text_editor|memory)_\d{8})$/,
    such: 'custom, or bash, text_editor or memory with a date',
    withoutType: true,
  },
};

/** Text, images and documents are metered as tokens at the price of input; sounds and films have prices of their own. */
const PARTS: Record<TalkKind, readonly string[]> = {
  chat: ['text', 'image_url', 'file', 'refusal'],
  responses: [
    'input_text',
    'input_image',
    'input_file',
    'output_text',
    'text',
    'refusal',
    'summary_text',
    'reasoning_text',
  ],
  messages: [
    'text',
    'image',
    'document',
    'search_result',
    'tool_use',
    'tool_result',
    'tool_reference',
    'thinking',
    'redacted_thinking',
  ],
};

/** What the input of a response can contain besides messages: calls of free tools, and their results. */
const ITEMS = [
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
];

/**
 * The body of a conversation without the fields that are not passed on. Anything that the relay cannot price is refused, also
 * inside tools, modalities and contents. @throws ApiError naming the field
 */
export function pricedFields(kind: WrittenKind, body: Body): Body {
  const known = knownFields(body, FIELDS[kind]);
  if (isTalk(kind)) refuseUnpriced(kind, known);
  if (kind === 'contents') refuseUnpricedContents(known);
  const changing = PRICE_CHANGING[kind] ?? {};
  for (const [param, words] of Object.entries(changing)) refuseOtherWords(known, param, words);
  return Object.fromEntries(Object.entries(known).filter(([name]) => !Object.hasOwn(changing, name)));
}

export function isTalk(kind: StreamKind): kind is TalkKind {
  return Object.hasOwn(PARTS, kind);
}

function refuseOtherWords(body: Body, param: string, words: readonly string[]): void {
  const value = body[param];
  if (!isAbsent(value) && !words.includes(value as string)) {
    throw invalid(param, `must be ${words.join(' or ')}, or be left out: others cost more`);
  }
}

function refuseUnpriced(kind: TalkKind, body: Body): void {
  refuseTools(kind, body);
  for (const modality of listOf(body['modalities'])) {
    if (modality !== 'text') throw invalid('modalities', 'must be ["text"]: audio is not generated here');
  }
  for (const edit of listOf((body['context_management'] as Body | null | undefined)?.['edits'])) {
    const type = typeOf(edit);
    // Clearing costs nothing, and a summary is another answer.
    if (!type?.startsWith('clear_')) throw notOffered('context_management', type);
  }
  if (kind === 'messages') refuseParts(kind, 'system', body['system']);
  if (kind === 'responses') refuseItems(body['input']);
  else for (const message of listOf(body['messages'])) refuseMessage(kind, message);
}

function refuseTools(kind: TalkKind, body: Body): void {
  const { rule, such, withoutType } = FREE_TOOLS[kind];
  for (const tool of listOf(body['tools'])) {
    const type = typeOf(tool);
    if (type === undefined ? withoutType : rule.test(type)) continue;
    const named = type === undefined ? 'a tool without a type' : type.slice(0, MAX_TYPE_CHARS);
    throw invalid('tools', `must be of type ${such}, which the client runs, not ${named}`);
  }
}

function refuseMessage(kind: 'chat' | 'messages', message: unknown): void {
  if (typeof message !== 'object' || message === null) return;
  const { content, audio } = message as Body;
  if (!isAbsent(audio)) throw invalid('messages', 'must not hold audio: it has no price here');
  refuseParts(kind, 'messages', content);
}

function refuseItems(input: unknown): void {
  for (const item of listOf(input)) {
    const known = (item ?? {}) as Body;
    refuseKeptItem(known);
    const type = typeOf(item);
    if (type !== undefined && !ITEMS.includes(type)) throw notOffered('input', type);
    const { content, output } = known;
    refuseParts('responses', 'input', content);
    refuseParts('responses', 'input', output);
  }
}

/** `parts`: a list of them; anything else is text, or a fault that the upstream reports. */
function refuseParts(kind: TalkKind, param: string, parts: unknown): void {
  for (const part of listOf(parts)) {
    const type = typeOf(part);
    if (type !== undefined && !PARTS[kind].includes(type)) throw notOffered(param, type);
    const known = (part ?? {}) as Body;
    refuseKeptFile(known, param);
    if (type === 'tool_result') refuseParts(kind, param, known['content']);
    if (type === 'document') refuseParts(kind, param, (known['source'] as Body | undefined)?.['content']);
  }
}

function notOffered(param: string, type: string | undefined): ApiError {
  return invalid(
    param,
    `must not hold ${(type ?? 'a part without a type').slice(0, MAX_TYPE_CHARS)}: it is not offered here`,
  );
}

const MAX_TYPE_CHARS = 50;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function typeOf(value: unknown): string | undefined {
  const type = (value as { type?: unknown } | null | undefined)?.type;
  return typeof type === 'string' ? type : undefined;
}
