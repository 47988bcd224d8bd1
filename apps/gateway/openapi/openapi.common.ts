import { errorTable } from '#platform/errors.js';
import { nullable, type Schema, schema } from './operation.js';

export const INFO = {
  title: 'Tollgate data plane',
  version: '1',
  description:
    'Image, video, 3D, chat and speech models with one key and prepaid credits. Every GET route also answers HEAD. An unknown path returns `unknown_url` (404), an unsupported method `method_not_allowed` (405).',
};

const CODE: Schema = schema.text('The error code, for programs.', { enum: Object.keys(errorTable) });
const PARAM = schema.text('The field that caused the error.');

/** One shape of errors for each family of clients; the code and the status are the same in all. */
export const ERROR_SCHEMAS = {
  Error: schema.object({
    error: schema.object({ message: schema.text(), type: schema.text(), param: nullable(PARAM), code: CODE }),
  }),
  GoogleError: schema.object({
    error: schema.object({
      code: schema.integer('The HTTP status.'),
      message: schema.text('`<code>: <explanation>`'),
      status: schema.text(),
      details: schema.list(
        schema.object(
          {
            '@type': schema.text(),
            reason: CODE,
            domain: schema.text(),
            metadata: schema.object({ param: PARAM }),
          },
          ['metadata'],
        ),
      ),
    }),
    code: CODE,
  }),
  AnthropicError: schema.object({
    type: { const: 'error' },
    error: schema.object({
      type: schema.text(),
      message: schema.text('`<code>: <explanation>`'),
      details: schema.object({ error_code: CODE, param: PARAM }, ['param']),
    }),
    request_id: schema.text(),
  }),
} as const satisfies Record<string, Schema>;

export const HEADERS = {
  'x-request-id': { description: 'Identifies the request when you contact support.', schema: schema.text() },
  'retry-after': { description: 'Seconds to wait before retrying.', schema: schema.text() },
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
