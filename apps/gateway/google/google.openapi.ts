import { MAX_INSTANCES } from './google-request.js';
import {
  FILE_HEADERS,
  fileAnswers,
  json,
  listOf,
  type Operation,
  record,
  request,
  type Schema,
  text,
  whole,
} from '../openapi/operation.js';

const TAG = 'Native style';

const MODEL = record({
  name: text('`models/<id>`'),
  displayName: text(),
  supportedGenerationMethods: listOf(text(undefined, { enum: ['predict', 'predictLongRunning'] })),
});
const path = { model: 'The name of the model, without `models/`.' };

/** A native body: prompts, and parameters that may be left out. */
function prediction(parameters: Record<string, Schema>, mostInstances: number): Schema {
  return request(
    {
      instances: listOf(request({ prompt: text(undefined, { minLength: 1 }) }), {
        minItems: 1,
        maxItems: mostInstances,
      }),
    },
    { parameters: request({}, parameters) },
  );
}

export const listNativeModels: Operation = {
  id: 'listNativeModels',
  tag: TAG,
  summary: 'The models that can be called in the native style.',
  answers: { 200: { description: 'All of them.', content: json(record({ models: listOf(MODEL) })) } },
  refusals: [],
};

export const retrieveNativeModel: Operation = {
  id: 'retrieveNativeModel',
  tag: TAG,
  summary: 'One model.',
  path,
  answers: { 200: { description: 'The model.', content: json(MODEL) } },
  refusals: ['model_not_found'],
};

export const predict: Operation = {
  id: 'predict',
  tag: TAG,
  summary: 'Makes images from a text.',
  description: 'The body of `POST /v1/images/generations` is taken too, without `model`.',
  ending: '{model}:predict',
  path,
  body: json({
    anyOf: [
      prediction(
        {
          sampleCount: whole('How many of each instance; each is charged.', { minimum: 1 }),
          aspectRatio: text(),
          sampleImageSize: text(),
        },
        MAX_INSTANCES,
      ),
      request({ prompt: text(undefined, { minLength: 1 }) }),
    ],
  }),
  answers: {
    200: {
      description: 'The images.',
      content: json(
        record({
          predictions: listOf(
            record(
              {
                mimeType: text(),
                bytesBase64Encoded: text('Base64.'),
                raiFilteredReason: text(
                  'Where nothing was made of one of several instances: why. It costs nothing.',
                ),
              },
              ['mimeType', 'bytesBase64Encoded', 'raiFilteredReason'],
            ),
          ),
        }),
      ),
    },
  },
  refusals: ['unknown_url'],
};

export const predictLongRunning: Operation = {
  id: 'predictLongRunning',
  tag: TAG,
  summary: 'Orders a video.',
  ending: '{model}:predictLongRunning',
  path,
  body: json(
    prediction(
      {
        sampleCount: { const: 1 },
        durationSeconds: whole(undefined, { minimum: 1 }),
        aspectRatio: text(),
        resolution: text(),
      },
      1,
    ),
  ),
  answers: {
    200: {
      description: 'The name of the operation to poll, below `/v1beta/`.',
      content: json(record({ name: text() })),
    },
  },
  refusals: ['unknown_url', 'image_input_not_supported', 'webhook_not_supported'],
};

export const retrieveOperation: Operation = {
  id: 'retrieveOperation',
  tag: TAG,
  summary: 'A video on its way, or at its end.',
  path: { ...path, id: 'The last part of the name.' },
  answers: {
    200: {
      description: 'The operation; done with either a response or an error.',
      content: json(
        record(
          {
            name: text(),
            metadata: { type: 'object' },
            done: { type: 'boolean' },
            response: record({
              '@type': text(),
              generateVideoResponse: record({
                generatedSamples: listOf(record({ video: record({ uri: text(), encoding: text() }) })),
              }),
            }),
            error: record({ code: whole(), message: text(), status: text() }),
          },
          ['response', 'error'],
        ),
      ),
    },
  },
  refusals: ['video_not_found', 'video_deleted'],
};

export const downloadNativeFile: Operation = {
  id: 'downloadNativeFile',
  tag: TAG,
  summary: 'The file of a finished video.',
  ending: '{id}:download',
  path: { id: 'The id of the operation.' },
  query: { alt: text('`media`, as clients send it.') },
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
