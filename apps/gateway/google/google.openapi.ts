import { CONTENTS_CALLS, MAX_INSTANCES, NATIVE_CALLS } from './google-request.js';
import {
  FILE_HEADERS,
  fileAnswers,
  flagSchema,
  json,
  listSchema,
  type Operation,
  objectSchema,
  request,
  type Schema,
  textSchema,
  integerSchema,
  jsonAnswer,
} from '../openapi/operation.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Native style';

const MODEL = objectSchema({
  name: textSchema('`models/<id>`'),
  displayName: textSchema(),
  supportedGenerationMethods: listSchema(
    textSchema(undefined, { enum: [...CONTENTS_CALLS, ...NATIVE_CALLS] }),
  ),
});
const path = { model: 'The name of the model, without `models/`.' };

/** A native body: prompts, and optional parameters. */
function prediction(parameters: Record<string, Schema>, mostInstances: number): Schema {
  return request(
    {
      instances: listSchema(request({ prompt: textSchema(undefined, { minLength: 1 }) }), {
        minItems: 1,
        maxItems: mostInstances,
      }),
    },
    { parameters: request({}, parameters), ...MODEL_CHOICE },
  );
}

export const listNativeModelsOperation: Operation = {
  id: 'listNativeModels',
  tag: TAG,
  summary: 'List the models available through this API style.',
  answers: jsonAnswer('All models.', objectSchema({ models: listSchema(MODEL) })),
};

export const retrieveNativeModelOperation: Operation = {
  id: 'retrieveNativeModel',
  tag: TAG,
  summary: 'Get a model.',
  path,
  answers: jsonAnswer('The model.', MODEL),
  refusals: ['model_not_found'],
};

const PREDICTIONS = objectSchema({
  predictions: listSchema(
    objectSchema(
      {
        mimeType: textSchema(),
        bytesBase64Encoded: textSchema('Base64.'),
        raiFilteredReason: textSchema('Why no image was generated for an instance. It costs nothing.'),
      },
      ['mimeType', 'bytesBase64Encoded', 'raiFilteredReason'],
    ),
  ),
});

export const predictOperation: Operation = {
  id: 'predict',
  tag: TAG,
  summary: 'Generate images from text.',
  description: 'Also accepts the body of `POST /v1/images/generations`, without `model`.',
  ending: '{model}:predict',
  path,
  body: json({
    anyOf: [
      prediction(
        {
          sampleCount: integerSchema('The number of images per instance. Each is charged.', { minimum: 1 }),
          aspectRatio: textSchema(),
          sampleImageSize: textSchema(),
        },
        MAX_INSTANCES,
      ),
      request({ prompt: textSchema(undefined, { minLength: 1 }) }, MODEL_CHOICE),
    ],
  }),
  answers: jsonAnswer('The images.', { anyOf: [PREDICTIONS, DRY_RUN] }),
  refusals: ['unknown_url'],
};

export const predictLongRunningOperation: Operation = {
  id: 'predictLongRunning',
  tag: TAG,
  summary: 'Create a video.',
  ending: '{model}:predictLongRunning',
  path,
  body: json(
    prediction(
      {
        sampleCount: { const: 1 },
        durationSeconds: integerSchema(undefined, { minimum: 1 }),
        aspectRatio: textSchema(),
        resolution: textSchema(),
        generateAudio: flagSchema('With or without sound.'),
      },
      1,
    ),
  ),
  answers: jsonAnswer('The name of the operation. Poll it at `/v1beta/{name}`.', {
    anyOf: [objectSchema({ name: textSchema() }), DRY_RUN],
  }),
  refusals: ['unknown_url', 'image_input_not_supported', 'webhook_not_supported'],
};

export const retrieveLongRunningOperation: Operation = {
  id: 'retrieveOperation',
  tag: TAG,
  summary: 'Get the operation of a video.',
  path: { ...path, id: 'The last part of the name.' },
  answers: jsonAnswer(
    'The operation. Once `done`, it has a response or an error.',
    objectSchema(
      {
        name: textSchema(),
        metadata: { type: 'object' },
        done: { type: 'boolean' },
        response: objectSchema({
          '@type': textSchema(),
          generateVideoResponse: objectSchema({
            generatedSamples: listSchema(
              objectSchema({ video: objectSchema({ uri: textSchema(), encoding: textSchema() }) }),
            ),
          }),
        }),
        error: objectSchema({ code: integerSchema(), message: textSchema(), status: textSchema() }),
      },
      ['response', 'error'],
    ),
  ),
  refusals: ['video_not_found', 'video_deleted'],
};

export const downloadNativeFileOperation: Operation = {
  id: 'downloadNativeFile',
  tag: TAG,
  summary: 'Download the file of a finished video.',
  ending: '{id}:download',
  path: { id: 'The id of the operation.' },
  query: { alt: textSchema('`media`, as sent by clients.') },
  headers: FILE_HEADERS,
  answers: fileAnswers(['video/mp4']),
  refusals: [
    'unknown_url',
    'video_not_found',
    'video_not_ready',
    'video_failed',
    'video_expired',
    'video_deleted',
    'range_not_satisfiable',
  ],
};
