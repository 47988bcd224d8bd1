import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sends the client the ID of its request in two headers: the first is read by OpenAI's clients, the second by Anthropic's. */
export function nameRequest(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('request-id', request.id);
}
