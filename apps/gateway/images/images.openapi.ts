import { MAX_PICTURES } from '../http/limits.js';
import {
  FILE_HEADERS,
  fileAnswers,
  json,
  listSchema,
  type Operation,
  objectSchema,
  type Schema,
  SIGNATURE,
  textSchema,
  UNIX_SECONDS,
  USAGE,
  integerSchema,
} from '../openapi/operation.js';
import { imageFields } from './image-request.js';
import { DRY_RUN, MODEL_CHOICE } from '../routing/routing.openapi.js';

const TAG = 'Images';

const RESULT = objectSchema(
  {
    created: UNIX_SECONDS,
    data: listSchema(
      objectSchema(
        {
          url: textSchema('Works without a key for a limited time.', { format: 'uri' }),
          b64_json: textSchema('The image in base64.'),
          revised_prompt: textSchema(),
          mime_type: textSchema(),
        },
        ['url', 'b64_json', 'revised_prompt', 'mime_type'],
      ),
    ),
    usage: USAGE,
    model: textSchema('The one of several that made them.'),
  },
  ['model'],
);

const PICTURE_TEXT = textSchema('An address, a data URL or base64.');
const PICTURE: Schema = {
  anyOf: [
    PICTURE_TEXT,
    { type: 'object', description: 'The same under `url`, `image_url`, `b64_json` or `data`.' },
  ],
};
const PICTURES: Schema = { anyOf: [PICTURE, listSchema(PICTURE, { minItems: 1, maxItems: MAX_PICTURES })] };
const FORM_PICTURE = textSchema(
  'A file, or text as in JSON. `image[]`, `images` and `image[0]` may repeat.',
  {
    contentMediaType: 'application/octet-stream',
  },
);

const EVENTS = { 'text/event-stream': null };

const answers = {
  200: {
    description: 'The images, of which only those delivered are charged.',
    content: { ...json(RESULT), ...EVENTS },
  },
};

export const generateImagesOperation: Operation = {
  id: 'generateImages',
  tag: TAG,
  summary: 'Generate images from text.',
  body: json(imageFields.schema(MODEL_CHOICE)),
  answers: {
    200: { ...answers[200], content: { ...json({ anyOf: [RESULT, DRY_RUN] }), ...EVENTS } },
  },
  refusals: [],
};

export const editImagesOperation: Operation = {
  id: 'editImages',
  tag: TAG,
  summary: 'Edit images with a prompt.',
  description:
    'Charged as what it makes. Without `response_format` each image comes as address and as base64.',
  body: {
    ...json(imageFields.schema({ image: PICTURES, images: PICTURES, mask: PICTURE })),
    'multipart/form-data': imageFields.schema({
      n: textSchema('How many, in digits.'),
      stream: textSchema('`true` or `false`.'),
      partial_images: textSchema('Of a stream, in digits.'),
      image: FORM_PICTURE,
      mask: FORM_PICTURE,
    }),
  },
  answers,
  refusals: ['invalid_image'],
};

export const fetchImageOperation: Operation = {
  id: 'fetchImage',
  tag: TAG,
  summary: 'Download an image.',
  path: { name: 'As in the address.' },
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
    'Images whose call asked for links are kept as long as those work. Others were only sent: the list is empty.',
  path: { id: 'The `id` of a charge of your account.' },
  answers: {
    200: {
      description: 'Those that are there, in their order.',
      content: json(
        objectSchema({
          object: { const: 'list' },
          data: listSchema(
            objectSchema({
              index: integerSchema('Among the images of the call.', { minimum: 0 }),
              url: textSchema('Works without a key until it expires.', { format: 'uri' }),
              mime_type: textSchema(),
              expires_at: UNIX_SECONDS,
            }),
          ),
        }),
      ),
    },
  },
  refusals: ['rate_limit_exceeded', 'not_found'],
};
