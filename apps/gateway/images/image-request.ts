import type { CatalogModel } from '#catalog/catalog.js';
import { ApiError } from '#platform/errors.js';
import {
  asBody,
  type Body,
  invalid,
  isAbsent,
  optionalAspectRatio,
  optionalInteger,
  optionalSize,
  optionalText,
  optionalWord,
  requiredText,
} from '../http/fields.js';
import { MAX_MODEL_CHARS, MAX_PROMPT_CHARS } from '../http/limits.js';

export type ImageFormat = 'url' | 'b64_json';

/** A request for images after its own fields were checked; what depends on the model is checked by `imagesWithin`. */
export interface ImageGeneration {
  readonly model: string;
  readonly prompt: string;
  readonly count: number;
  readonly size: string | undefined;
  readonly aspectRatio: string | undefined;
  readonly resolution: string | undefined;
  readonly format: ImageFormat;
}

/** Reads the common body (spec 2.2) with the extras of OpenAI and xAI clients; unknown fields are ignored. @throws ApiError */
export function readImageGeneration(parsed: unknown): ImageGeneration {
  const body = asBody(parsed);
  const model = requiredText(body, 'model', MAX_MODEL_CHARS);
  const prompt = requiredText(body, 'prompt', MAX_PROMPT_CHARS);
  refuseStreaming(body);
  const count = optionalInteger(body, 'n') ?? 1;
  if (count < 1) throw invalid('n', 'must be at least 1');
  return {
    model,
    prompt,
    count,
    size: optionalSize(body)?.text,
    aspectRatio: optionalAspectRatio(body),
    resolution: optionalText(body, 'resolution', 20),
    format: optionalWord(body, 'response_format', ['url', 'b64_json']) ?? 'url',
  };
}

/** @throws ApiError when the model makes fewer images in one call than were asked for */
export function refuseTooMany(count: number, model: CatalogModel): void {
  const most = model.limits.maxImages ?? 1;
  if (count > most) throw invalid('n', `must be from 1 to ${most} for ${model.id}`);
}

function refuseStreaming(body: Body): void {
  const stream = body['stream'];
  if (isAbsent(stream) || stream === false) return;
  if (stream === true) throw invalid('stream', 'must be false: images are not streamed here');
  throw new ApiError('invalid_type', 'stream must be true or false.', { param: 'stream' });
}
