import {
  ANOTHER_TASK,
  asObject,
  asText,
  failedWith,
  imagesWithheld,
  isOfAnother,
  type JsonObject,
  notAnswered,
  readDetail,
  readObject,
  unknownWord,
  type UpstreamError,
} from '../answers.js';
import { classifyError } from '../classification.js';
import type { HttpAnswer, HttpFailure } from '../http-call.js';
import type { CreateOutcome, ImageOutcome, PollOutcome, UpstreamImage } from '../outcomes.js';
import { type ImagesPending, pendingAfter } from '../polled-images.js';

/** Owner and app, sometimes with a namespace before, and the request. */
const REQUEST_PATH = /^[\w-][\w.-]{0,63}(?:\/[\w-][\w.-]{0,63}){1,2}\/requests\/[\w-]{1,64}$/;
const NAMESPACES = ['workflows', 'comfy'];

/** Whether an id is the path of a request. Nothing in it needs escaping. */
export function isRequestPath(id: string): boolean {
  return REQUEST_PATH.test(id);
}

/** The start of the paths of an endpoint's requests: only owner and app. */
export function appOf(endpoint: string): string {
  const segments = endpoint.split('/');
  return segments.slice(0, NAMESPACES.includes(segments[0] ?? '') ? 3 : 2).join('/');
}

/** Reads a submitted request. Its id is the path that status, result and cancel share. */
export function readSubmitted(answer: HttpAnswer, app: string): CreateOutcome {
  const upstreamStatus = answer.status;
  const upstreamId = `${app}/requests/${asText(readObject(answer.body)?.['request_id']) ?? ''}`;
  if (isRequestPath(upstreamId)) return { kind: 'accepted', upstreamId, upstreamStatus };
  return { kind: 'unknown', reason: 'a success without a usable request_id', upstreamStatus };
}

/** The state of a request, or why a poll says nothing. `COMPLETED` also means failed: the result shows which. */
export function readStatus(result: HttpAnswer | HttpFailure, id: string): 'completed' | PollOutcome {
  if (result.kind === 'failure' || result.status > 299) return notAnswered(result);
  const body = readObject(result.body);
  if (isOfAnother(body, id.split('/').at(-1) ?? '')) return notAnswered(result, ANOTHER_TASK);
  const word = asText(body?.['status']);
  if (word === 'IN_QUEUE' || word === 'IN_PROGRESS') return { kind: 'running', progress: null };
  return word === 'COMPLETED' ? 'completed' : notAnswered(result, unknownWord(word));
}

/** The queue's message about a result that its status was ahead of. */
const TOO_EARLY = /still in progress/i;

interface End {
  body: JsonObject;
  /** Null for a success. */
  error: UpstreamError | null;
}

/**
 * The end of a request, from its result. An error ends it if it is the request's own, which a server fault shows by its
 * type. Any other may be the queue's or a proxy's, while the work is done and paid for, so it is polled again.
 */
function readEnd(result: HttpAnswer): End | null {
  const { status } = result;
  const body = readObject(result.body);
  if (body === null || status === 202) return null;
  if (status < 300) return { body, error: null };
  const error = readDetail(body);
  if (error === null || TOO_EARLY.test(error.message)) return null;
  const isOwn = status === 400 || status === 422 || (status >= 500 && error.code !== '');
  return isOwn ? { body, error } : null;
}

/** Reads the images of a result: at most `asked`, and never none. */
export function readImageResult(
  result: HttpAnswer | HttpFailure,
  asked: number,
): ImageOutcome | ImagesPending {
  const end = result.kind === 'failure' ? null : readEnd(result);
  if (result.kind === 'failure' || end === null) return pendingAfter(notAnswered(result));
  const { body, error } = end;
  const upstreamStatus = result.status;
  if (error) return classifyError(result, 'answer', { errorOf: readDetail });
  const list: unknown[] = Array.isArray(body['images']) ? body['images'] : [body['image']];
  const flags = flagsOf(body);
  const made = list.map(readImage);
  // A flagged image is delivered as a black image.
  const images = made.filter((image, index) => image !== null && flags[index] !== true) as UpstreamImage[];
  if (images.length > 0) return { kind: 'delivered', images: images.slice(0, asked), upstreamStatus };
  if (made.some((image) => image !== null)) return imagesWithheld(upstreamStatus);
  return { kind: 'unknown', reason: 'a result without images', upstreamStatus };
}

/** The findings of the safety checker, in the order of the images. */
function flagsOf({ has_nsfw_concepts: flags }: JsonObject): unknown[] {
  return Array.isArray(flags) ? flags : [];
}

function readImage(entry: unknown): UpstreamImage | null {
  const file = asObject(entry);
  const url = asText(file?.['url']);
  if (url === undefined) return null;
  const mimeType = asText(file?.['content_type']);
  const [head = '', b64] = url.startsWith('data:') ? url.split(',', 2) : [];
  return b64 !== undefined && head.endsWith(';base64') ? { b64, mimeType } : { url, mimeType };
}

export function readVideoResult(result: HttpAnswer | HttpFailure): PollOutcome {
  if (result.kind === 'failure') return notAnswered(result);
  const end = readEnd(result);
  if (end === null) return notAnswered(result, `a result that says no end: HTTP ${result.status}`);
  const { body, error } = end;
  if (error) return failedWith(error);
  if (flagsOf(body)[0] === true) return failedWith({ code: 'content_policy_violation', message: WITHHELD });
  const list: unknown[] = Array.isArray(body['videos']) ? body['videos'] : [body['video']];
  const fileUrl = asText(asObject(list[0])?.['url']);
  if (fileUrl !== undefined && URL.canParse(fileUrl)) return { kind: 'completed', fileUrl };
  return { kind: 'no_answer', reason: 'a result without a video', of: 'task' };
}

const WITHHELD = 'The video was withheld by the content rules of the model.';
