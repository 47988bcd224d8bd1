import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address that an upstream named and that we do not connect to. */
export class ForbiddenAddress extends Error {
  constructor(what: string) {
    super(`${what} is not a public address`);
    this.name = 'ForbiddenAddress';
  }
}

/** True for addresses of the public internet: not loopback, private, link-local, shared, multicast or reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address wrapped in an IPv6 one is judged as what it really is.
  return ipaddr.process(address).range() === 'unicast';
}

/**
 * Checks an address before it is asked for. A host name is judged later, by `lookupPublicOnly`, since only the
 * address that is really connected to counts.
 * @throws ForbiddenAddress for another scheme than http(s), or an address literal that is not public.
 */
export function checkFileUrl(url: URL, allowPrivateAddress: boolean): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new ForbiddenAddress(url.protocol);
  if (allowPrivateAddress) return;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new ForbiddenAddress(host);
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * The name resolution of connections to files: what passed the check is what is connected to, so a name that
 * resolves differently the second time gains nothing. One address that is not public condemns the name.
 */
export function lookupPublicOnly(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new ForbiddenAddress(hostname), []);
    }
    if (options.all) return callback(null, addresses);
    const [first] = addresses;
    callback(null, first?.address ?? '', first?.family);
  });
}
