import type { ErrorCode } from '#platform/errors.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { HttpAnswer, HttpFailure } from './http-call.js';
import type {
  CountOutcome,
  CreateOutcome,
  ImageOutcome,
  PollOutcome,
  Refused,
  UpstreamImage,
} from './outcomes.js';
import { retryAfterMs } from './health/retry-after.js';

export type JsonObject = Record<string, unknown>;

/** The longest upstream texts that are shown to a client or an operator. */
const MAX_MESSAGE_CHARS = 500;
const MAX_CODE_CHARS = 100;
/** An id becomes a path segment and an index entry. Real ones have 36 characters or fewer than 100. */
const MAX_ID_CHARS = 200;

/** What a vendor says, as it came. An outcome only holds the `plainError` of it. */
export interface UpstreamError {
  code: string;
  message: string;
}

export function readObject(body: Buffer): JsonObject | null {
  try {
    return asObject(JSON.parse(body.toString('utf8')));
  } catch {
    return null;
  }
}

export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The error of a body: an object under `error` (OpenAI, Anthropic, and Google, whose code is its `status`), or xAI's
 * `{code, error: text}`. Null if there is none.
 */
export function readError(body: JsonObject | null): UpstreamError | null {
  const nested = asObject(body?.['error']);
  const message = asText(nested?.['message']) ?? asText(body?.['error']);
  const code = ['code', 'type', 'status'].map((field) => asText(nested?.[field])).find((text) => text);
  if (message === undefined && nested === null) return null;
  return {
    code: code ?? asText(body?.['code']) ?? '',
    message: message ?? 'The upstream gave no reason.',
  };
}

/** The `detail` of vendors that use FastAPI: a text, or a list of faults. Null if there is none. */
export function readDetail(body: JsonObject | null): UpstreamError | null {
  const detail = body?.['detail'];
  const first = Array.isArray(detail) ? asObject(detail[0]) : null;
  const message = asText(detail) ?? asText(first?.['msg']);
  if (message === undefined && first === null) return null;
  const code = asText(first?.['type']) ?? asText(body?.['error_type']) ?? '';
  return { code, message: message ?? 'The upstream gave no reason.' };
}

/** Words with which upstreams refuse a prompt for its content, with any status. */
const MODERATION =
  /content[_ -]?(policy|filter)|moderation|safety[_ -]?(system|violation)|usage guidelines|prohibited[_ ]content|responsible ai|nsfw|sensitive ?content|flagged as (sensitive|unsafe)/i;

export function isOfContent({ code, message }: UpstreamError): boolean {
  return MODERATION.test(`${code} ${message}`);
}

/** An error fit for an outcome: without control characters, and not long. */
export function plainError({ code, message }: UpstreamError): UpstreamError {
  return { code: plainText(code, MAX_CODE_CHARS), message: plainText(message, MAX_MESSAGE_CHARS) };
}

function plainText(text: string, maxChars: number): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, maxChars)
    .toWellFormed();
}

/** Reads the images of a success: at most `asked`, and never none. `tokensOf` reads their usage, if it is reported. */
export function readImages(
  answer: HttpAnswer,
  asked: number,
  tokensOf?: (body: JsonObject | null) => TokenCounts | undefined,
): ImageOutcome {
  const upstreamStatus = answer.status;
  const body = readObject(answer.body);
  const data = body?.['data'];
  if (!Array.isArray(data)) return { kind: 'unknown', reason: 'a success without images', upstreamStatus };
  const entries = data.map(asObject).filter((entry) => entry !== null);
  const allowed = entries.filter((entry) => entry['respect_moderation'] !== false);
  const images = allowed.map(readImage).filter((image) => image !== null);
  if (images.length > 0) {
    const tokens = tokensOf?.(body);
    const withheld = entries.length - allowed.length;
    const usage = tokens && { tokens, images: images.length + withheld };
    return { kind: 'delivered', images: images.slice(0, asked), upstreamStatus, usage };
  }
  if (allowed.length === entries.length) {
    return { kind: 'unknown', reason: 'a success without images', upstreamStatus };
  }
  return imagesWithheld(upstreamStatus);
}

/** Every image was made, and none was handed over. */
export function imagesWithheld(upstreamStatus: number): Refused {
  return {
    kind: 'refused',
    status: 400,
    code: 'content_policy_violation',
    message: 'The images were withheld by the content rules of the model.',
    upstreamStatus,
  };
}

function readImage(entry: JsonObject): UpstreamImage | null {
  const b64 = asText(entry['b64_json'])?.replace(/^data:[^,]{0,100},/, '');
  const url = asText(entry['url']);
  if (b64 === undefined && url === undefined) return null;
  return {
    ...(b64 === undefined ? { url } : { b64 }),
    revisedPrompt: asText(entry['revised_prompt']),
    mimeType: asText(entry['mime_type']),
  };
}

export function readCount(answer: HttpAnswer, field: string): CountOutcome {
  const tokens = readObject(answer.body)?.[field];
  if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0)
    return { kind: 'counted', tokens };
  return { kind: 'unknown', reason: 'a success without a count', upstreamStatus: answer.status };
}

