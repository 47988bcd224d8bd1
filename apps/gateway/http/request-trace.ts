import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { openRequest, type OpenSpan } from '#platform/tracing.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if calls are not traced, and on paths that are not calls. */
    span: OpenSpan | null;
  }
}

/** Traces each call from its arrival to the end of its answer. Install it before the other hooks. */
export function traceRequests(server: FastifyInstance): void {
  server.decorateRequest('span', null);
  server.addHook('onRequest', (request, { raw }, done) => {
    const span = (request.span = spanOf(request));
    // If its client leaves early, or the answer breaks off, only this is emitted.
    if (span) raw.once('close', () => end(span, raw));
    inTrace(request, done);
  });
  // A body arrives in the context of its connection.
  server.addHook('preHandler', (request, _reply, done) => inTrace(request, done));
}

function end(span: OpenSpan, { statusCode, writableFinished }: ServerResponse): void {
  if (writableFinished) span.note({ 'http.response.status_code': statusCode });
  if (!writableFinished) span.fail('unfinished');
  else if (statusCode >= 500) span.fail(String(statusCode));
  span.end();
}

/** The route, never the address: that may hold what only its caller may know. */
function spanOf(request: FastifyRequest): OpenSpan | null {
  const route = request.routeOptions.url;
  if (request.is404 || route === undefined) return null;
  const { method, id } = request;
  const span = openRequest(`${method} ${route}`, request.headers.traceparent);
  span?.note({ 'http.request.method': method, 'http.route': route, 'tollgate.request.id': id });
  return span ?? null;
}

/** Does something as a part of the call. */
export function inTrace({ span }: FastifyRequest, work: () => void): void {
  if (span) span.enter(work);
  else work();
}
