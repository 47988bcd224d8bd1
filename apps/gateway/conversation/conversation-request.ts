import type { ModelLimits } from '#catalog/catalog.js';
import { ApiError } from '#platform/errors.js';
import { isText } from '#platform/http/long-text.js';
import type { HearingKind, ImageStreamKind, StreamKind, TalkKind, WrittenKind } from '#upstream/outcomes.js';
import { type Body, invalid, isAbsent } from '../http/fields.js';
import { MAX_EMBEDDED } from '../http/limits.js';
import type { Measure } from '#catalog/model-limits.js';
import { type TextFormat, upstreamFormat } from '../transcriptions/transcript-text.js';
import { ANSWER_TOKENS, CHOICES, conversationBodies } from './conversation-bodies.js';
import { refuseKeptAnswers, withoutKeptReasoning } from './kept-by-vendor.js';
import { INPUT_FIELD, isTalk, pricedFields } from './conversation-fields.js';

/** A pass-through request with checked fields. Known and priced fields are passed on unchanged. */
export interface Conversation {
  readonly kind: StreamKind;
  /** Whether the answer is streamed as server-sent events. */
  readonly streamed: boolean;
  /** Whether a streamed chat requested the chunk with the usage. */
  readonly wantsUsage: boolean;
  /**
   * The maximum length of one answer in tokens, and the field that sets it. Undefined if the request leaves it to the model.
   */
  readonly maxOutputTokens: Measure<number> | undefined;
  /** The number of answers to the request, each up to that length. */
  readonly choices: number;
  /** The requested format of a transcript. Omitted for JSON, which is passed on unchanged. */
  readonly writtenAs?: TextFormat;
  /** The body for the upstream, without the model's name. */
  readonly body: Body;
}

/** @throws ApiError naming the field */
export function readConversation(kind: WrittenKind, body: Body): Conversation {
  if (kind === 'embeddings') return readEmbeddings(body);
  if (kind === 'contents') return readContents(body);
  if (kind === 'speech') return readSpeech(body);
  return isTalk(kind) ? readTalk(kind, body) : readHearing(kind, body);
}

/** One or several texts, each as text or as tokens. */
function readEmbeddings(body: Body): Conversation {
  const { input } = body;
  if (isAbsent(input) || input === '' || (Array.isArray(input) && input.length === 0)) throw missing('input');
  if (!isText(input) && !Array.isArray(input)) {
    throw new ApiError('invalid_type', 'input must be a text or an array of texts.', { param: 'input' });
  }
  const isOne = isText(input) || input.every((each) => typeof each === 'number');
  if (!isOne && input.length > MAX_EMBEDDED) throw invalid('input', `must be at most ${MAX_EMBEDDED} texts`);
  const { read } = conversationBodies.embeddings;
  read.encoding_format(body);
  read.dimensions(body);
  return {
    kind: 'embeddings',
    streamed: false,
    wantsUsage: true,
    maxOutputTokens: undefined,
    choices: 1,
    body: pricedFields('embeddings', body),
  };
}

function readSpeech(body: Body): Conversation {
  const { read } = conversationBodies.speech;
  read.input(body);
  read.instructions(body);
  if (isAbsent(read.voice(body))) throw missing('voice');
  const streamed = read.stream_format(body) === 'sse';
  return {
    kind: 'speech',
    streamed,
    wantsUsage: true,
    maxOutputTokens: undefined,
    choices: 1,
    body: pricedFields('speech', body),
  };
}

function readHearing(kind: HearingKind, body: Body): Conversation {
  const { read } = conversationBodies.transcription;
  read.language(body);
  read.prompt(body);
  read.temperature(body);
  const format = read.response_format(body) ?? 'json';
  read.timestamp_granularities(body);
  const streamed = read.stream(body) ?? false;
  if (streamed && format !== 'json') throw invalid('stream', 'must be false with another format than json');
  const known = pricedFields(kind, body);
  const common = { kind, streamed, wantsUsage: true, maxOutputTokens: undefined, choices: 1 };
  if (format === 'json' || format === 'verbose_json') return { ...common, body: known };
  const { timestamp_granularities: _, ...rest } = known;
  return { ...common, writtenAs: format, body: { ...rest, response_format: upstreamFormat(format) } };
}

