import multipart from '@fastify/multipart';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
  RouteOptions,
} from 'fastify';
import type { Socket } from 'node:net';
import { isTransient } from '#database/database.js';
import type { KeyAuthenticator } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { refusalOfEncoding, refuseExpectations, routable } from '#platform/http/request-head.js';
import { newId } from '#platform/ids.js';
import { MAX_JSON_DEPTH, MAX_JSON_ELEMENTS } from '#platform/http/json-body.js';
import { readJsonInTurns } from '#platform/http/json-parser.js';
import { breakStalledAnswers } from '#platform/http/stalled-client.js';
import { answerInOrder, beginInOrder } from '#platform/http/answer-order.js';
import type { GatewayMetrics } from '../gateway.metrics.js';
import type { ApiDocument } from '../openapi/openapi.document.js';
import type { BodyMemory } from '../protection/body-memory.js';
import type { ConcurrencyLimiter } from '../protection/concurrency-limiter.js';
import type { FailedKeys } from '../protection/failed-keys.js';
import type { Idempotency } from '../protection/idempotency.js';
import type { Uploads } from '#platform/http/uploads.js';
import type { RequestLimiter } from '../protection/request-limiter.js';
import { authenticationHook } from './caller.js';
import {
  HEADERS_TIMEOUT_MS,
  JSON_BODY_BYTES,
  KEEP_ALIVE_MS,
  MAX_PATH_PARAM_CHARS,
  MULTIPART,
  PLAIN_BODY_BYTES,
  REQUEST_TIMEOUT_MS,
} from './limits.js';
import { errorBodyFor } from './error-shape.js';
import { trustedHops } from '#platform/http/proxies.js';
import { errorBody, refusalFor, answerRefusal } from '#platform/http/refusal.js';
import { joinModelId } from './model-path.js';
import { isMultipart } from './multipart-body.js';
import { nameRequest } from './request-name.js';
import { inTrace, traceRequests } from './request-trace.js';
import type { RouteTable } from './route-table.js';

/** Fastify under Nest, with the limits of the data plane and its error shape down to the socket. */
export class GatewayAdapter extends FastifyAdapter {
  constructor(options: { trustProxy: number }) {
    super({
      genReqId: () => newId(),
      requestIdHeader: false,
      bodyLimit: JSON_BODY_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      http: { headersTimeout: HEADERS_TIMEOUT_MS },
      forceCloseConnections: 'idle',
      return503OnClosing: false,
      trustProxy: trustedHops(options.trustProxy),
      rewriteUrl: ({ method = 'GET', url = '/' }) => joinModelId(method, routable(url)),
      routerOptions: { maxParamLength: MAX_PATH_PARAM_CHARS, ignoreTrailingSlash: true },
      frameworkErrors: answerUnroutable,
      clientErrorHandler: answerUnreadable,
      skipMiddie: true,
      multipart: false,
    } as FastifyServerOptions);
  }

  /** Nest would keep the message of Fastify's errors but lose their code. */
  override mapException(error: unknown): unknown {
    return error;
  }
}

/** What runs before every handler. */
export interface ServerParts {
  keys: KeyAuthenticator;
  metrics: GatewayMetrics;
  routes: RouteTable;
  document: ApiDocument;
  checkHost: (request: FastifyRequest) => void;
  failedKeys: FailedKeys;
  limiter: RequestLimiter;
  concurrency: ConcurrencyLimiter;
  memory: BodyMemory;
  uploads: Uploads;
  idempotency: Idempotency;
}

/**
 * Whatever must happen on every request is a hook here, before any body is read, so that controllers contain only their own
 * work. Call it before the routes are registered.
 */
export function prepareGateway(server: FastifyInstance, parts: ServerParts): void {
  const { keys, routes, failedKeys, limiter, concurrency, memory, uploads, idempotency } = parts;
  server.decorateRequest('caller', null);
  answerInOrder(server);
  traceRequests(server);
  server.addHook('onRoute', (route) => addRoute(route, parts));
  server.addHook('onRequest', (request, reply, done) => {
    countInFlight(parts.metrics, reply);
    nameRequest(request, reply);
    parts.checkHost(request);
    done();
  });
  refuseExpectations(server);
  server.addHook('onRequest', authenticationHook(keys, failedKeys));
  concurrency.install(server);
  server.addHook('onRequest', limiter.hook);
  server.addHook('onRequest', (request, _reply, done) =>
    done(request.is404 ? routes.refusalFor(request) : unreadableBody(request)),
  );
  memory.install(server);
  uploads.install(server);
  idempotency.install(server);
  breakStalledAnswers(server);
  server.addHook('onResponse', (request, reply, done) => {
    countResponse(parts.metrics, request, reply);
    done();
  });
  addParsers(server);
}

function addRoute(route: RouteOptions, { routes, document }: ServerParts): void {
  routes.add(route);
  const { bodyLimit, paid = [route.method].flat().includes('POST') } = route.config ?? {};
  route.config = { ...route.config, paid };
  if (bodyLimit !== undefined) route.bodyLimit = bodyLimit;
  document.add(route);
}

/** An answer that its client does not wait for has no onResponse. */
function countInFlight({ requestsInFlight }: GatewayMetrics, { raw }: FastifyReply): void {
  requestsInFlight.inc();
  raw.once('close', () => requestsInFlight.dec());
}

function countResponse(metrics: GatewayMetrics, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.is404 ? 'unmatched' : (request.routeOptions.url ?? 'unmatched');
  metrics.requests.inc({ method: request.method, route, status: reply.statusCode });
  inTrace(request, () => metrics.requestSeconds.note({ route }, reply.elapsedTime / 1000));
}

function addParsers(server: FastifyInstance): void {
  readJsonInTurns(server, {
    limitsOf: ({ routeOptions: { bodyLimit, config } }) => ({
      depth: MAX_JSON_DEPTH,
      elements: MAX_JSON_ELEMENTS,
      bytes: bodyLimit,
      plainBytes: config.plainLimit ?? PLAIN_BODY_BYTES,
    }),
    onBytes: ({ memory }, { length }) => memory?.add(length),
  });
  void server.register(multipart, {
    limits: {
      fields: MULTIPART.fields,
      fieldSize: MULTIPART.fieldBytes,
      files: MULTIPART.files,
      fileSize: MULTIPART.fileBytes,
      parts: MULTIPART.fields + MULTIPART.files,
    },
  });
}

/** Why a body is not read, by its headers. */
function unreadableBody(request: FastifyRequest): ApiError | undefined {
  if (isMultipart(request) && !request.routeOptions.config.multipart) {
    return new ApiError('unsupported_media_type', 'This path only accepts application/json.');
  }
  return refusalOfEncoding(request);
}

/** A path that the router itself cannot read. No hook runs for it. */
function answerUnroutable(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  beginInOrder(request, reply, () => {
    nameRequest(request, reply);
    const refusal = refusalFor(error, isTransient) ?? new ApiError('invalid_request', UNREADABLE.message);
    answerRefusal(reply, refusal, errorBodyFor(request, refusal));
  });
}

/** Bytes that are no HTTP request: there is no request to name, only a socket to answer on. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = CLIENT_FAULTS[error.code ?? ''] ?? UNREADABLE;
  const body = JSON.stringify(errorBody(new ApiError('invalid_request', message)));
  const id = newId();
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${id}\r\nrequest-id: ${id}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const UNREADABLE = { status: '400 Bad Request', message: 'The request is not valid HTTP.' };
const CLIENT_FAULTS: Record<string, typeof UNREADABLE> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'The address and headers of the request are too long.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'The request did not arrive in time.',
  },
};
