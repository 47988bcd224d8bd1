import cookie from '@fastify/cookie';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { trustedHops } from '#platform/proxies.js';
import { errorBody, refusalFor } from '#platform/refusal.js';
import { unknownUrl } from './error.filter.js';

/** No request of the console is larger, but a file. */
const BODY_BYTES = 1_048_576;
/** A report of some 40,000 lines; a longer one is imported by the command line. */
const FILE_BYTES = 8 * BODY_BYTES;
const HEADERS_TIMEOUT_MS = 15_000;
/** A body that takes longer to arrive is cut. */
const REQUEST_TIMEOUT_MS = 60_000;
const MAX_PATH_PARAM_CHARS = 200;

/** Fastify under Nest, with the limits of the control plane. */
export class BillingAdapter extends FastifyAdapter {
  constructor(options: { trustProxy: number }) {
    super({
      genReqId: () => newId(),
      requestIdHeader: false,
      bodyLimit: BODY_BYTES,
      requestTimeout: REQUEST_TIMEOUT_MS,
      http: { headersTimeout: HEADERS_TIMEOUT_MS },
      forceCloseConnections: true,
      trustProxy: trustedHops(options.trustProxy),
      routerOptions: { maxParamLength: MAX_PATH_PARAM_CHARS, ignoreTrailingSlash: true },
      frameworkErrors: answerUnroutable,
      skipMiddie: true,
    } as FastifyServerOptions);
  }

  /** Nest would keep the message of Fastify's own errors and lose their code. */
  override mapException(error: unknown): unknown {
    return error;
  }
}

/** What the router itself refuses, before any handler and filter: a path that is no path, or far too long. */
function answerUnroutable(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal =
    refusalFor(error, request, { unknownUrl, isTransient: () => false }) ??
    new ApiError('invalid_request', 'The request could not be read.');
  void reply.code(refusal.status).type('application/json; charset=utf-8').send(errorBody(refusal));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets the body as it comes; its bytes at most. */
    streamsBody?: number | undefined;
  }
  interface FastifyRequest {
    /** The media type of a body that is handed on as it comes. */
    sentContentType?: string | undefined;
  }
}

/** Stands for every media type where no body is read. */
const UNREAD = 'application/x-tollgate-unread';

/** What stands before every handler. Call it before the routes are registered. */
export function prepareServer(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
    });
    const { streamsBody } = request.routeOptions.config;
    done(streamsBody === undefined ? undefined : leaveUnread(request, streamsBody));
  });
  server.addContentTypeParser(UNREAD, (_request, body, done) => done(null, body));
  server.addContentTypeParser(
    'text/csv',
    { parseAs: 'string', bodyLimit: FILE_BYTES },
    (_request, body, done) => done(null, body),
  );
  void server.register(cookie);
}

/** Parsers are chosen by the media type, so a body that is not to be read gets one of its own. */
function leaveUnread(request: FastifyRequest, mostBytes: number): ApiError | undefined {
  request.sentContentType = request.headers['content-type'];
  request.headers['content-type'] = UNREAD;
  if (Number(request.headers['content-length'] ?? 0) <= mostBytes) return undefined;
  return new ApiError('request_too_large', `The body has more than ${mostBytes} bytes.`);
}
