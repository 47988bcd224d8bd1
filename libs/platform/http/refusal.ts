import type { FastifyReply } from 'fastify';
import { ApiError, type ErrorCode } from '../errors.js';

/** Seconds that clients are asked to wait before they ask again; some clients obey any number, so it stays small. */
const RETRY_AFTER_SECONDS = 2;

/** What Fastify and its multipart parser call a fault of the request, and what a client reads. */
const PARSER_FAULTS: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_json', 'The body is not valid JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_json', 'The body is empty; a JSON object is expected.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['request_too_large', 'The body is larger than this path takes.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The content type is not supported here: send application/json.',
  ],
  // The length is counted in decoded text, so that bytes which are no text differ from it too.
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The body does not match its Content-Length, or is not UTF-8.',
  ],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL path, or is too long.'],
  FST_ERR_MAX_PARAM_LENGTH: ['unknown_url', 'The path is too long.'],
};

export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string };
}

/** The one error shape of /v1 and /vendora/v1. */
export function errorBody(error: ApiError): ErrorBody {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code } };
}

/** The headers that show an SDK whether and when to repeat. */
export function retryHeaders(error: ApiError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  if (error.shouldRetry !== undefined) headers['x-should-retry'] = String(error.shouldRetry);
  return headers;
}

/**
 * What a client may learn of anything that was thrown. Undefined if that is nothing but internal_error.
 * @param isTransient whether the same request may succeed later without anyone changing it
 */
export function refusalFor(error: unknown, isTransient: (error: unknown) => boolean): ApiError | undefined {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const fault = typeof code === 'string' ? PARSER_FAULTS[code] : undefined;
  if (fault) return new ApiError(...fault);
  if (isTransient(error))
    return serviceUnavailable('The service cannot reach its database at the moment.', error);
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new ApiError('invalid_request', 'The request could not be read.', { cause: error });
  }
  return undefined;
}

/** Sends a refusal, or ends an answer that has begun. */
export function answerRefusal(reply: FastifyReply, refusal: ApiError, body: unknown): void {
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  void reply
    .code(refusal.status)
    .headers(retryHeaders(refusal))
    .type('application/json; charset=utf-8')
    .send(body);
}

export function serviceUnavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

export function internalError(): ApiError {
  return new ApiError('internal_error', 'Something broke on our side. Contact support with the request id.');
}