function readTalk(kind: TalkKind, sent: Body): Conversation {
  const body = kind === 'responses' ? withoutKeptReasoning(sent) : sent;
  if (kind === 'responses') {
    refuseBackground(body);
    refuseKeptAnswers(body);
  }
  requireInput(kind, body);
  const maxOutputTokens = readMaxTokens(kind, body);
  if (kind === 'messages' && maxOutputTokens === undefined) throw missing('max_tokens');
  return {
    kind,
    streamed: conversationBodies[kind].read.stream(body) ?? false,
    wantsUsage: kind !== 'chat' || wantsUsage(body),
    maxOutputTokens,
    choices: (kind === 'chat' ? conversationBodies.chat.read.n(body) : undefined) ?? 1,
    body: pricedFields(kind, body),
  };
}

/** Google has the fields about the answer in a separate object. */
function readContents(body: Body): Conversation {
  requireInput('contents', body);
  const priced = pricedFields('contents', body);
  const { maxOutputTokens, candidateCount } = (priced['generationConfig'] ?? {}) as Body;
  const limits = { [MAX_TOKENS_OF_CONTENTS]: maxOutputTokens, [CANDIDATES]: candidateCount };
  const most = ANSWER_TOKENS.read(limits, MAX_TOKENS_OF_CONTENTS);
  return {
    kind: 'contents',
    streamed: body['stream'] === true,
    wantsUsage: true,
    maxOutputTokens: most === undefined ? undefined : { value: most, param: MAX_TOKENS_OF_CONTENTS },
    choices: CHOICES.read(limits, CANDIDATES) ?? 1,
    body: priced,
  };
}

/** If two are sent, the larger one counts. */
function readMaxTokens(kind: TalkKind, body: Body): Conversation['maxOutputTokens'] {
  return MAX_TOKENS_FIELDS[kind]
    .map((param) => ({ param, value: ANSWER_TOKENS.read(body, param) }))
    .reduce<Conversation['maxOutputTokens']>((most, { param, value }) => {
      if (value === undefined || (most && most.value >= value)) return most;
      return { param, value };
    }, undefined);
}

/** The request with the model's own limit if it sets none, because nothing is held for a longer answer. */
export function withModelsLimit(asked: Conversation, { maxOutputTokens }: ModelLimits): Conversation {
  const { kind, body } = asked;
  if (asked.maxOutputTokens || maxOutputTokens === undefined) return asked;
  if (kind === 'contents') {
    const generationConfig = { ...(body['generationConfig'] as Body | undefined), maxOutputTokens };
    return { ...asked, body: { ...body, generationConfig } };
  }
  if (!isTalk(kind)) return asked;
  return { ...asked, body: { ...body, [MAX_TOKENS_FIELDS[kind][0]]: maxOutputTokens } };
}

/** The names under which each dialect bounds an answer; the first is sent where the client sent none. */
const MAX_TOKENS_FIELDS = {
  chat: ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
} as const;
const MAX_TOKENS_OF_CONTENTS = 'generationConfig.maxOutputTokens';
const CANDIDATES = 'generationConfig.candidateCount';

function requireInput(kind: TalkKind | 'contents', body: Body): void {
  const param = INPUT_FIELD[kind];
  const value = body[param];
  if (kind === 'responses' && isText(value) && value !== '') return;
  if (isAbsent(value) || value === '') throw missing(param);
  if (!Array.isArray(value)) throw new ApiError('invalid_type', `${param} must be an array.`, { param });
  if (value.length === 0) throw missing(param);
}

/** Such an answer would be fetched later by a path that does not exist here, and its usage would never be known. */
function refuseBackground(body: Body): void {
  if (conversationBodies.responses.read.background(body))
    throw invalid('background', 'must be false: answers are not kept here');
}

function wantsUsage(body: Body): boolean {
  const options = body['stream_options'];
  if (isAbsent(options)) return false;
  if (typeof options !== 'object' || Array.isArray(options)) {
    throw new ApiError('invalid_type', 'stream_options must be an object.', { param: 'stream_options' });
  }
  return (options as Body)['include_usage'] === true;
}

function missing(param: string): ApiError {
  return new ApiError('missing_required_parameter', `${param} is required.`, { param });
}

/** Whether the client sees the answer grow, so that leaving is a decision. */
export function isGradual({ kind, streamed }: Conversation): boolean {
  return (streamed && !isOfImages(kind)) || kind === 'speech';
}

/** Whether it makes images, which are completed for a client that left, streamed or not. */
export function isOfImages(kind: StreamKind): kind is ImageStreamKind {
  return kind === 'imageStream' || kind === 'editStream';
}
