import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';
import { HostNames, refuseTwoHosts } from '#platform/http/host-header.js';

/**
 * Refuses requests for any host but ours and its aliases. A page in someone's browser can send such requests once its own
 * name points here. A name without a port allows every port. Without names, there only has to be one host.
 */
export function hostCheck(names: readonly string[]): (request: FastifyRequest) => void {
  const allowed = new HostNames(names);
  return (request) => {
    refuseTwoHosts(request);
    if (allowed.isEmpty || allowed.has(request.host ?? '')) return;
    throw new ApiError('unknown_host', 'This host is not served here. Check the base URL of your client.');
  };
}
