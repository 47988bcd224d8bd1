import { Readable } from 'node:stream';
import {
  ANOTHER_TASK,
  asObject,
  asText,
  type JsonObject,
  notAnswered,
  readFailed,
  readObject,
  VIDEO_WITHHELD,
} from '../answers.js';
import { readOperationName } from '../gemini/gemini.answers.js';
import { FileUnavailable, type FileBody } from '../file-download.js';
import type { HttpAnswer } from '../http-call.js';
import type { CreateOutcome, PollOutcome } from '../outcomes.js';

/** The name of an operation is part of a path, so nothing in it needs escaping, and no part is a dot segment. */
const OPERATION =
  /^(projects\/[a-z0-9][a-z0-9:.-]{0,62}\/locations\/[a-z0-9-]{1,40}\/publishers\/google\/models\/\w[\w.@-]{0,99})\/operations\/[\w-]{1,100}$/;

/** The model of an operation, as a path; null if it is no name of an operation. */
export function modelOfOperation(name: string): string | null {
  return OPERATION.exec(name)?.[1] ?? null;
}

export function readStarted(answer: HttpAnswer): CreateOutcome {
  return readOperationName(answer, (name) => modelOfOperation(name) !== null);
}

/** Reads the operation with a name. It contains its video: `fileUrl` says where to get it again. */
export function readFetched(answer: HttpAnswer, name: string, fileUrl: string): PollOutcome {
  if (answer.status !== 200) return notAnswered(answer);
  const body = readObject(answer.body);
  if (body === null) return notAnswered(answer, 'a body that is not a JSON object');
  if ((asText(body['name']) ?? name) !== name) return notAnswered(answer, ANOTHER_TASK);
  if (asObject(body['error'])) return readFailed(body);
  if (body['done'] !== true) return { kind: 'running', progress: null };
  const response = asObject(body['response']);
  if (videoOf(response) !== undefined) return { kind: 'completed', fileUrl };
  if (Number(response?.['raiMediaFilteredCount']) > 0) return VIDEO_WITHHELD;
  return { kind: 'no_answer', reason: 'an operation that is done without a video', of: 'task' };
}

/** The video inside a finished operation. @throws FileUnavailable */
export function readVideo(answer: HttpAnswer, maxBytes: number): FileBody {
  if (answer.status !== 200) {
    const mayPass = answer.status >= 500 || answer.status === 429;
    throw new FileUnavailable(`HTTP ${answer.status}`, { mayPass });
  }
  const text = videoOf(asObject(readObject(answer.body)?.['response']));
  if (text === undefined) throw new FileUnavailable('an operation without a video');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0) throw new FileUnavailable('a video that is no base64');
  if (bytes.length > maxBytes) throw new FileUnavailable(`${bytes.length} bytes, ${maxBytes} allowed`);
  return { body: Readable.from([bytes], { objectMode: false }), bytes: bytes.length };
}

function videoOf(response: JsonObject | null): string | undefined {
  const videos: unknown[] = Array.isArray(response?.['videos']) ? response['videos'] : [];
  return asText(asObject(videos[0])?.['bytesBase64Encoded']);
}
