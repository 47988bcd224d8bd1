import {
  ANOTHER_TASK,
  asObject,
  asText,
  imagesWithheld,
  notAnswered,
  readFailed,
  readObject,
  readProgress,
  type JsonObject,
  VIDEO_WITHHELD,
} from '../answers.js';
import type { HttpAnswer } from '../http-call.js';
import type { CreateOutcome, ImageOutcome, PollOutcome, UpstreamImage } from '../outcomes.js';

/** The part between slashes. Nothing in it needs escaping, and it is no dot segment. */
const OPERATION_NAME = /^(?:models\/[\w.:/-]{1,200}\/)?operations\/[\w-]{1,100}$/;

export function isOperationName(name: string): boolean {
  return OPERATION_NAME.test(name) && !name.split('/').some((segment) => /^\.*$/.test(segment));
}

/** The names that an operation can have, of which a webhook may only say the end. */
export function operationNames(id: string, models: Iterable<string>): string[] {
  const name = `operations/${keyOf(id)}`;
  return [name, ...[...new Set(models)].map((model) => `models/${model}/${name}`)];
}

/** Reads the images of a :predict: at most `asked`, and never none. A filtered one has its reason. */
export function readPredictions(answer: HttpAnswer, asked: number): ImageOutcome {
  const upstreamStatus = answer.status;
  const body = readObject(answer.body);
  const predictions = (Array.isArray(body?.['predictions']) ? body['predictions'] : []).map(asObject);
  const images = predictions.map(readPrediction).filter((image) => image !== null);
  if (images.length > 0) return { kind: 'delivered', images: images.slice(0, asked), upstreamStatus };
  const filtered = predictions.some((prediction) => asText(prediction?.['raiFilteredReason']));
  // A success without the list is how the API answers if its filters removed every image.
  const isEmpty = body !== null && body['predictions'] === undefined && body['error'] === undefined;
  if (filtered || isEmpty) return imagesWithheld(upstreamStatus);
  return { kind: 'unknown', reason: 'a success without images', upstreamStatus };
}

function readPrediction(prediction: JsonObject | null): UpstreamImage | null {
  const b64 = asText(prediction?.['bytesBase64Encoded']);
  if (b64 === undefined) return null;
  return { b64, mimeType: asText(prediction?.['mimeType']), revisedPrompt: asText(prediction?.['prompt']) };
}

export function readOperationName(answer: HttpAnswer, isName = isOperationName): CreateOutcome {
  const upstreamStatus = answer.status;
  const name = asText(readObject(answer.body)?.['name']);
  if (name !== undefined && isName(name)) return { kind: 'accepted', upstreamId: name, upstreamStatus };
  return { kind: 'unknown', reason: 'a success without a usable name', upstreamStatus };
}

/** Reads the operation with a name. `base` is its address, which a file address without an origin is relative to. */
export function readOperation(answer: HttpAnswer, base: URL, name: string): PollOutcome {
  if (answer.status !== 200) return notAnswered(answer);
  const body = readObject(answer.body);
  if (body === null) return notAnswered(answer, 'a body that is not a JSON object');
  if (keyOf(asText(body['name']) ?? name) !== keyOf(name)) return notAnswered(answer, ANOTHER_TASK);
  if (asObject(body['error'])) return readFailed(body);
  if (body['done'] !== true) {
    const progress = readProgress(asObject(body['metadata'])?.['progressPercent']);
    return { kind: 'running', progress };
  }
  return readDone(asObject(body['response']), base);
}

/** The operation's own part of its name. */
function keyOf(name: string): string | undefined {
  return name.split('/').at(-1);
}

function readDone(response: JsonObject | null, base: URL): PollOutcome {
  const videos = asObject(response?.['generateVideoResponse']);
  const samples: unknown[] = Array.isArray(videos?.['generatedSamples']) ? videos['generatedSamples'] : [];
  const uri = asText(asObject(asObject(samples[0])?.['video'])?.['uri']);
  if (uri !== undefined) {
    if (!URL.canParse(uri, base.href))
      return { kind: 'no_answer', reason: 'a uri that is no address', of: 'task' };
    return { kind: 'completed', fileUrl: new URL(uri, base).href };
  }
  if (Number(videos?.['raiMediaFilteredCount']) > 0) return VIDEO_WITHHELD;
  return { kind: 'no_answer', reason: 'an operation that is done without a video', of: 'task' };
}
