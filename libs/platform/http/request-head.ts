import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.js';

/** Refuses what a client expects of this server, in the form of its address: Node alone answers 417 without a body. */
export function refuseExpectations(instance: FastifyInstance): void {
  const { server } = instance;
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  instance.addHook('onRequest', ({ headers: { expect } }, _reply, done) => {
    if (expect !== undefined && expect.toLowerCase() !== '100-continue')
      throw new ApiError('invalid_request', 'Expect: only 100-continue is supported.');
    done();
  });
}

/** A refusal for a compressed body, which nothing here unpacks: a small one could become very large. */
export function refusalOfEncoding({ headers }: FastifyRequest): ApiError | undefined {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (/^\s*(identity)?\s*$/i.test(encoding)) return undefined;
  return new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.');
}

/** More than the longest model ID takes with every character escaped. */
const LONGEST_ESCAPED = 2_000;
/** Enough to see which API is meant. */
const KEPT_PATH = 100;

/**
 * The address of a request, as the router gets it. The router copies the whole path for each `%25` in it, before it is known who
 * asks. So a long path that has one is cut to a short one that cannot be decoded, and is refused.
 */
export function routable(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.length > LONGEST_ESCAPED && path.includes('%25') ? `${path.slice(0, KEPT_PATH)}%` : url;
}
