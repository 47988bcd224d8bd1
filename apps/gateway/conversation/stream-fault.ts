import type { ApiError } from '#platform/errors.js';
import type { StreamKind } from '#upstream/outcomes.js';
import { anthropicBody, googleBody } from '../http/error-shape.js';
import { errorBody } from '#platform/http/refusal.js';

/**
 * A fault after the start of a stream, as sent to the clients of each dialect: OpenAI's throw on a top-level `error`,
 * whatever is beside it, Anthropic's on an event of that name, and Google's newer ones on an `error` too.
 */
export function faultEvent(
  kind: StreamKind,
  error: ApiError,
  { requestId, ordinal }: { requestId: string; ordinal: number },
): Buffer {
  switch (kind) {
    case 'messages':
      return event('error', anthropicBody(error, requestId));
    case 'responses': {
      const { code, message, param } = error;
      const body = { type: 'error', sequence_number: ordinal, code, message, param, ...errorBody(error) };
      return event('error', body);
    }
    case 'contents':
      return Buffer.concat([event(null, googleBody(error)), UNENDED]);
    case 'imageStream':
    case 'editStream':
      return event('error', { type: 'error', ...errorBody(error) });
    case 'speech':
      return event(null, { type: 'error', ...errorBody(error) });
    case 'chat':
    case 'transcription':
    case 'translation':
    case 'embeddings':
      return event(null, errorBody(error));
  }
}

/** The first version of Google's client passes over an error that is an event, but throws on an end without its blank line. */
const UNENDED = Buffer.from(': the answer broke off');

function event(name: string | null, data: object): Buffer {
  return Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
}
