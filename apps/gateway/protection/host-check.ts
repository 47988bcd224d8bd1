import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';

/**
 * Refuses requests that name another host than ours and its aliases, which a page in somebody's browser can make it
 * send once a name of its own points here. A name without a port stands for every port. No names: no check.
 */
export function hostCheck(names: readonly string[]): (request: FastifyRequest) => void {
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  return ({ host }) => {
    if (allowed.size === 0) return;
    const asked = (host ?? '').toLowerCase();
    if (allowed.has(asked) || allowed.has(asked.replace(/:\d+$/, ''))) return;
    throw new ApiError('unknown_host', 'This host is not served here. Check the base URL of the client.');
  };
}
