import type { ErrorCode } from '#platform/errors.js';
import {
  asObject,
  asText,
  imagesWithheld,
  isOfContent,
  type JsonObject,
  notAnswered,
  readDetail,
  readObject,
  unknownWord,
} from '../answers.js';
import { classifyError } from '../classification.js';
import type { HttpAnswer, HttpFailure } from '../http-call.js';
import type { CreateOutcome, ImageOutcome, PollOutcome, UpstreamImage } from '../outcomes.js';
import type { ImagesPending } from '../polled-images.js';

/** Owner and app, with a namespace before some, and the request. */
const REQUEST_PATH = /^[\w-][\w.-]{0,63}(?:\/[\w-][\w.-]{0,63}){1,2}\/requests\/[\w-]{1,64}$/;
const NAMESPACES = ['workflows', 'comfy'];

/** Whether an id is the path of a request; nothing in it needs escaping. */
export function isRequestPath(id: string): boolean {
  return REQUEST_PATH.test(id);
}

/** Reads a submitted request: its id is the path that status, result and cancel share, of owner and app alone. */
export function readSubmitted(answer: HttpAnswer, endpoint: string): CreateOutcome {
  const upstreamStatus = answer.status;
  const segments = endpoint.split('/');
  const app = segments.slice(0, NAMESPACES.includes(segments[0] ?? '') ? 3 : 2).join('/');
  const upstreamId = `${app}/requests/${asText(readObject(answer.body)?.['request_id']) ?? ''}`;
  if (isRequestPath(upstreamId)) return { kind: 'accepted', upstreamId, upstreamStatus };
  return { kind: 'unknown', reason: 'a success without a usable request_id', upstreamStatus };
}

/** The state of a request, or why a poll says nothing. `COMPLETED` also means failed: the result says which. */
export function readStatus(result: HttpAnswer | HttpFailure): 'completed' | PollOutcome {
  if (result.kind === 'failure' || result.status > 299) return notAnswered(result);
  const word = asText(readObject(result.body)?.['status']);
  if (word === 'IN_QUEUE' || word === 'IN_PROGRESS') return { kind: 'running', progress: null };
  return word === 'COMPLETED' ? 'completed' : notAnswered(result, unknownWord(word));
}

/** A result that is an error of the request's own. One without a reason may be any proxy's, and is asked again. */
function isEnd({ status, body }: HttpAnswer): boolean {
  return (status < 300 || [400, 422].includes(status) || status >= 500) && readObject(body) !== null;
}

/** Reads the images of a result; at most `asked`, and never none. */
export function readImageResult(
  result: HttpAnswer | HttpFailure,
  asked: number,
): ImageOutcome | ImagesPending {
  if (result.kind === 'failure' || !isEnd(result)) return { kind: 'pending' };
  const body = readObject(result.body);
  const upstreamStatus = result.status;
  if (upstreamStatus > 299) {
    return readDetail(body) ? classifyError(result, 'answer', { errorOf: readDetail }) : { kind: 'pending' };
  }
  const list: unknown[] = Array.isArray(body?.['images']) ? body['images'] : [body?.['image']];
  const flags: unknown[] = Array.isArray(body?.['has_nsfw_concepts']) ? body['has_nsfw_concepts'] : [];
  const made = list.map(readImage);
  // What the checker flagged is handed over as a black image.
  const images = made.filter((image, index) => image !== null && flags[index] !== true) as UpstreamImage[];
  if (images.length > 0) return { kind: 'delivered', images: images.slice(0, asked), upstreamStatus };
  if (made.some((image) => image !== null)) return imagesWithheld(upstreamStatus);
  return { kind: 'unknown', reason: 'a result without images', upstreamStatus };
}

function readImage(entry: unknown): UpstreamImage | null {
  const file = asObject(entry);
  const url = asText(file?.['url']);
  if (url === undefined) return null;
  const mimeType = asText(file?.['content_type']);
  const [head = '', b64] = url.startsWith('data:') ? url.split(',', 2) : [];
  return b64 !== undefined && head.endsWith(';base64') ? { b64, mimeType } : { url, mimeType };
}

/** Reads the video of a result. */
export function readVideoResult(result: HttpAnswer | HttpFailure): PollOutcome {
  if (result.kind === 'failure' || !isEnd(result)) return notAnswered(result);
  const body = readObject(result.body);
  if (result.status > 299) return readFailure(result, body);
  const list: unknown[] = Array.isArray(body?.['videos']) ? body['videos'] : [body?.['video']];
  const fileUrl = asText(asObject(list[0])?.['url']);
  if (fileUrl !== undefined && URL.canParse(fileUrl)) return { kind: 'completed', fileUrl };
  return { kind: 'no_answer', reason: 'a result without a video', of: 'task' };
}

function readFailure(result: HttpAnswer, body: JsonObject | null): PollOutcome {
  const error = readDetail(body);
  if (!error) return notAnswered(result);
  const code: ErrorCode = isOfContent(error) ? 'content_policy_violation' : 'generation_failed';
  return { kind: 'failed', code, message: error.message };
}
