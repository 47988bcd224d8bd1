import { ApiError } from '#platform/errors.js';
import {
  asBody,
  type Body,
  invalid,
  isAbsent,
  optionalInteger,
  optionalString,
  optionalWord,
  requiredString,
} from '../http/fields.js';
import { knownFields } from '../http/known-fields.js';
import { MAX_MODEL_CHARS, MAX_PROMPT_CHARS } from '../http/limits.js';
import { decodeBase64 } from '../images/picture.worker.js';
import { base64Picture, isAddress, type ReceivedPicture, imageText } from '../http/pictures.js';

/** What one vendor or another makes of an asset, before it is held against a draft. */
export interface AssetCreation {
  readonly model: string;
  readonly mode: 'draft' | 'texture';
  /** Empty when images say it all. */
  readonly prompt: string;
  readonly images: readonly ReceivedPicture[];
  /** Our id of the draft to texture. */
  readonly draftId: string | undefined;
  readonly pbr: boolean | undefined;
  readonly faceLimit: number | undefined;
  readonly seed: number | undefined;
}

/** Front, left, back and right. */
const MAX_VIEWS = 4;
const MAX_FACES = 1_000_000;
/** What every vendor takes for a seed. */
const MAX_SEED = 2_147_483_647;

/** Clients of other relays name the mode by the work. */
const TYPE_MODES: Record<string, AssetCreation['mode']> = {
  text_to_model: 'draft',
  image_to_model: 'draft',
  multiview_to_model: 'draft',
  texture_model: 'texture',
};
const WEBHOOK = /^(webhook|callback)(_?(url|config))?$/i;
const DRAFT_NAMES = ['draft_id', 'original_model_task_id', 'preview_task_id', 'draft_model_task_id'];

const FIELDS = new Set([
  'model',
  'mode',
  'type',
  'task_type',
  'prompt',
  'image',
  'images',
  'format',
  'pbr',
  'face_limit',
  'seed',
  ...DRAFT_NAMES,
  'user',
]);

/** Reads the JSON of `POST /v1/3d`. @throws ApiError */
export function readAssetCreation(parsed: unknown): AssetCreation {
  refuseWebhook(asBody(parsed));
  const body = knownFields(asBody(parsed), FIELDS);
  const mode = readMode(body);
  const prompt = optionalString(body, 'prompt', MAX_PROMPT_CHARS) ?? '';
  const images = readViews(body);
  if (mode === 'draft' && prompt.trim() === '' && images.length === 0) {
    throw new ApiError('missing_required_parameter', 'A draft needs a prompt or an image.', {
      param: 'prompt',
    });
  }
  optionalWord(body, 'format', ['glb']);
  return {
    model: requiredString(body, 'model', MAX_MODEL_CHARS),
    mode,
    prompt,
    images,
    draftId: readDraftId(body, mode),
    pbr: optionalBoolean(body, 'pbr'),
    faceLimit: optionalBetween(body, 'face_limit', { least: 1, most: MAX_FACES }),
    seed: optionalBetween(body, 'seed', { least: 0, most: MAX_SEED }),
  };
}

/** A client would wait forever for a webhook call that never comes, so the field is refused. */
function refuseWebhook(body: Body): void {
  const param = Object.keys(body).find((name) => WEBHOOK.test(name) && !isAbsent(body[name]));
  if (param === undefined) return;
  throw new ApiError('webhook_not_supported', 'Webhooks are not supported here: poll GET /v1/3d/{id}.', {
    param,
  });
}

function readMode(body: Body): AssetCreation['mode'] {
  const mode = optionalWord(body, 'mode', ['draft', 'texture']);
  if (mode !== undefined) return mode;
  const param = ['type', 'task_type'].find((name) => !isAbsent(body[name]));
  if (param === undefined) return 'draft';
  return TYPE_MODES[optionalWord(body, param, Object.keys(TYPE_MODES)) ?? ''] ?? 'draft';
}

function readDraftId(body: Body, mode: AssetCreation['mode']): string | undefined {
  const param = DRAFT_NAMES.find((name) => !isAbsent(body[name]));
  const id = param === undefined ? '' : (optionalString(body, param, MAX_MODEL_CHARS) ?? '');
  if (mode === 'draft') {
    if (id !== '') throw invalid(param ?? 'draft_id', 'belongs to a texture: set mode to texture');
    return undefined;
  }
  if (id !== '') return id;
  throw new ApiError('draft_required', 'A texture needs draft_id, the id of a finished draft.', {
    param: 'draft_id',
  });
}

function readViews(body: Body): ReceivedPicture[] {
  const given = [body['image'], body['images']].filter((value) => !isAbsent(value));
  const views = given.flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]));
  if (views.length > MAX_VIEWS) throw invalid('images', `must be at most ${MAX_VIEWS} views`);
  return views.map(readView);
}

/** Base64 only: an address is not even looked at. */
function readView(view: unknown): ReceivedPicture {
  const text = imageText(view);
  // A long one shows when it is read.
  const isNone = text === undefined || isAddress(text) || (typeof text === 'string' && !decodeBase64(text));
  if (!isNone) return base64Picture(text, 'image');
  throw new ApiError('image_must_be_base64', 'An image must be base64 or a data URL, not a web address.', {
    param: 'image',
  });
}

function optionalBoolean(body: Body, param: string): boolean | undefined {
  const value = body[param];
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  throw new ApiError('invalid_type', `${param} must be true or false.`, { param });
}

function optionalBetween(
  body: Body,
  param: string,
  { least, most }: { least: number; most: number },
): number | undefined {
  const value = optionalInteger(body, param);
  if (value !== undefined && (value < least || value > most))
    throw invalid(param, `must be from ${least} to ${most}`);
  return value;
}
