import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.js';

/** A refusal for a compressed body, which nothing here unpacks: a small one could become very large. */
export function refusalOfEncoding({ headers }: FastifyRequest): ApiError | undefined {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (/^\s*(identity)?\s*$/i.test(encoding)) return undefined;
  return new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.');
}
