import { ApiError } from '#platform/errors.js';
import { fieldOf, declareBody, MODEL } from '../http/declared-body.js';
import { asBody, type Body, invalid, isAbsent, optionalString, optionalWord } from '../http/fields.js';
import { knownFields } from '../http/known-fields.js';
import { MAX_MODEL_CHARS, MAX_PROMPT_CHARS } from '../http/limits.js';
import { type Schema, schema } from '../openapi/operation.js';
import { decodeBase64 } from '../images/image.worker.js';
import { base64Image, isAddress, type ReceivedImage, imageText } from '../http/input-images.js';

/** A request for a 3D asset, before it is checked against its draft. */
export interface AssetCreation {
  readonly model: string;
  readonly mode: 'draft' | 'texture';
  /** Empty if there are only images. */
  readonly prompt: string;
  readonly images: readonly ReceivedImage[];
  /** Our id of the draft to texture. */
  readonly draftId: string | undefined;
  readonly pbr: boolean | undefined;
  readonly faceLimit: number | undefined;
  readonly seed: number | undefined;
}

/** Front, left, back and right. */
const MAX_VIEWS = 4;
const MAX_FACES = 1_000_000;
/** The largest seed that every vendor accepts. */
const MAX_SEED = 2_147_483_647;

/** Clients of other relays send the type of work instead of a mode. */
const TYPE_MODES: Record<string, AssetCreation['mode']> = {
  text_to_model: 'draft',
  image_to_model: 'draft',
  multiview_to_model: 'draft',
  texture_model: 'texture',
};
const WEBHOOK = /^(webhook|callback)(_?(url|config))?$/i;
const DRAFT_NAMES = ['draft_id', 'original_model_task_id', 'preview_task_id', 'draft_model_task_id'];

const VIEW: Schema = {
  anyOf: [
    schema.text('Base64 or a data URL.'),
    { type: 'object', description: 'An object with the same under `data` or `b64_json`.' },
  ],
};

export const assetFields = declareBody(
  { model: MODEL },
  {
    mode: fieldOf.word(['draft', 'texture'], 'Default: `draft`.'),
    prompt: fieldOf.text(MAX_PROMPT_CHARS),
    image: fieldOf.own({ anyOf: [VIEW, schema.list(VIEW)] }),
    images: fieldOf.own(
      schema.list(VIEW, { maxItems: MAX_VIEWS, description: 'Views from the front, left, back and right.' }),
    ),
    draft_id: fieldOf.own(schema.text('The ID of the draft to texture.')),
    pbr: fieldOf.flag('Create material maps (PBR).'),
    face_limit: fieldOf.whole({ minimum: 1, maximum: MAX_FACES }),
    seed: fieldOf.whole({ minimum: 0, maximum: MAX_SEED }),
    format: fieldOf.word(['glb']),
  },
);

const FIELDS = new Set([...assetFields.names, 'type', 'task_type', ...DRAFT_NAMES, 'user']);

/** Reads the JSON of `POST /v1/3d`. @throws ApiError */
export function readAssetCreation(parsed: unknown): AssetCreation {
  refuseWebhook(asBody(parsed));
  const body = knownFields(asBody(parsed), FIELDS);
  const { read } = assetFields;
  const mode = readMode(body);
  const prompt = read.prompt(body) ?? '';
  const images = readViews(body);
  if (mode === 'draft' && prompt.trim() === '' && images.length === 0) {
    throw new ApiError('missing_required_parameter', 'A draft needs a prompt or an image.', {
      param: 'prompt',
    });
  }
  read.format(body);
  return {
    model: read.model(body),
    mode,
    prompt,
    images,
    draftId: readDraftId(body, mode),
    pbr: read.pbr(body),
    faceLimit: read.face_limit(body),
    seed: read.seed(body),
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
  const mode = assetFields.read.mode(body);
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

function readViews(body: Body): ReceivedImage[] {
  const given = [assetFields.read.image(body), assetFields.read.images(body)].filter(
    (value) => !isAbsent(value),
  );
  const views = given.flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]));
  if (views.length > MAX_VIEWS) throw invalid('images', `must be at most ${MAX_VIEWS} views`);
  return views.map(readView);
}

/** Base64 only. An address is refused without looking at it. */
function readView(view: unknown): ReceivedImage {
  const text = imageText(view);
  // A long text is checked when it is read.
  const isNone = text === undefined || isAddress(text) || (typeof text === 'string' && !decodeBase64(text));
  if (!isNone) return base64Image(text, 'image');
  throw new ApiError('image_must_be_base64', 'An image must be base64 or a data URL, not a web address.', {
    param: 'image',
  });
}
