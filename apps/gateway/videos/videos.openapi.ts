import { MAX_MODEL_CHARS, MAX_PROMPT_CHARS, MAX_SHAPE_CHARS } from '../http/limits.js';
import {
  FILE_HEADERS,
  fileAnswers,
  json,
  listOf,
  nullable,
  oneOfWords,
  type Operation,
  record,
  request,
  SIGNATURE,
  text,
  whole,
} from '../openapi/operation.js';
import { TASK_FIELDS } from '../tasks/task.openapi.js';

const TAG = 'Videos';

const VIDEO = record(
  {
    ...TASK_FIELDS,
    request_id: text('The same as `id`.'),
    object: { const: 'video' },
    seconds: text('Whole seconds.'),
    size: nullable(text()),
    resolution: nullable(text()),
    aspect_ratio: nullable(text()),
    prompt: text(),
    remixed_from_video_id: { type: 'null' },
    video: record({
      url: text('Works without a key until the file goes.', { format: 'uri' }),
      duration: whole('Seconds.'),
      respect_moderation: { const: true },
    }),
  },
  ['video'],
);

const path = { id: 'The id that the creation answered.' };
const body = json(
  request(
    {
      model: text(undefined, { maxLength: MAX_MODEL_CHARS }),
      prompt: text(undefined, { minLength: 1, maxLength: MAX_PROMPT_CHARS }),
    },
    {
      seconds: text('Whole seconds, such as `"5"`.'),
      duration: { type: ['integer', 'string'], description: 'The same as `seconds`.' },
      size: text('`<width>x<height>` in pixels, or `auto`.'),
      aspect_ratio: text('Such as `16:9`, or `auto`.'),
      resolution: text('Such as `720p`.', { maxLength: MAX_SHAPE_CHARS }),
    },
  ),
);
const video = { 200: { description: 'The current state of the video.', content: json(VIDEO) } };

export const createVideo: Operation = {
  id: 'createVideo',
  tag: TAG,
  summary: 'Orders a video; its states are queued, in_progress, completed and failed.',
  description: 'Made from text only. Poll it until it ends; one that fails costs nothing.',
  body,
  answers: video,
  refusals: ['image_input_not_supported'],
};

export const generateVideo: Operation = {
  ...createVideo,
  id: 'generateVideo',
  summary: 'Orders a video; its states are pending, done and failed.',
};

export const listVideos: Operation = {
  id: 'listVideos',
  tag: TAG,
  summary: 'The videos of the account.',
  query: {
    after: text('The id of the last video of the page before.'),
    limit: whole('20 when it is not said.', { minimum: 1, maximum: 100 }),
    order: oneOfWords(['asc', 'desc'], 'By time; the newest first when it is not said.'),
  },
  answers: {
    200: {
      description: 'A page.',
      content: json(
        record({
          object: { const: 'list' },
          data: listOf(VIDEO),
          has_more: { type: 'boolean' },
          first_id: nullable(text()),
          last_id: nullable(text()),
        }),
      ),
    },
  },
  refusals: ['invalid_value'],
};

export const retrieveVideo: Operation = {
  id: 'retrieveVideo',
  tag: TAG,
  summary: 'The current state of a video.',
  description: 'Reads, and never moves money.',
  path,
  answers: video,
  refusals: ['video_not_found', 'video_deleted'],
};

export const deleteVideo: Operation = {
  id: 'deleteVideo',
  tag: TAG,
  summary: 'Deletes a finished video and its file; what it cost stays on record.',
  description: 'Safe to repeat. From then on every other call answers 404 for it.',
  path,
  answers: {
    200: {
      description: 'It is gone.',
      content: json(record({ id: text(), object: { const: 'video.deleted' }, deleted: { const: true } })),
    },
  },
  refusals: ['video_not_found', 'video_not_ready'],
};

export const downloadVideo: Operation = {
  id: 'downloadVideo',
  tag: TAG,
  summary: 'The file of a finished video.',
  path,
  query: { ...SIGNATURE, variant: oneOfWords(['video']) },
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
