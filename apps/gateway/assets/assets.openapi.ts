import {
  FILE_HEADERS,
  fileAnswers,
  json,
  nullable,
  type Operation,
  SIGNATURE,
  jsonAnswer,
  schema,
} from '../openapi/operation.js';
import { schemasOf } from '../http/declared-body.js';
import { ASSET_TASKS } from './asset.library.js';
import { assetFields } from './asset-request.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';
import { TASK_FIELDS } from '../tasks/task.openapi.js';

const TAG = '3D';

const ASSET = schema.object(
  {
    ...TASK_FIELDS,
    object: { const: '3d.task' },
    mode: schema.words(['draft', 'texture']),
    draft_id: nullable(schema.text('The ID of the textured draft.')),
    output: schema.object({
      model_url: schema.text('Works without a key until the file expires.', { format: 'uri' }),
      format: { const: 'glb' },
    }),
  },
  ['output'],
);

const path = { id: 'The ID of the asset.' };
const asset = jsonAnswer('The current state of the asset.', ASSET);

export const createAssetOperation: Operation = {
  id: 'createAsset',
  tag: TAG,
  summary: 'Create a draft, or texture a finished draft.',
  description:
    'Poll the task until it ends. A failed task costs nothing. There are no webhooks. A texture takes no `models`: only what made its draft can texture it.',
  body: json(assetFields.schema(MODEL_CHOICE)),
  answers: { 200: { ...asset[200], content: json({ anyOf: [ASSET, DRY_RUN] }) } },
  refusals: [
    'invalid_image',
    'image_must_be_base64',
    'webhook_not_supported',
    'draft_required',
    'not_a_draft',
    'draft_not_finished',
    'draft_failed',
    'draft_not_found',
  ],
};

export const retrieveAssetOperation: Operation = {
  id: 'retrieveAsset',
  tag: TAG,
  summary: 'Get an asset.',
  description: 'Never charges.',
  path,
  answers: asset,
  refusals: ['asset_not_found'],
};

export const downloadAssetOperation: Operation = {
  id: 'downloadAsset',
  tag: TAG,
  summary: 'Download the file of a finished asset.',
  path,
  query: { ...SIGNATURE, ...schemasOf(ASSET_TASKS.fileQuery) },
  headers: FILE_HEADERS,
  answers: fileAnswers(['model/gltf-binary']),
  refusals: [
    'invalid_value',
    'asset_not_found',
    'asset_not_ready',
    'asset_failed',
    'asset_expired',
    'range_not_satisfiable',
  ],
};
