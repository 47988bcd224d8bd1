import type { FastifyRequest } from 'fastify';

/** What a Host header may hold; anything else is not put into an address that somebody may follow. */
const HOST = /^[A-Za-z0-9.-]{1,255}(:\d{1,5})?$|^\[[0-9a-fA-F:.]{2,45}\](:\d{1,5})?$/;

/**
 * The origin under which this client reaches the service: configured, else as the request came. Fastify minds
 * X-Forwarded-* only where the configuration trusts a proxy.
 */
export function publicOrigin(request: FastifyRequest, publicBaseUrl: string | undefined): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl;
  const host = HOST.test(request.host) ? request.host : `127.0.0.1:${request.socket.localPort}`;
  return `${request.protocol === 'https' ? 'https' : 'http'}://${host}`;
}
