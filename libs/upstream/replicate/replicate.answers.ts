import {
  ANOTHER_TASK,
  asText,
  failedWith,
  imagesFailed,
  isOfAnother,
  type JsonObject,
  notAnswered,
  readObject,
  unknownWord,
  type UpstreamError,
} from '../answers.js';
import type { HttpAnswer, HttpFailure } from '../http-call.js';
import type { CreateOutcome, ImageOutcome, PollOutcome } from '../outcomes.js';
import { type ImagesPending, pendingAfter } from '../polled-images.js';

const ID = /^[\w-]{1,64}$/;

/** Whether an id is that of a prediction. Nothing in it needs escaping. */
export function isPredictionId(id: string): boolean {
  return ID.test(id);
}

/** The error, in a problem's `title` and `detail`. */
export function readProblem(body: JsonObject | null): UpstreamError | null {
  const detail = asText(body?.['detail']);
  if (detail === undefined) return null;
  return { code: asText(body?.['title']) ?? '', message: detail };
}

export function readPrediction(answer: HttpAnswer): CreateOutcome {
  const upstreamId = asText(readObject(answer.body)?.['id']) ?? '';
  const upstreamStatus = answer.status;
  if (isPredictionId(upstreamId)) return { kind: 'accepted', upstreamId, upstreamStatus };
  return { kind: 'unknown', reason: 'a success without a usable id', upstreamStatus };
}

/** `aborted` means cancelled before it began. */
const WORDS: ReadonlyMap<string, 'running' | 'succeeded' | 'failed'> = new Map([
  ['starting', 'running'],
  ['processing', 'running'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
  ['aborted', 'failed'],
]);

type End = { files: string[]; error?: undefined } | { error: UpstreamError };

function readEnd(result: HttpAnswer | HttpFailure, id: string): End | PollOutcome {
  if (result.kind === 'failure' || result.status > 299) return notAnswered(result);
  const body = readObject(result.body);
  if (isOfAnother(body, id)) return notAnswered(result, ANOTHER_TASK);
  const word = asText(body?.['status']);
  const state = WORDS.get(word ?? '');
  if (state === undefined) return notAnswered(result, unknownWord(word));
  if (state === 'running') return { kind: 'running', progress: null };
  if (state === 'succeeded') return { files: filesIn(body?.['output']) };
  return { error: { code: word ?? '', message: asText(body?.['error']) ?? `The prediction was ${word}.` } };
}

/** The addresses of an output, which is one or a list. */
function filesIn(output: unknown): string[] {
  const list: unknown[] = Array.isArray(output) ? output : [output];
  return list.filter((each): each is string => typeof each === 'string' && URL.canParse(each));
}

/** Reads the images of a prediction: at most `asked`, and never none. */
export function readOutputImages(
  result: HttpAnswer | HttpFailure,
  { id, asked }: { id: string; asked: number },
): ImageOutcome | ImagesPending {
  const end = readEnd(result, id);
  if ('kind' in end) return pendingAfter(end);
  const upstreamStatus = result.status ?? 0;
  if (end.error) return imagesFailed(end.error, upstreamStatus);
  const images = end.files.slice(0, asked).map((url) => ({ url }));
  if (images.length > 0) return { kind: 'delivered', images, upstreamStatus };
  return { kind: 'unknown', reason: 'a prediction without images', upstreamStatus };
}

export function readOutputVideo(result: HttpAnswer | HttpFailure, id: string): PollOutcome {
  const end = readEnd(result, id);
  if ('kind' in end) return end;
  if (end.error) return failedWith(end.error);
  const [fileUrl] = end.files;
  if (fileUrl !== undefined) return { kind: 'completed', fileUrl };
  return { kind: 'no_answer', reason: 'a prediction without a video', of: 'task' };
}
