import { CONTENTS_CALLS, MAX_INSTANCES, NATIVE_CALLS } from './google-request.js';
import {
  FILE_HEADERS,
  fileAnswers,
  json,
  type Operation,
  request,
  type Schema,
  jsonAnswer,
  schema,
} from '../openapi/operation.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Native style';

const MODEL = schema.object({
  name: schema.text('`models/<id>`'),
  displayName: schema.text(),
  supportedGenerationMethods: schema.list(
    schema.text(undefined, { enum: [...CONTENTS_CALLS, ...NATIVE_CALLS] }),
  ),
});
const path = { model: 'The name of the model, without `models/`.' };

/** A native body: prompts, and optional parameters. */
function prediction(parameters: Record<string, Schema>, mostInstances: number): Schema {
  return request(
    {
      instances: schema.list(request({ prompt: schema.text(undefined, { minLength: 1 }) }), {
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
  answers: jsonAnswer('All models.', schema.object({ models: schema.list(MODEL) })),
};

export const retrieveNativeModelOperation: Operation = {
  id: 'retrieveNativeModel',
  tag: TAG,
  summary: 'Get a model.',
  path,
  answers: jsonAnswer('The model.', MODEL),
  refusals: ['model_not_found'],
};

const PREDICTIONS = schema.object({
  predictions: schema.list(
    schema.object(
      {
        mimeType: schema.text(),
        bytesBase64Encoded: schema.text('Base64.'),
        raiFilteredReason: schema.text('Why no image was generated for an instance. It costs nothing.'),
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
          sampleCount: schema.integer('The number of images per instance. Each is charged.', { minimum: 1 }),
          aspectRatio: schema.text(),
          sampleImageSize: schema.text(),
        },
        MAX_INSTANCES,
      ),
      request({ prompt: schema.text(undefined, { minLength: 1 }) }, MODEL_CHOICE),
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
        durationSeconds: schema.integer(undefined, { minimum: 1 }),
        aspectRatio: schema.text(),
        resolution: schema.text(),
        generateAudio: schema.flag('With or without sound.'),
      },
      1,
    ),
  ),
  answers: jsonAnswer('The name of the operation. Poll it at `/v1beta/{name}`.', {
    anyOf: [schema.object({ name: schema.text() }), DRY_RUN],
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
    schema.object(
      {
        name: schema.text(),
        metadata: { type: 'object' },
        done: { type: 'boolean' },
        response: schema.object({
          '@type': schema.text(),
          generateVideoResponse: schema.object({
            generatedSamples: schema.list(
              schema.object({ video: schema.object({ uri: schema.text(), encoding: schema.text() }) }),
            ),
          }),
        }),
        error: schema.object({ code: schema.integer(), message: schema.text(), status: schema.text() }),
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
  query: { alt: schema.text('`media`, as sent by clients.') },
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