/** Reads the id of a created task: `id`, or `request_id` if the upstream only has that. */
export function readCreated(answer: HttpAnswer): CreateOutcome {
  const body = readObject(answer.body);
  const upstreamId = asText(body?.['id']) ?? asText(body?.['request_id']);
  if (upstreamId === undefined || upstreamId.length > MAX_ID_CHARS) {
    return { kind: 'unknown', reason: 'a success without a usable id', upstreamStatus: answer.status };
  }
  return { kind: 'accepted', upstreamId, upstreamStatus: answer.status };
}

/** The words of both dialects. An unknown word says nothing, and the task continues. */
const statusWords: ReadonlyMap<string, 'running' | 'completed' | 'failed'> = new Map([
  ['queued', 'running'],
  ['pending', 'running'],
  ['in_progress', 'running'],
  ['processing', 'running'],
  ['completed', 'completed'],
  ['done', 'completed'],
  ['failed', 'failed'],
  // xAI's word for an abandoned job, documented next to `failed`.
  ['expired', 'failed'],
]);

/** Statuses below 500 that every poll of a channel would get: our key, our balance, our limit, a busy vendor. */
const OF_THE_CHANNEL: readonly number[] = [401, 402, 403, 408, 429];

/** A poll without information about its task. */
export function notAnswered(result: HttpAnswer | HttpFailure, reason?: string): PollOutcome {
  if (result.kind === 'failure') return { kind: 'no_answer', reason: result.reason, of: 'channel' };
  const { status } = result;
  const of = status >= 500 || OF_THE_CHANNEL.includes(status) ? 'channel' : 'task';
  const wait = retryAfterMs(result.retryAfter);
  return { kind: 'no_answer', reason: reason ?? `HTTP ${status}`, of, ...(wait && { retryAfterMs: wait }) };
}

/** Whether an answer names another task than the requested one. An answer without a name is believed. */
export function isOfAnother(body: JsonObject | null, upstreamId: string): boolean {
  const named = ID_FIELDS.map((field) => asText(body?.[field])).filter((id) => id !== undefined);
  return named.length > 0 && !named.includes(upstreamId);
}

const ID_FIELDS = ['id', 'request_id', 'task_id'];

/** For the operator's log. */
export const ANOTHER_TASK = 'the state of another task';

/** For the operator's log. */
export function unknownWord(word: string | undefined): string {
  return `unknown status word ${JSON.stringify(word ?? null).slice(0, 50)}`;
}

/**
 * Reads the answer to a poll. `contentUrl` is the file's address if the answer has none. An answer that names another
 * task than `upstreamId` says nothing.
 */
export function readPoll(answer: HttpAnswer, contentUrl: URL, upstreamId?: string): PollOutcome {
  if (answer.status < 200 || answer.status > 299) return notAnswered(answer);
  if (answer.status === 202 && answer.body.length === 0) return { kind: 'running', progress: null };
  const body = readObject(answer.body);
  if (body === null) return notAnswered(answer, 'a body that is not a JSON object');
  if (upstreamId !== undefined && isOfAnother(body, upstreamId)) return notAnswered(answer, ANOTHER_TASK);
  const word = asText(body['status'])?.toLowerCase();
  // xAI sometimes omits the word from a finished answer. Then, the file's address shows it.
  const state = word === undefined && videoUrl(body) ? 'completed' : statusWords.get(word ?? '');
  if (state === 'running') return { kind: 'running', progress: readProgress(body['progress']) };
  if (state === 'completed') return readCompleted(body, contentUrl);
  if (state === 'failed') return readFailed(body);
  return notAnswered(answer, unknownWord(word));
}

function videoUrl(body: JsonObject): string | undefined {
  return asText(asObject(body['video'])?.['url']);
}

function readCompleted(body: JsonObject, contentUrl: URL): PollOutcome {
  if (asObject(body['video'])?.['respect_moderation'] === false) return VIDEO_WITHHELD;
  const named = videoUrl(body);
  if (named === undefined) return { kind: 'completed', fileUrl: contentUrl.href };
  if (!URL.canParse(named, contentUrl.href))
    return { kind: 'no_answer', reason: 'a video.url that is no address', of: 'task' };
  return { kind: 'completed', fileUrl: new URL(named, contentUrl).href };
}

export const VIDEO_WITHHELD: PollOutcome = {
  kind: 'failed',
  code: 'content_policy_violation',
  message: 'The video was withheld by the content rules of the model.',
};

/** The end of a task whose body says that it failed. */
export function readFailed(body: JsonObject): PollOutcome {
  return failedWith(readError(body) ?? { code: '', message: 'The generation failed.' });
}

export function failedWith(error: UpstreamError): PollOutcome {
  const code: ErrorCode = isOfContent(error) ? 'content_policy_violation' : 'generation_failed';
  return { kind: 'failed', code, message: plainError(error).message };
}

/** The end of a task whose images failed for a reason. It is final, so another channel may be tried. */
export function imagesFailed(error: UpstreamError, upstreamStatus: number): ImageOutcome {
  const { message } = plainError(error);
  if (!isOfContent(error)) return { kind: 'not_accepted', reason: message, upstreamStatus };
  return { kind: 'refused', status: 400, code: 'content_policy_violation', message, upstreamStatus };
}

/** Whole percents. Some upstreams write "40%". */
export function readProgress(value: unknown): number | null {
  const percents = typeof value === 'string' ? Number.parseFloat(value) : value;
  if (typeof percents !== 'number' || !Number.isFinite(percents)) return null;
  return Math.min(100, Math.max(0, Math.round(percents)));
}
