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
import { TASK_FIELDS } from '../tasks/task.openapi.js';
import { schemasOf } from '../http/declared-body.js';
import { VIDEO_TASKS, videoPageQuery } from './video.library.js';
import { remixFields, videoFields } from './video-request.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Videos';

const VIDEO = schema.object(
  {
    ...TASK_FIELDS,
    request_id: schema.text('The same as `id`.'),
    object: { const: 'video' },
    seconds: schema.text('Whole seconds.'),
    size: nullable(schema.text()),
    resolution: nullable(schema.text()),
    aspect_ratio: nullable(schema.text()),
    generate_audio: nullable(schema.flag('Null if the vendor decides.')),
    prompt: schema.text(),
    remixed_from_video_id: nullable(schema.text('The ID of the original video.')),
    video: schema.object({
      url: schema.text('Works without a key until the file expires.', { format: 'uri' }),
      duration: schema.integer('Seconds.'),
      respect_moderation: { const: true },
    }),
  },
  ['video'],
);

const path = { id: 'The ID of the video.' };
const body = json(videoFields.schema(MODEL_CHOICE));
const video = jsonAnswer('The current state of the video.', VIDEO);
const made = { 200: { ...video[200], content: json({ anyOf: [VIDEO, DRY_RUN] }) } };

export const createVideoOperation: Operation = {
  id: 'createVideo',
  tag: TAG,
  summary: 'Create a video, with the states queued, in_progress, completed and failed.',
  description: 'Text prompts only. Poll the video until it ends. A failed video costs nothing.',
  body,
  answers: made,
  refusals: ['image_input_not_supported'],
};

export const generateVideoOperation: Operation = {
  ...createVideoOperation,
  id: 'generateVideo',
  summary: 'Create a video, with the states pending, done and failed.',
};

export const remixVideoOperation: Operation = {
  id: 'remixVideo',
  tag: TAG,
  summary: 'Remix a finished video with another prompt.',
  description:
    'Uses the vendor, model, length and size of the original, at the price of such a video. Poll it like any other video.',
  path: { id: 'The ID of a finished video.' },
  body: json(remixFields.schema()),
  answers: made,
  refusals: ['video_not_found', 'video_not_ready', 'video_failed', 'video_deleted', 'video_not_remixable'],
};

export const listVideosOperation: Operation = {
  id: 'listVideos',
  tag: TAG,
  summary: 'List the videos of the account.',
  query: videoPageQuery.schemas,
  answers: jsonAnswer(
    'A page of videos.',
    schema.object({
      object: { const: 'list' },
      data: schema.list(VIDEO),
      has_more: { type: 'boolean' },
      first_id: nullable(schema.text()),
      last_id: nullable(schema.text()),
    }),
  ),
  refusals: ['invalid_value'],
};

export const retrieveVideoOperation: Operation = {
  id: 'retrieveVideo',
  tag: TAG,
  summary: 'Get a video.',
  description: 'Never charges.',
  path,
  answers: video,
  refusals: ['video_not_found', 'video_deleted'],
};

export const deleteVideoOperation: Operation = {
  id: 'deleteVideo',
  tag: TAG,
  summary: 'Delete a finished video and its file. Its cost stays on record.',
  description: 'Safe to repeat. All other calls for the video then return 404.',
  path,
  answers: jsonAnswer(
    'The video was deleted.',
    schema.object({ id: schema.text(), object: { const: 'video.deleted' }, deleted: { const: true } }),
  ),
  refusals: ['video_not_found', 'video_not_ready'],
};

export const downloadVideoOperation: Operation = {
  id: 'downloadVideo',
  tag: TAG,
  summary: 'Download the file of a finished video.',
  path,
  query: { ...SIGNATURE, ...schemasOf(VIDEO_TASKS.fileQuery) },
  headers: FILE_HEADERS,
  answers: fileAnswers(['video/mp4']),
  refusals: [
    'invalid_value',
    'video_not_found',
    'video_not_ready',
    'video_failed',
    'video_expired',
    'video_deleted',
    'range_not_satisfiable',
  ],
};
