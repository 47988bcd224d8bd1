import { errorTable } from '#platform/errors.js';
import { listSchema, nullable, objectSchema, type Schema, textSchema, integerSchema } from './operation.js';

export const INFO = {
  title: 'Tollgate data plane',
  version: '1',
  description:
    'Image, video, 3D, chat and speech models with one key and prepaid credits. Every GET route also answers HEAD. An unknown path returns `unknown_url` (404), an unsupported method `method_not_allowed` (405).',
};

const CODE: Schema = textSchema('The error code, for programs.', { enum: Object.keys(errorTable) });
const PARAM = textSchema('The field that caused the error.');

/** One shape of errors for each family of clients; the code and the status are the same in all. */
export const ERROR_SCHEMAS = {
  Error: objectSchema({
    error: objectSchema({ message: textSchema(), type: textSchema(), param: nullable(PARAM), code: CODE }),
  }),
  GoogleError: objectSchema({
    error: objectSchema({
      code: integerSchema('The HTTP status.'),
      message: textSchema('`<code>: <explanation>`'),
      status: textSchema(),
      details: listSchema(
        objectSchema(
          {
            '@type': textSchema(),
            reason: CODE,
            domain: textSchema(),
            metadata: objectSchema({ param: PARAM }),
          },
          ['metadata'],
        ),
      ),
    }),
    code: CODE,
  }),
  AnthropicError: objectSchema({
    type: { const: 'error' },
    error: objectSchema({
      type: textSchema(),
      message: textSchema('`<code>: <explanation>`'),
      details: objectSchema({ error_code: CODE, param: PARAM }, ['param']),
    }),
    request_id: textSchema(),
  }),
} as const satisfies Record<string, Schema>;

export const HEADERS = {
  'x-request-id': { description: 'Identifies the request when you contact support.', schema: textSchema() },
  'retry-after': { description: 'Seconds to wait before retrying.', schema: textSchema() },
};

export const SECURITY_SCHEMES = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key, `sk-tg-…`.' },
  googleKey: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
  googleQueryKey: { type: 'apiKey', in: 'query', name: 'key' },
  anthropicKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  signature: {
    type: 'apiKey',
    in: 'query',
    name: 'sig',
    description: 'The signature of a link from an answer, together with `exp`.',
  },
};
