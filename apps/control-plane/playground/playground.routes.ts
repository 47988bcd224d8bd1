import { z } from 'zod';
import {
  CHAT_BODY_BYTES,
  JSON_BODY_BYTES,
  IMAGES_BODY_BYTES,
  VIDEO_BODY_BYTES,
} from '#platform/http/body-limits.js';
import { queryFlag, id } from '#platform/http/fields.js';
import { mailLanguage } from '#people/people.fields.js';
import { routesFor } from '../http/route.js';
import { taskId } from '../tasks/tasks.routes.js';

const DESCRIPTION =
  'The header `x-tollgate-key` names one of your keys by its id: the call counts as one of that key. Body, answer and ' +
  'errors are those of the gateway, which says so at /openapi.json.';
const json = ['application/json'];

const forUsers = routesFor(['user'], 'Playground');
const forUsersOfCharges = routesFor(['user'], 'Charges');
const forUsersOfTasks = routesFor(['user'], 'Tasks');

interface GatewayCall {
  summary: string;
  produces?: string[];
  mostBytes?: number;
}

/** A call of the gateway that the pages may make. */
function call(
  id: string,
  path: string,
  { mostBytes = JSON_BODY_BYTES, produces = json, summary }: GatewayCall,
) {
  return forUsers.post(id, `/api/playground/v1/${path}`, {
    summary,
    description: DESCRIPTION,
    streamsBody: mostBytes,
    produces,
    refusals: ['missing_required_parameter'],
  });
}

const imageName = z
  .string()
  .regex(/^[0-9a-z]{26}-\d{1,3}\.[a-z]{3,4}$/)
  .meta({
    description: "The last segment of the link's path.",
    examples: ['01m85ee9z663p67r5zk15b759e-0.png'],
  });

export const playgroundRoutes = {
  images: call('playImages', 'images/generations', { summary: 'Generate images.' }),
  edits: call('playEdits', 'images/edits', { summary: 'Edit an image.', mostBytes: IMAGES_BODY_BYTES }),
  videos: call('playVideos', 'videos', { summary: 'Create a video task.', mostBytes: VIDEO_BODY_BYTES }),
  assets: call('playAssets', '3d', { summary: 'Create a 3D task.', mostBytes: IMAGES_BODY_BYTES }),
  chat: call('playChat', 'chat/completions', {
    summary: 'Chat, optionally streamed.',
    produces: [...json, 'text/event-stream'],
    mostBytes: CHAT_BODY_BYTES,
  }),
  speech: call('playSpeech', 'audio/speech', {
    summary: 'Generate speech.',
    produces: ['audio/mpeg', 'audio/wav', 'audio/opus', 'audio/aac', 'audio/flac', 'audio/pcm'],
  }),
  models: forUsers.get('playModels', '/api/playground/v1/models', {
    summary: 'List the models of a key.',
    description: DESCRIPTION,
    underView: 'refused',
    produces: json,
    refusals: ['missing_required_parameter'],
  }),
  content: forUsersOfTasks.get('downloadTask', '/api/tasks/{taskId}/content', {
    summary: 'Download the file of a finished task, or part of it with `Range`.',
    description: 'Displayed inline, or saved with `download=true`. Errors are those of the gateway.',
    params: z.strictObject({ taskId }),
    query: z.strictObject({ download: queryFlag('Save the file instead of displaying it.') }),
    produces: ['video/mp4', 'model/gltf-binary'],
    refusals: ['video_not_ready', 'video_expired', 'video_deleted', 'asset_not_ready', 'asset_expired'],
  }),
  library: forUsersOfTasks.get('downloadLibrary', '/api/library', {
    summary: 'Download your files as one zip.',
    description:
      'Up to 100 of the newest images, videos and 3D assets that are still stored, up to 1 GiB together. If any have expired or do not fit, or there are too many requests to check, `left-out.txt` in the zip says so.',
    query: z.strictObject({
      kind: z.enum(['image', 'video', '3d']).optional().describe('Only files of this type.'),
      language: mailLanguage
        .optional()
        .describe('The language of `left-out.txt`. Default: that of your emails.'),
    }),
    load: 'file',
    produces: ['application/zip'],
  }),
  chargeImages: forUsersOfCharges.get('listChargeImages', '/api/charges/{chargeId}/images', {
    summary: 'List the stored images of a charge.',
    description:
      'Images are stored only if the call asked for links, and for as long as the links work. To show one, append the last segment of its link, with the query, to `/api/charges/{chargeId}/images/`.',
    produces: json,
  }),
  chargeImage: forUsersOfCharges.get('fetchChargeImage', '/api/charges/{chargeId}/images/{image}', {
    summary: 'Download an image of a charge, or part of it with `Range`.',
    description: 'Takes the query of the link. Errors are those of the gateway.',
    params: z.strictObject({ chargeId: id, image: imageName }),
    query: z.strictObject({ exp: z.string().max(12).default(''), sig: z.string().max(43).default('') }),
    produces: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
    refusals: ['file_not_found', 'range_not_satisfiable'],
  }),
};
