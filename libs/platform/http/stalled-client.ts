import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';

/**
 * A client that reads nothing for this long will not read the rest. On a slow line the system's buffers need several seconds to
 * drain, without showing progress.
 */
export const STALL_MS = 30_000;

/**
 * Disconnects a client that stalls. The timeout of a socket counts from its last progress: a slow client is not a stalled one.
 * @returns a function that ends the watch
 */
export function breakWhenStalled(raw: ServerResponse, stallMs = STALL_MS): () => void {
  const onStall = (): void => void raw.destroy();
  raw.setTimeout(stallMs, onStall);
  return () => void raw.off('timeout', onStall).setTimeout(0);
}

/**
 * Disconnects clients that stall while they read a complete answer, which stays in memory for them. A stream can also be
 * waiting for its source, so the code that sends it calls `breakWhenStalled` itself.
 */
export function breakStalledAnswers(server: FastifyInstance, stallMs = STALL_MS): void {
  server.addHook('onSend', async (_request, { raw }, payload) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) breakWhenStalled(raw, stallMs);
    return payload;
  });
}
