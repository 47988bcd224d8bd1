import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.js';

/** If there are two hosts, a proxy may have used the other one. @throws ApiError invalid_request */
export function refuseTwoHosts({ raw: { rawHeaders } }: Pick<FastifyRequest, 'raw'>): void {
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  if (hosts.length <= 1) return;
  throw new ApiError('invalid_request', 'The request names two hosts. Send one Host header.');
}

/** The host of a request is this machine itself, so no link can lead someone else there. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|[a-z0-9-]{1,63}\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

/** Hosts by name. A name without a port means every port. */
export class HostNames {
  private readonly names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.names = new Set(names.map((name) => name.toLowerCase()));
  }

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  has(host: string): boolean {
    const asked = host.toLowerCase();
    return this.names.has(asked) || this.names.has(asked.replace(/:\d+$/, ''));
  }
}
