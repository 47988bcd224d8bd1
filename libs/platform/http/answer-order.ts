import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AsyncResource } from 'node:async_hooks';
import type { Socket } from 'node:net';

/** Requests that a connection may send ahead of an answer. Clients that send ahead at all send a few. */
const MOST_AHEAD = 100;
const waiting = new WeakMap<Socket, (() => void)[]>();

/**
 * Answers the requests of a connection one after the other. Otherwise, all that arrive together would be handled at once while
 * everyone else waits, and their answers would stay in memory until the client reads them. Call it before adding other hooks.
 */
export function answerInOrder(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => beginInOrder(request, reply, done));
}

/** Begins a request once the one before it on its connection is answered. A connection that sends too far ahead is closed. */
export function beginInOrder(
  { raw: { socket } }: FastifyRequest,
  { raw: answer }: FastifyReply,
  begin: () => void,
): void {
  if (socket.destroyed) return;
  const start = () => {
    answer.once('close', () => setImmediate(beginNext, socket));
    begin();
  };
  const ahead = waiting.get(socket);
  if (!ahead) {
    waiting.set(socket, []);
    start();
    // Bound, or it would run in the asynchronous context of the previous request.
  } else if (ahead.push(AsyncResource.bind(start)) > MOST_AHEAD) socket.destroy();
}

function beginNext(socket: Socket): void {
  const start = waiting.get(socket)?.shift();
  if (start && socket.writable) start();
  else waiting.delete(socket);
}
