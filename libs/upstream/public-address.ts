import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { NamedError } from '#platform/errors.js';

/** An address that someone else gave and that we do not connect to. */
export class ForbiddenAddress extends NamedError {}

/** What IANA assigns as global unicast. The rest of IPv6 is reserved, local, or an IPv4 address in disguise. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** NAT64 has the IPv4 address in the last four bytes. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * True for public internet addresses: global unicast, except for reserved ranges within it, such as documentation,
 * 6to4, Teredo and ORCHID. Mapped and NAT64 forms are judged by the IPv4 address inside.
 */
export function isPublicAddress(address: string): boolean {
  // The parser below also accepts hexadecimal, octal and short forms, and zones.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast';
  if (parsed.match(NAT64)) return isPublicAddress(parsed.toByteArray().slice(-4).join('.'));
  return parsed.match(GLOBAL_UNICAST) && parsed.range() === 'unicast';
}

/**
 * Checks an address before it is requested. `connectPublicOnly` judges a host name later, because only the address of
 * the connection counts.
 * @throws ForbiddenAddress for another scheme than http(s), or an address literal that is not public
 */
export function checkFileUrl(url: URL, allowPrivateAddress: boolean): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notPublic(url.protocol);
  if (allowPrivateAddress) return;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host);
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

export type Lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void;

/** For each name server. Nobody waits for longer than a connection may take. */
const ANSWER_LIMITS = { timeout: 2_000, tries: 2 };

/**
 * Asks the name servers over the network. The system's lookup takes one of a few threads of this process for as long as
 * they are silent, so the names of one stranger could hold up everyone's lookups.
 * @param servers instead of those of the system
 */
export function askNameServers(servers?: readonly string[]): Lookup {
  return (hostname, _, callback) => {
    const resolver = new Resolver(ANSWER_LIMITS);
    if (servers) resolver.setServers(servers);
    const asked = [
      resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
      resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
    ];
    void Promise.allSettled(asked).then((answers) => {
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const failure = answers.find((answer) => answer.status === 'rejected');
      callback(found.length > 0 ? null : (failure?.reason as NodeJS.ErrnoException), found);
    });
  };
}

/**
 * Resolves the names of connections to strangers. The checked address is the one that is connected to, so a name that
 * resolves differently the second time gains nothing. One private address forbids the name. A name that does not
 * resolve gives the same error as one that resolves to a private address, or strangers could list the names of this
 * network.
 */
export function publicOnly(lookup: Lookup = askNameServers()): Lookup {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = error ? [] : (found as LookupAddress[]);
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
        const message = `${hostname} has no public address`;
        return callback(new ForbiddenAddress(message, { cause: error }), []);
      }
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** Opens connections to public addresses only, by name or address. */
export function connectPublicOnly(options: { timeout: number; lookup?: Lookup }): buildConnector.connector {
  const connect = buildConnector({ timeout: options.timeout, lookup: publicOnly(options.lookup) });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !isPublicAddress(host)) return callback(notPublic(host), null);
    connect(target, callback);
  };
}

function notPublic(what: string): ForbiddenAddress {
  return new ForbiddenAddress(`${what} is not a public address`);
}
