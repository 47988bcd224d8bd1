import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sends the client the id of its request. Both headers are read: the first by OpenAI clients, the second by Anthropic's. */
export function nameRequest(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('request-id', request.id);
}
