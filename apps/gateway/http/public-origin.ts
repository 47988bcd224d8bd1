import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import { HostNames, isLoopbackHost } from '#platform/http/host-header.js';
import type { GatewayConfig } from '../gateway.config.js';

/** A valid Host header. Anything else is not put into a URL that someone could follow. */
const HOST = /^[A-Za-z0-9.-]{1,255}(:\d{1,5})?$|^\[[0-9a-fA-F:.]{2,45}\](:\d{1,5})?$/;

/**
 * The origin that this client uses, for links in answers: the configured URL if there is one, otherwise the request's, but only
 * for a known host, because a request can contain any name. Call before anything is held. @throws ApiError unknown_host
 */
export function publicOrigin(
  request: FastifyRequest,
  { publicBaseUrl, allowedHosts }: Pick<GatewayConfig, 'publicBaseUrl' | 'allowedHosts'>,
): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl;
  const { host, protocol } = request;
  const isOurs = isLoopbackHost(host) || (HOST.test(host) && new HostNames(allowedHosts).has(host));
  if (isOurs) return `${protocol === 'https' ? 'https' : 'http'}://${host}`;
  throw new ApiError(
    'unknown_host',
    'No link can be built for this host because it is not allowed. The operator has to set PUBLIC_BASE_URL or ALLOWED_HOSTS.',
  );
}
