import type { FastifyRequest } from 'fastify';
import type { ApiError } from '#platform/errors.js';
import { familyOf, type ProtocolFamily } from './protocol-family.js';
import { errorBody } from '#platform/http/refusal.js';

/** Google's names of a status. Other statuses are INVALID_ARGUMENT below 500 and INTERNAL above. */
const GOOGLE_STATUS: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  416: 'OUT_OF_RANGE',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** The same for Anthropic. */
const ANTHROPIC_TYPE: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

type Shape = (error: ApiError, requestId: string) => object;

const SHAPES: Record<ProtocolFamily, Shape> = {
  openai: errorBody,
  google: googleBody,
  anthropic: anthropicBody,
};

/** The body of an error in the format of the request's protocol family. Only the format depends on the family. */
export function errorBodyFor(request: FastifyRequest, error: ApiError): object {
  return SHAPES[familyOf(request)](error, request.id);
}

/** The code is in each place where clients look for it: at the top, in the message and in the details. */
export function googleBody({ code, status, message, param }: ApiError): object {
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code,
    domain: 'relay',
    ...(param === null ? {} : { metadata: { param } }),
  };
  return {
    error: { code: status, message: `${code}: ${message}`, status: googleStatus(status), details: [info] },
    code,
  };
}

function googleStatus(status: number): string {
  return GOOGLE_STATUS[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}

/** Newer clients read `details.error_code`, older ones only the message. */
export function anthropicBody({ code, status, message, param }: ApiError, requestId: string): object {
  const type = ANTHROPIC_TYPE[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const details = { error_code: code, ...(param === null ? {} : { param }) };
  return { type: 'error', error: { type, message: `${code}: ${message}`, details }, request_id: requestId };
}
