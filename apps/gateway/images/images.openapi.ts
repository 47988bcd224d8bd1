import { MAX_INPUT_IMAGES } from '../http/limits.js';
import {
  FILE_HEADERS,
  fileAnswers,
  json,
  type Operation,
  type Schema,
  SIGNATURE,
  UNIX_SECONDS,
  USAGE,
  answer,
  jsonAnswer,
  schema,
} from '../openapi/operation.js';
import { imageFields } from './image-request.js';
import { DRY_RUN, FORM_MODEL_CHOICE, MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Images';

const RESULT = schema.object(
  {
    created: UNIX_SECONDS,
    data: schema.list(
      schema.object(
        {
          url: schema.text('Works without a key for a limited time.', { format: 'uri' }),
          b64_json: schema.text('The image as base64.'),
          revised_prompt: schema.text(),
          mime_type: schema.text(),
        },
        ['url', 'b64_json', 'revised_prompt', 'mime_type'],
      ),
    ),
    usage: USAGE,
    model: schema.text('The model that served the request, if several were given.'),
  },
  ['model'],
);

const IMAGE_TEXT = schema.text('A URL, a data URL or base64.');
const IMAGE_INPUT: Schema = {
  anyOf: [
    IMAGE_TEXT,
    {
      type: 'object',
      description: 'An object with the same under `url`, `image_url`, `b64_json` or `data`.',
    },
  ],
};
const IMAGE_INPUTS: Schema = {
  anyOf: [IMAGE_INPUT, schema.list(IMAGE_INPUT, { minItems: 1, maxItems: MAX_INPUT_IMAGES })],
};
const FORM_IMAGE = schema.text(
  'A file, or text as in JSON. Can be repeated, also as `image[]`, `images` or `image[0]`.',
  {
    contentMediaType: 'application/octet-stream',
  },
);

const EVENTS = { 'text/event-stream': null };

const answers = answer('The images. Only delivered images are charged.', {
  ...json({ anyOf: [RESULT, DRY_RUN] }),
  ...EVENTS,
});

export const generateImagesOperation: Operation = {
  id: 'generateImages',
  tag: TAG,
  summary: 'Generate images from text.',
  body: json(imageFields.schema(MODEL_CHOICE)),
  answers,
};

export const editImagesOperation: Operation = {
  id: 'editImages',
  tag: TAG,
  summary: 'Edit images with a prompt.',
  description:
    'Priced like generated images. Without `response_format`, each image has both a URL and base64.',
  body: {
    ...json(
      imageFields.schema({ ...MODEL_CHOICE, image: IMAGE_INPUTS, images: IMAGE_INPUTS, mask: IMAGE_INPUT }),
    ),
    'multipart/form-data': imageFields.schema({
      ...FORM_MODEL_CHOICE,
      n: schema.text('The number of images, in digits.'),
      stream: schema.text('`true` or `false`.'),
      partial_images: schema.text('The number of partial images in a stream, in digits.'),
      image: FORM_IMAGE,
      mask: FORM_IMAGE,
    }),
  },
  answers,
  refusals: ['invalid_image'],
};

export const fetchImageOperation: Operation = {
  id: 'fetchImage',
  tag: TAG,
  summary: 'Download an image.',
  path: { name: 'The last segment of the URL.' },
  query: SIGNATURE,
  headers: FILE_HEADERS,
  answers: fileAnswers(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  refusals: ['file_not_found', 'range_not_satisfiable'],
};

export const listChargeImagesOperation: Operation = {
  id: 'listChargeImages',
  tag: TAG,
  summary: 'Get new links to the stored images of a charge.',
  description:
    'Images are stored only if the call asked for links, and for as long as the links work. Otherwise the list is empty.',
  path: { id: 'The ID of one of your charges.' },
  answers: jsonAnswer(
    'The stored images, in order.',
    schema.object({
      object: { const: 'list' },
      data: schema.list(
        schema.object({
          index: schema.integer('The position among the images of the call, starting at 0.', {
            minimum: 0,
          }),
          url: schema.text('Works without a key until it expires.', { format: 'uri' }),
          mime_type: schema.text(),
          expires_at: UNIX_SECONDS,
        }),
      ),
    }),
  ),
  refusals: ['rate_limit_exceeded', 'not_found'],
};
