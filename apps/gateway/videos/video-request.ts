import type { CatalogModel } from '#catalog/catalog.js';
import { ApiError } from '#platform/errors.js';
import type { Dimensions } from '#pricing/rates.js';
import type { TaskRequest } from '#tasks/task.js';
import { toAspectRatio, toResolution } from '#upstream/aspect-ratio.js';
import { ASPECT_RATIO, fieldOf, declareBody, MODEL, PROMPT, SIZE } from '../http/declared-body.js';
import { asBody, type Body, booleanOf, invalid, isAbsent } from '../http/fields.js';
import { knownFields } from '../http/known-fields.js';
import { MAX_SHAPE_CHARS } from '../http/limits.js';
import { schema } from '../openapi/operation.js';
import { noOtherModel } from '../routing/model-choice.js';
import { limitsOf, type Measure, refuseBeyondLimits } from '#catalog/model-limits.js';

/** A request for a video with checked fields. What depends on the model is checked by `fitToModel`. */
export interface VideoCreation {
  readonly model: string;
  readonly prompt: string;
  /** Whole seconds, not yet checked against the model's limits. Undefined means the model's default. */
  readonly seconds: Measure<number> | undefined;
  /** As the client sent it. */
  readonly size: string | undefined;
  readonly aspectRatio: Asked<'aspect_ratio'> | undefined;
  readonly resolution: Asked<'resolution'> | undefined;
  /** With or without sound. Undefined means as the vendor does. */
  readonly audio: boolean | undefined;
}

/** A requested value and its field: a size also sets the shape and resolution if they are not given. */
interface Asked<Param extends string> extends Measure<string> {
  readonly param: Param | 'size';
}

/** The values that are billed and sent upstream. */
export interface FittedVideo {
  readonly seconds: number;
  readonly aspectRatio: string | undefined;
  readonly resolution: string | undefined;
  readonly audio: boolean | undefined;
}

export const videoFields = declareBody(
  { model: MODEL, prompt: PROMPT },
  {
    seconds: fieldOf.own(schema.text('Whole seconds, such as `"5"`.')),
    duration: fieldOf.own({ type: ['integer', 'string'], description: 'The same as `seconds`.' }),
    size: SIZE,
    aspect_ratio: ASPECT_RATIO,
    resolution: fieldOf.text(MAX_SHAPE_CHARS, 'Such as `720p`.'),
    generate_audio: fieldOf.flag(
      'With or without sound. If left out, the vendor decides, or there is sound if the price depends on it.',
    ),
  },
);

