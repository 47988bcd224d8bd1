import type { FastifyRequest } from 'fastify';

/** The named part of a route's path, such as the id of `videos/:id`. */
export function pathPart(request: FastifyRequest, name: string): string {
  return (request.params as Record<string, string>)[name] ?? '';
}

export function queryOf(request: FastifyRequest): Record<string, unknown> {
  return request.query as Record<string, unknown>;
}
