import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import { HostNames, refuseTwoHosts } from '#platform/http/host-header.js';

/**
 * Refuses requests that name another host than ours and its aliases, which a page in someone's browser can make it
 * send once a name of its own points here. A name without a port allows every port. No names: no check but that
 * there is one host.
 */
export function hostCheck(names: readonly string[]): (request: FastifyRequest) => void {
  const allowed = new HostNames(names);
  return (request) => {
    refuseTwoHosts(request);
    if (allowed.isEmpty || allowed.has(request.host ?? '')) return;
    throw new ApiError('unknown_host', 'This host is not served here. Check the base URL of your client.');
  };
}
