import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import { HostNames, isLoopbackHost } from '#platform/http/host-header.js';
import type { GatewayConfig } from '../gateway.config.js';

/** What a Host header may hold; anything else is not put into an address that someone may follow. */
const HOST = /^[A-Za-z0-9.-]{1,255}(:\d{1,5})?$|^\[[0-9a-fA-F:.]{2,45}\](:\d{1,5})?$/;

/**
 * The origin under which this client reaches the service, for links in answers. The configured address, where there is
 * one; else as the request came, but only for a host that is known to be ours: a request can carry any
 * name into it. Ask before anything is held. @throws ApiError unknown_host
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
