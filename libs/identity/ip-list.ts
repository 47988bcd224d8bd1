import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Lists are short and repeat from hold to hold. Parsing one each time would cost more than matching it. */
const MAX_REMEMBERED = 10_000;
const remembered = new Map<string, Range | null>();

/**
 * An address or a CIDR range as stored: lower case, with its bits, such as `10.0.0.0/8` or `2001:db8::1/128`; null if
 * it is neither. Host bits are cleared, and an IPv4 address inside IPv6 becomes the IPv4 address.
 */
export function normalRange(text: string): string | null {
  const range = parseRange(text);
  if (!range) return null;
  const [address, bits] = range;
  const bytes = address.toByteArray().map((byte, index) => byte & maskByte(bits - index * 8));
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`;
}

/** Whether an address is in one of the ranges. A missing or unreadable address is in none. */
export function isInRanges(ranges: readonly string[], ip: string | null): boolean {
  if (ip === null || !ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return ranges.some((text) => {
    const range = rangeOf(text);
    return range !== null && range[0].kind() === address.kind() && address.match(range);
  });
}

/** The network of one customer: an IPv4 address, or the 64 bits of IPv6 that everyone gets at least. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv4' ? address.toString() : (normalRange(`${address.toString()}/64`) ?? ip);
}

function rangeOf(text: string): Range | null {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  const range = parseRange(text);
  remembered.set(text, range);
  return range;
}

function parseRange(text: string): Range | null {
  const single = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  // IPv4 needs four parts. The library would also accept `10.1` and `0x7f.1`.
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(single.split('/')[0] ?? '')) return null;
  if (!ipaddr.isValidCIDR(single)) return null;
  const [address, bits] = ipaddr.parseCIDR(single);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
    return [address.toIPv4Address(), bits - 96];
  return [address, bits];
}

function maskByte(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}
