import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import {
  asBody,
  type Body,
  invalid,
  isAbsent,
  optionalAspectRatio,
  optionalInteger,
  optionalSize,
  optionalString,
  optionalWord,
  requiredString,
} from '../http/fields.js';
import type { Dimensions } from '#pricing/rates.js';
import { knownFields } from '../http/known-fields.js';
import { MAX_MODEL_CHARS, MAX_PICTURES, MAX_PROMPT_CHARS, MAX_SHAPE_CHARS } from '../http/limits.js';
import { formBody, type FormEntry, readForm } from '../http/multipart-body.js';
import { pictureOfFile, type PictureInput, readPicture, readPictures } from '../http/pictures.js';
import type { Pictures } from './picture.loader.js';

/** `both` is never asked for: an edit whose format was left open is answered with both. */
type ImageFormat = 'url' | 'b64_json' | 'both';

/** A request for images after its own fields were checked; what depends on the model is checked by `refuseBeyondLimits`. */
export interface ImageGeneration {
  readonly model: string;
  readonly prompt: string;
  readonly count: number;
  readonly size: string | undefined;
  readonly aspectRatio: string | undefined;
  readonly resolution: string | undefined;
  /** In lower case, like the resolution. Sent on where the price depends on it. */
  readonly quality: string | undefined;
  readonly format: ImageFormat;
  /** The image is sent as events, with as many before it as are asked for here; undefined where it is not. */
  readonly partialImages?: number;
}

/** What clients of each vendor send; those that no upstream is sent cost nothing. */
const FIELDS = [
  'model',
  'prompt',
  'n',
  'size',
  'aspect_ratio',
  'resolution',
  'response_format',
  'quality',
  'style',
  'background',
  'moderation',
  'output_format',
  'output_compression',
  'partial_images',
  'stream',
  'sync_mode',
  'user',
];
const GENERATION_FIELDS = new Set(FIELDS);
const EDIT_FIELDS = new Set([...FIELDS, 'image', 'images', 'mask', 'input_fidelity']);
/** Of a form, several images of one name. */
const NUMBERED = /^(images?)\[\d{0,3}\]$/;

/** A request to change images. */
export interface ImageEdit extends ImageGeneration {
  readonly pictures: Pictures<PictureInput>;
}

/** Reads the common body with the extras of OpenAI and xAI clients. @throws ApiError */
export function readImageGeneration(parsed: unknown): ImageGeneration {
  return readCommon(knownFields(asBody(parsed), GENERATION_FIELDS), 'url');
}

/** Reads an edit from JSON or a form; each takes the images in every spelling that clients use. @throws ApiError */
export async function readImageEdit(request: FastifyRequest): Promise<ImageEdit> {
  if (!request.isMultipart()) return readJsonEdit(request.body);
  return readFormEdit(await readForm(request));
}

/** Exported for its spec, like the next. */
export function readJsonEdit(parsed: unknown): ImageEdit {
  const body = knownFields(asBody(parsed), EDIT_FIELDS);
  const images = readPictures(body, 'image');
  const others = readPictures(body, 'images');
  if (images.length > 0 && others.length > 0) throw invalid('images', 'cannot be sent together with image');
  return editOf(body, [...images, ...others], readPictures(body, 'mask'));
}

export function readFormEdit(entries: readonly FormEntry[]): ImageEdit {
  const named = (name: RegExp) => entries.filter((entry) => name.test(entry[0])).map(formPicture);
  const numbered = entries.map(([name, value, file]): FormEntry => [
    name.replace(NUMBERED, '$1'),
    value,
    file,
  ]);
  const body = knownFields(formBody(numbered), EDIT_FIELDS);
  // In a form all values are text.
  const [n, partial] = [numberOf(body['n']), numberOf(body['partial_images'])];
  const typed = { ...body, n, partial_images: partial, stream: booleanOf(body['stream']) };
  return editOf(typed, named(/^images?(\[\d{0,3}\])?$/), named(/^mask$/));
}

function editOf(body: Body, images: PictureInput[], masks: PictureInput[]): ImageEdit {
  const common = readCommon(body, 'both');
  if (images.length === 0) {
    throw new ApiError('missing_required_parameter', 'image is required: at least one image to edit.', {
      param: 'image',
    });
  }
  if (images.length > MAX_PICTURES) throw invalid('image', `must be at most ${MAX_PICTURES} images`);
  if (masks.length > 1) throw invalid('mask', 'must be one image');
  return { ...common, pictures: { images, mask: masks[0] } };
}

function formPicture([name, value, file]: FormEntry): PictureInput {
  const param = name.replace(/\[.*/, '');
  return file ? pictureOfFile(file, param) : readPicture(value, param);
}

function readCommon(body: Body, openFormat: ImageFormat): ImageGeneration {
  const model = requiredString(body, 'model', MAX_MODEL_CHARS);
  const prompt = requiredString(body, 'prompt', MAX_PROMPT_CHARS);
  const count = readCount(body, 'n');
  const partialImages = readStreaming(body, count);
  return {
    ...(partialImages !== undefined && { partialImages }),
    model,
    prompt,
    count,
    size: optionalSize(body)?.text,
    aspectRatio: optionalAspectRatio(body),
    resolution: optionalGrade(body, 'resolution'),
    quality: optionalGrade(body, 'quality'),
    format: optionalWord(body, 'response_format', ['url', 'b64_json']) ?? openFormat,
  };
}

/** In the lower case that it is priced in, so that what is sent is what is paid for. @throws ApiError */
function optionalGrade(body: Body, param: 'resolution' | 'quality'): string | undefined {
  const text = optionalString(body, param, MAX_SHAPE_CHARS);
  if (text === undefined || /^[\x21-\x7e]+$/.test(text)) return text?.toLowerCase();
  throw invalid(param, 'must be letters, digits and signs of ASCII without spaces, or be left out');
}

/**
 * What of a request rates may name. A shape is the size, or the aspect ratio where no size is given; what is left out, or
 * is `auto`, is the vendor's choice.
 */
export function imageDimensions(asked: ImageGeneration, inputImages: number): Dimensions {
  const { size, aspectRatio, resolution, quality } = asked;
  return {
    size: size ?? aspectRatio,
    resolution,
    quality,
    input: inputImages > 0 ? 'image' : undefined,
  };
}

/** How many images; one when it is not said. @throws ApiError */
function readCount(body: Body, param: string): number {
  const count = optionalInteger(body, param) ?? 1;
  if (count < 1) throw invalid(param, 'must be at least 1');
  return count;
}

/** OpenAI's own limit. */
const MAX_PARTIAL_IMAGES = 3;

/** How many images that are not whole yet a stream is to have; undefined where it is none. @throws ApiError */
function readStreaming(body: Body, count: number): number | undefined {
  const stream = body['stream'];
  if (isAbsent(stream) || stream === false) return undefined;
  if (stream !== true)
    throw new ApiError('invalid_type', 'stream must be true or false.', { param: 'stream' });
  // The events do not say which of several images they are of.
  if (count !== 1) throw invalid('n', 'must be 1 for an image that is streamed');
  if (body['response_format'] === 'url')
    throw invalid('response_format', 'must be b64_json, or be left out, for an image that is streamed');
  const partial = optionalInteger(body, 'partial_images') ?? 0;
  if (partial < 0 || partial > MAX_PARTIAL_IMAGES)
    throw invalid('partial_images', `must be from 0 to ${MAX_PARTIAL_IMAGES}`);
  return partial;
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?\d{1,9}(\.\d{1,9})?\s*$/.test(value) ? Number(value) : value;
}

function booleanOf(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}
