import cookie from '@fastify/cookie';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import type { Readable } from 'node:stream';
import { receiveBody } from '#platform/http/body-stream.js';
import { BytePieces } from '#platform/http/byte-pieces.js';
import { ApiError } from '#platform/errors.js';
import { refusalOfEncoding, refuseExpectations, routable } from '#platform/http/request-head.js';
import { refuseTwoHosts } from '#platform/http/host-header.js';
import { newId } from '#platform/ids.js';
import { MAX_JSON_DEPTH } from '#platform/http/json-body.js';
import { readJsonInTurns } from '#platform/http/json-parser.js';
import { breakStalledAnswers } from '#platform/http/stalled-client.js';
import { answerInOrder, beginInOrder } from '#platform/http/answer-order.js';
import { trustedHops } from '#platform/http/proxies.js';
import { errorBody, refusalFor, answerRefusal } from '#platform/http/refusal.js';
import type { Uploads } from '#platform/http/uploads.js';
import { sentSession } from './session-cookie.js';

/** No request of the console is larger, except for files. */
const BODY_BYTES = 1_048_576;
/** A report of some 40,000 lines; a longer one is imported by the command line. */
const FILE_BYTES = 8 * BODY_BYTES;
const HEADERS_TIMEOUT_MS = 15_000;
/** A body that takes longer to arrive is cut. */
const REQUEST_TIMEOUT_MS = 60_000;
const MAX_PATH_PARAM_CHARS = 200;

/** Fastify under Nest, with the limits of the control plane. */
export class ConsoleAdapter extends FastifyAdapter {
  constructor(options: { trustProxy: number }) {
    super({
      genReqId: () => newId(),
      requestIdHeader: false,
      bodyLimit: BODY_BYTES,
      requestTimeout: REQUEST_TIMEOUT_MS,
      http: { headersTimeout: HEADERS_TIMEOUT_MS },
      forceCloseConnections: true,
      trustProxy: trustedHops(options.trustProxy),
      rewriteUrl: ({ url = '/' }) => routable(url),
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

/** Refusals of the router itself, before any handler or filter: a path that is invalid or far too long. */
function answerUnroutable(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal =
    refusalFor(error, () => false) ?? new ApiError('invalid_request', 'The request could not be read.');
  beginInOrder(request, reply, () => answerRefusal(reply, refusal, errorBody(refusal)));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets the body as it comes; its bytes at most. */
    streamsBody?: number | undefined;
    /** The media type of a body that is not JSON. */
    consumes?: string | undefined;
    /** Only people who are signed in may call. */
    needsSession?: boolean;
  }
  interface FastifyRequest {
    /** The media type of a body that is passed on unread. */
    sentContentType?: string | undefined;
  }
}

/** Replaces every media type where no body is read. */
const UNREAD = 'application/x-tollgate-unread';

const CSV = 'text/csv';
/** Forms of the console's own pages, whose address says everything. */
const FORM = 'application/x-www-form-urlencoded';
const FORM_BYTES = 1024;
/** A body of the console has a few hundred; the largest are lists of prices. */
const MAX_ELEMENTS = 50_000;

/** What runs before every handler. Call it before the routes are registered. */
export function prepareConsoleServer(server: FastifyInstance, uploads: Uploads): void {
  answerInOrder(server);
  void server.register(cookie);
  addHeaders(server);
  refuseExpectations(server);
  breakStalledAnswers(server);
  server.addHook('onRequest', (request, _reply, done) => {
    refuseTwoHosts(request);
    done();
  });
  server.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions;
    // The session is checked later. Without one, nobody waits for the body.
    if (config.needsSession && sentSession(request) === undefined) throw notSignedIn();
    const isFile = mediaTypeOf(request) === CSV && !request.is404;
    if (isFile && config.consumes !== CSV) throw wrongType();
    done(refusalOfEncoding(request));
  });
  uploads.install(server);
  server.addHook('onRequest', (request, _reply, done) => {
    const { streamsBody } = request.routeOptions.config;
    done(streamsBody === undefined ? undefined : leaveUnread(request, streamsBody));
  });
  addParsers(server);
}

function addParsers(server: FastifyInstance): void {
  readJsonInTurns(server, {
    limitsOf: () => ({
      depth: MAX_JSON_DEPTH,
      elements: MAX_ELEMENTS,
      bytes: BODY_BYTES,
      plainBytes: BODY_BYTES,
    }),
    longTexts: false,
  });
  server.addContentTypeParser(UNREAD, (_request, body, done) => done(null, body));
  server.addContentTypeParser(FORM, { parseAs: 'string', bodyLimit: FORM_BYTES }, (_request, _body, done) =>
    done(null, undefined),
  );
  server.addContentTypeParser(CSV, (request, payload, done) => {
    readFile(request, payload).then(
      (text) => done(null, text),
      (fault: unknown) => {
        request.bodyFault = fault;
        done(null, undefined);
      },
    );
  });
}

async function readFile(request: FastifyRequest, payload: Readable): Promise<string> {
  const tooLong = () => new ApiError('request_too_large', `A file can have at most ${FILE_BYTES} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > FILE_BYTES) throw tooLong();
  const pieces = new BytePieces();
  const received = receiveBody(payload, (bytes) => {
    pieces.add(bytes);
    if (pieces.length > FILE_BYTES) throw tooLong();
  });
  received.catch(() => undefined);
  await Promise.race([received, ...(request.upload ? [request.upload.failure] : [])]);
  return Buffer.concat(pieces.list).toString('utf8');
}

function mediaTypeOf(request: FastifyRequest): string | undefined {
  return request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
}

function notSignedIn(): ApiError {
  return new ApiError('not_signed_in', 'Sign in first: you have no session, or it has ended.');
}

function wrongType(): ApiError {
  return new ApiError('unsupported_media_type', 'This path only accepts application/json.');
}

function addHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
    });
    done();
  });
}

/** Parsers are chosen by the media type, so a body that is not to be read gets one of its own. */
function leaveUnread(request: FastifyRequest, mostBytes: number): ApiError | undefined {
  request.sentContentType = request.headers['content-type'];
  request.headers['content-type'] = UNREAD;
  if (Number(request.headers['content-length'] ?? 0) <= mostBytes) return undefined;
  return new ApiError('request_too_large', `The body has more than ${mostBytes} bytes.`);
}
