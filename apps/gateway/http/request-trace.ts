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
  server.addHook('onRequest', (request, _reply, done) => {
    request.span = spanOf(request);
    inTrace(request, done);
  });
  // A body arrives in the context of its connection.
  server.addHook('preHandler', (request, _reply, done) => inTrace(request, done));
  server.addHook('onResponse', ({ span }, { statusCode }, done) => {
    span?.note({ 'http.response.status_code': statusCode });
    if (statusCode >= 500) span?.fail(String(statusCode));
    span?.end();
    done();
  });
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
