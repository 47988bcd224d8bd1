import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AsyncResource } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** How much of the event loop work that is done in turns may take: after each piece it is free for as long again. */
const SHORTEST_PAUSE_MS = 1;

/**
 * Work that holds the event loop for some milliseconds, one piece at a time: between two of them others are served,
 * however many pieces are asked for at once.
 */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();
  private pauseMs = 0;

  /** Does the work when it is its turn. @throws what the work throws */
  take<T>(work: () => T): Promise<T> {
    const turn = this.last.then(async () => {
      await pause(Math.max(SHORTEST_PAUSE_MS, this.pauseMs));
      const startedMs = performance.now();
      try {
        return work();
      } finally {
        this.pauseMs = performance.now() - startedMs;
      }
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

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
