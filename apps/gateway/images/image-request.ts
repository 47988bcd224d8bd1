import type { FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { asBody, type Body, booleanOf, invalid, optionalString } from '../http/fields.js';
import type { Dimensions } from '#pricing/rates.js';
import { ASPECT_RATIO, fieldOf, declareBody, MODEL, PROMPT, SIZE } from '../http/declared-body.js';
import { schema } from '../openapi/operation.js';
import { FORM_CHOICE, type ModelChoice, readModelChoice } from '../routing/model-choice.js';
import { knownFields } from '../http/known-fields.js';
import { MAX_INPUT_IMAGES, MAX_SHAPE_CHARS } from '../http/limits.js';
import { formBody, type FormEntry, readForm } from '../http/multipart-body.js';
import { imageOfFile, type ImageInput, readInputImage, readInputImages } from '../http/input-images.js';
import type { EditImages } from './image.loader.js';

/** `both` is never requested: an edit without a format is answered with both. */
type ImageFormat = 'url' | 'b64_json' | 'both';

/** A request for images with checked fields. What depends on the model is checked by `refuseBeyondLimits`. */
export interface ImageGeneration {
  readonly model: string;
  readonly prompt: string;
  readonly count: number;
  readonly size: string | undefined;
  readonly aspectRatio: string | undefined;
  readonly resolution: string | undefined;
  /** In lower case, like the resolution. Passed on if the price depends on it. */
  readonly quality: string | undefined;
  readonly format: ImageFormat;
  /** The number of partial images if the image is streamed as events; otherwise undefined. */
  readonly partialImages?: number;
}

/** OpenAI's own limit. */
const MAX_PARTIAL_IMAGES = 3;

export const imageFields = declareBody(
  { model: MODEL, prompt: PROMPT },
  {
    n: fieldOf.whole({ minimum: 1 }, 'The number of images. Each is charged.'),
    size: SIZE,
    aspect_ratio: ASPECT_RATIO,
    resolution: grade('Such as `2k`. Not sent to the vendor if only other values affect the price.'),
    quality: grade('Such as `high`, or `auto`. Sent to the vendor only if the price depends on it.'),
    response_format: fieldOf.word(['url', 'b64_json']),
    stream: fieldOf.flag('Stream one image as events. The last event has the complete image.'),
    partial_images: fieldOf.whole(
      { minimum: 0, maximum: MAX_PARTIAL_IMAGES },
      'The number of partial images in a stream.',
    ),
  },
);

/** In lower case, as it is priced, so that what is sent equals what is paid for. */
function grade(description: string) {
  return {
    schema: schema.text(description, { maxLength: MAX_SHAPE_CHARS }),
    read: (body: Body, param: string): string | undefined => {
      const value = optionalString(body, param, MAX_SHAPE_CHARS);
      if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value?.toLowerCase();
      throw invalid(param, 'must be letters, digits and signs of ASCII without spaces, or be left out');
    },
  };
}

/** Other fields that clients of each vendor send. They are not sent to any upstream, and cost nothing. */
const UNREAD = [
  'style',
  'background',
  'moderation',
  'output_format',
  'output_compression',
  'sync_mode',
  'user',
];
const GENERATION_FIELDS = new Set([...imageFields.names, ...UNREAD]);
const EDIT_FIELDS = new Set([...GENERATION_FIELDS, 'image', 'images', 'mask', 'input_fidelity']);
/** Numbered names of several images in a form. */
const NUMBERED = /^(images?)\[\d{0,3}\]$/;

/** A request to edit images. */
export interface ImageEdit extends ImageGeneration {
  readonly inputs: EditImages<ImageInput>;
}

/** Reads the common body with the extras of OpenAI and xAI clients. @throws ApiError */
export function readImageGeneration(parsed: unknown): ImageGeneration {
  return readCommon(knownFields(asBody(parsed), GENERATION_FIELDS), 'url');
}

/**
 * Reads an edit from JSON or a form, with the images under any name that clients use. `sent`: the fields as they are read of
 * JSON. @throws ApiError
 */
export async function readImageEdit(
  request: FastifyRequest,
  caller: Caller,
): Promise<{ edit: ImageEdit; choice: ModelChoice; sent: Body }> {
  const form = request.isMultipart() ? await readForm(request) : null;
  const sent = form ? editFields(form) : asBody(request.body);
  const choice = readModelChoice(sent, caller);
  const fields = { ...choice.body, model: choice.models[0] };
  const edit = form ? readFormEdit(form, fields) : readJsonEdit(fields);
  return { edit, choice, sent };
}

/** The fields of a form, those of images under one name. */
export function editFields(entries: readonly FormEntry[]): Body {
  const numbered = entries.map(([name, ...rest]): FormEntry => [name.replace(NUMBERED, '$1'), ...rest]);
  return formBody(numbered, FORM_CHOICE);
}

/** Exported for its spec, like the next. */
export function readJsonEdit(parsed: unknown): ImageEdit {
  const body = knownFields(asBody(parsed), EDIT_FIELDS);
  // Before they are read: a body has room for a hundred thousand, which would take everybody a fifth of a second.
  for (const param of ['image', 'images', 'mask']) refuseTooMany(body[param], param);
  const images = readInputImages(body, 'image');
  const others = readInputImages(body, 'images');
  if (images.length > 0 && others.length > 0) throw invalid('images', 'cannot be sent together with image');
  return editOf(body, [...images, ...others], readInputImages(body, 'mask'));
}

/** `fields`: those of the form, with one model. */
export function readFormEdit(entries: readonly FormEntry[], fields: Body): ImageEdit {
  const named = (name: RegExp) => entries.filter((entry) => name.test(entry[0])).map(formImage);
  const body = knownFields(fields, EDIT_FIELDS);
  // In a form all values are text.
  const [n, partial] = [numberOf(body['n']), numberOf(body['partial_images'])];
  const typed = { ...body, n, partial_images: partial, stream: booleanOf(body['stream']) };
  return editOf(typed, named(/^images?(\[\d{0,3}\])?$/), named(/^mask$/));
}

function editOf(body: Body, images: ImageInput[], masks: ImageInput[]): ImageEdit {
  const common = readCommon(body, 'both');
  if (images.length === 0) {
    throw new ApiError('missing_required_parameter', 'image is required: at least one image to edit.', {
      param: 'image',
    });
  }
  refuseTooMany(images, 'image');
  if (masks.length > 1) throw invalid('mask', 'must be one image');
  return { ...common, inputs: { images, mask: masks[0] } };
}

function refuseTooMany(images: unknown, param: string): void {
  if (Array.isArray(images) && images.length > MAX_INPUT_IMAGES)
    throw invalid(param, `must be at most ${MAX_INPUT_IMAGES} images`);
}

function formImage([name, value, file]: FormEntry): ImageInput {
  const param = name.replace(/\[.*/, '');
  return file ? imageOfFile(file, param) : readInputImage(value, param);
}

function readCommon(body: Body, openFormat: ImageFormat): ImageGeneration {
  const { read } = imageFields;
  const model = read.model(body);
  const prompt = read.prompt(body);
  const count = read.n(body) ?? 1;
  const partialImages = readStreaming(body, count);
  return {
    ...(partialImages !== undefined && { partialImages }),
    model,
    prompt,
    count,
    size: read.size(body),
    aspectRatio: read.aspect_ratio(body),
    resolution: read.resolution(body),
    quality: read.quality(body),
    format: read.response_format(body) ?? openFormat,
  };
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

/** How many partial images a stream is to have; undefined without a stream. @throws ApiError */
function readStreaming(body: Body, count: number): number | undefined {
  if (!imageFields.read.stream(body)) return undefined;
  // The events do not say which of several images they are of.
  if (count !== 1) throw invalid('n', 'must be 1 for an image that is streamed');
  if (body['response_format'] === 'url')
    throw invalid('response_format', 'must be b64_json, or be left out, for an image that is streamed');
  return imageFields.read.partial_images(body) ?? 0;
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?\d{1,9}(\.\d{1,9})?\s*$/.test(value) ? Number(value) : value;
}
