import type { FastifyRequest } from 'fastify';

/** The protocol family of a path: the format of errors, and where a key can be besides `Authorization`. */
export type ProtocolFamily = 'openai' | 'google' | 'anthropic';

type Addressed = Pick<FastifyRequest, 'url' | 'headers' | 'is404'>;

const GOOGLE_PATH = /^\/v1beta(?=[/?]|$)/;
const MESSAGES_PATH = /^\/v1\/messages(?=[/?]|$)/;
const MODELS_PATH = /^\/v1\/models(?=[/?]|$)/;

/**
 * The protocol family of a request by its path. The model list has one URL for two families, and a wrong base has none; there a
 * header decides: the version for Anthropic's clients, which always send it, or the key for Google's.
 */
export function familyOf(request: Addressed): ProtocolFamily {
  if (GOOGLE_PATH.test(request.url)) return 'google';
  if (MESSAGES_PATH.test(request.url)) return 'anthropic';
  if (request.is404 && request.headers['x-goog-api-key'] !== undefined) return 'google';
  const shared = MODELS_PATH.test(request.url) || request.is404;
  return shared && request.headers['anthropic-version'] !== undefined ? 'anthropic' : 'openai';
}

/** A key that a client of this path's family sends outside `Authorization`; on every other path such a key is not read. */
export function keyBesideAuthorization(
  request: Pick<FastifyRequest, 'url' | 'headers' | 'query'>,
): string | undefined {
  if (GOOGLE_PATH.test(request.url)) {
    return firstText(request.headers['x-goog-api-key'], (request.query as { key?: unknown }).key);
  }
  if (MESSAGES_PATH.test(request.url) || MODELS_PATH.test(request.url)) {
    return firstText(request.headers['x-api-key']);
  }
  return undefined;
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}
