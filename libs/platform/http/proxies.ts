/**
 * Which addresses a server believes when a request says whom it was forwarded for: those that this many of the nearest proxies
 * wrote. Everything before was written by the sender of the request, so to believe it would let anybody choose an address.
 * @returns what Fastify takes as `trustProxy`
 */
export function trustedHops(proxies: number): false | ((address: string, hop: number) => boolean) {
  return proxies > 0 && ((_address, hop) => hop < proxies);
}
