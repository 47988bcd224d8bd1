import { errorTable } from '#platform/errors.js';
import { listOf, nullable, record, type Schema, text, whole } from './operation.js';

export const INFO = {
  title: 'Tollgate data plane',
  version: '1',
  description:
    'Image, video, 3D, chat and speech models behind one key with prepaid credit. Every GET answers HEAD too. ' +
    'A path that does not exist answers `unknown_url` (404), a method that it does not take `method_not_allowed` (405).',
};

const CODE: Schema = text('Names what was wrong, for programs.', { enum: Object.keys(errorTable) });
const PARAM = text('The field at fault.');

/** One shape of errors for each family of clients; the code and the status are the same in all. */
export const ERROR_SCHEMAS = {
  Error: record({
    error: record({ message: text(), type: text(), param: nullable(PARAM), code: CODE }),
  }),
  GoogleError: record({
    error: record({
      code: whole('The HTTP status.'),
      message: text('`<code>: <what was wrong>`'),
      status: text(),
      details: listOf(
        record({ '@type': text(), reason: CODE, domain: text(), metadata: record({ param: PARAM }) }, [
          'metadata',
        ]),
      ),
    }),
    code: CODE,
  }),
  AnthropicError: record({
    type: { const: 'error' },
    error: record({
      type: text(),
      message: text('`<code>: <what was wrong>`'),
      details: record({ error_code: CODE, param: PARAM }, ['param']),
    }),
    request_id: text(),
  }),
} as const satisfies Record<string, Schema>;

export const HEADERS = {
  'x-request-id': { description: 'Names the request in questions to the operator.', schema: text() },
  'retry-after': { description: 'Seconds to wait before the same request may pass.', schema: text() },
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
    description: 'Of an address that was answered, with `exp`.',
  },
};