const FIELDS = new Set([...videoFields.names, 'n', 'user']);
/** Every spelling of an image input that clients are known to send, with or without underscores and brackets. */
const IMAGE_INPUT =
  /^(images?|image_?urls?|input_?image|input_?references?|reference_?images?|(first|last)_?frame|(start|end|init)_?image)(\[.*)?$/i;
/** In Google's instances `video` is a video to continue. */
const INSTANCE_INPUT = /^video$/;

/**
 * Reads the common body with the fields that SDKs add. In JSON `seconds` must be a
 * string; in multipart everything is. @throws ApiError
 */
export function readVideoCreation(parsed: unknown): VideoCreation {
  const body = knownFields(withoutImageInput(asBody(parsed)), FIELDS);
  refuseMany(body['n']);
  const { read } = videoFields;
  const size = read.size(body);
  const aspectRatio = read.aspect_ratio(body);
  const resolution = read.resolution(body)?.toLowerCase();
  return {
    model: read.model(body),
    prompt: read.prompt(body),
    seconds: readSeconds(body),
    size,
    aspectRatio: asked('aspect_ratio', aspectRatio, size && toAspectRatio(size)),
    resolution: asked('resolution', resolution, size && toResolution(size)),
    audio: read.generate_audio({ generate_audio: booleanOf(body['generate_audio']) }),
  };
}

/** The body of a remix. */
export const remixFields = declareBody(
  { prompt: PROMPT },
  { dry_run: fieldOf.flag('Returns what the request would cost. Nothing is held or sent.') },
);
const REMIX_FIELDS = new Set([...remixFields.names, 'models', 'user']);

/** @throws ApiError */
export function readRemix(parsed: unknown): { prompt: string; dryRun: boolean } {
  const body = knownFields(asBody(parsed), REMIX_FIELDS);
  if (isGiven(body['models'])) throw noOtherModel('video');
  const { read } = remixFields;
  return { prompt: read.prompt(body), dryRun: read.dry_run(body) ?? false };
}

function asked<Param extends string>(
  param: Param,
  value: string | undefined,
  ofSize: string | undefined,
): Asked<Param> | undefined {
  if (value !== undefined) return { value, param };
  return ofSize === undefined ? undefined : { value: ofSize, param: 'size' };
}

/** Applies the model's default and limits. @throws ApiError before anything is held */
export function fitToModel(asked: VideoCreation, model: CatalogModel): FittedVideo {
  const seconds = asked.seconds ?? { value: limitsOf(model).defaultSeconds, param: 'seconds' };
  const { size, aspectRatio, resolution } = asked;
  const sized = size === undefined ? undefined : { value: size, param: 'size' };
  refuseBeyondLimits(model, { seconds, size: sized, aspectRatio, resolution });
  return {
    seconds: seconds.value,
    aspectRatio: aspectRatio?.value,
    resolution: resolution?.value,
    audio: asked.audio,
  };
}

/** The stored request, as sent to the upstream. */
export function taskRequestOf(asked: VideoCreation, fitted: FittedVideo): TaskRequest {
  return {
    prompt: asked.prompt,
    ...(asked.size === undefined ? {} : { size: asked.size }),
    ...(fitted.aspectRatio === undefined ? {} : { aspectRatio: fitted.aspectRatio }),
    ...(fitted.resolution === undefined ? {} : { resolution: fitted.resolution }),
    ...(fitted.audio === undefined ? {} : { audio: fitted.audio }),
  };
}

/** What the price of a video may depend on. */
export function videoDimensions({
  resolution,
  audio,
}: Pick<TaskRequest, 'resolution' | 'audio'>): Dimensions {
  return audio === undefined ? { resolution } : { resolution, audio: audio ? 'on' : 'off' };
}

/** A call makes one video. In a form all values are text. */
function refuseMany(n: unknown): void {
  if (!isAbsent(n) && n !== 1 && n !== '1') throw invalid('n', 'must be 1: a call makes one video');
}

/** Image fields are permitted as long as they are empty. @throws ApiError image_input_not_supported */
function withoutImageInput(body: Body): Body {
  refuseImageInput(body);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !IMAGE_INPUT.test(name)));
}

/** @throws ApiError image_input_not_supported */
export function refuseImageInput(body: Body): void {
  const given = Object.keys(body).find((name) => IMAGE_INPUT.test(name) && isGiven(body[name]));
  const param = given ?? (instancesHaveImage(body['instances']) ? 'instances' : undefined);
  if (param === undefined) return;
  const message = 'Videos are made from text only: image input is not supported. Nothing was charged.';
  throw new ApiError('image_input_not_supported', message, { param });
}

function isGiven(value: unknown): boolean {
  return !isAbsent(value) && !(Array.isArray(value) && value.length === 0);
}

function instancesHaveImage(instances: unknown): boolean {
  if (!Array.isArray(instances)) return false;
  return instances.some(
    (instance: unknown) =>
      typeof instance === 'object' &&
      instance !== null &&
      Object.entries(instance).some(
        ([name, value]) => (IMAGE_INPUT.test(name) || INSTANCE_INPUT.test(name)) && isGiven(value),
      ),
  );
}

/** `seconds` and `duration` mean the same. With different values, one would be charged and the other delivered. */
function readSeconds(body: Body): Measure<number> | undefined {
  const seconds = wholeSeconds('seconds', textSeconds(body));
  const duration = wholeSeconds('duration', durationValue(body));
  if (seconds !== undefined && duration !== undefined && seconds !== duration) {
    throw invalid('duration', `differs from seconds: ${duration} against ${seconds}`);
  }
  if (seconds !== undefined) return { value: seconds, param: 'seconds' };
  return duration === undefined ? undefined : { value: duration, param: 'duration' };
}

function textSeconds(body: Body): string | undefined {
  const value = videoFields.read.seconds(body);
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return value;
  throw new ApiError('invalid_type', 'seconds must be a string, such as "5".', { param: 'seconds' });
}

function durationValue(body: Body): string | undefined {
  const value = videoFields.read.duration(body);
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new ApiError('invalid_type', 'duration must be a number or a string.', { param: 'duration' });
}

function wholeSeconds(param: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^\s*(\d{1,9})(\.0{1,9})?\s*$/.exec(text);
  if (!match) throw invalid(param, 'must be a whole number of seconds, such as 5');
  return Number(match[1]);
}
