import {
  ANOTHER_TASK,
  asObject,
  asText,
  failedWith,
  isOfAnother,
  type JsonObject,
  notAnswered,
  readObject,
  readProgress,
  unknownWord,
  type UpstreamError,
} from '../answers.js';
import type { HttpAnswer, HttpFailure } from '../http-call.js';
import type { CreateOutcome, PollOutcome } from '../outcomes.js';

/** The kinds of work that the vendor keeps apart: the tasks of each have their own path. */
const WORKS = ['v2/text-to-3d', 'v1/image-to-3d', 'v1/multi-image-to-3d', 'v1/retexture'] as const;
export type MeshyWork = (typeof WORKS)[number];

interface MeshyTask {
  work: MeshyWork;
  /** Nothing in it needs escaping. */
  id: string;
}

const TASK_PATH = new RegExp(`^(${WORKS.join('|')})/([\\w-]{1,128})$`);

/** Our id is the path of a task, because the vendor shows it only there. */
export function readTaskPath(upstreamId: string): MeshyTask | null {
  const [, work, id] = TASK_PATH.exec(upstreamId) ?? [];
  return work === undefined || id === undefined ? null : { work: work as MeshyWork, id };
}

/** Reads the id of a created task, which is the whole answer. */
export function readCreatedTask(answer: HttpAnswer, work: MeshyWork): CreateOutcome {
  const upstreamStatus = answer.status;
  const upstreamId = `${work}/${asText(readObject(answer.body)?.['result']) ?? ''}`;
  if (readTaskPath(upstreamId)) return { kind: 'accepted', upstreamId, upstreamStatus };
  return { kind: 'unknown', reason: 'a success without a usable id', upstreamStatus };
}

/** An error is only a message. */
export function readMessage(body: JsonObject | null): UpstreamError | null {
  const message = asText(body?.['message']);
  return message === undefined ? null : { code: '', message };
}

/** Reads the state of a task, and the address of its GLB. */
export function readTaskState(result: HttpAnswer | HttpFailure, id: string): PollOutcome {
  if (result.kind === 'failure' || result.status !== 200) return notAnswered(result);
  const body = readObject(result.body);
  if (body === null || isOfAnother(body, id)) return notAnswered(result, ANOTHER_TASK);
  const word = asText(body['status']);
  switch (word) {
    case 'PENDING':
    case 'IN_PROGRESS':
      return { kind: 'running', progress: readProgress(body['progress']) };
    case 'SUCCEEDED':
      return readGlb(body);
    case 'FAILED':
    case 'CANCELED':
      return failedWith(readMessage(asObject(body['task_error'])) ?? UNEXPLAINED);
    default:
      return notAnswered(result, unknownWord(word));
  }
}

const UNEXPLAINED: UpstreamError = { code: '', message: 'The generation failed.' };

function readGlb(body: JsonObject): PollOutcome {
  const fileUrl = asText(asObject(body['model_urls'])?.['glb']);
  if (fileUrl !== undefined && URL.canParse(fileUrl)) return { kind: 'completed', fileUrl };
  return { kind: 'no_answer', reason: 'a finished task without a GLB', of: 'task' };
}
