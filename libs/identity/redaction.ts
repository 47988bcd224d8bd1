/**
 * Keeps e-mail addresses out of what is never deleted: people are named by their ids there, and readers join the
 * address of today. Free text of staff may quote one all the same.
 */

/** What replaces an address. */
const NO_ADDRESS = '[e-mail]';
/** What replaces a name that a customer chose. */
export const NO_NAME = '[name]';

/** Lengths are bounded, so that a long text without an address is read in linear time. */
const ADDRESS = /[^\s@<>"(),;:\\]{1,64}@[^\s@<>"'(),;:\\]{1,255}/g;

export function withoutAddresses(text: string): string {
  return text.includes('@') ? text.replace(ADDRESS, NO_ADDRESS) : text;
}

/** The same for every text of a JSON value. */
export function withoutAddressesIn(value: unknown): unknown {
  if (typeof value === 'string') return withoutAddresses(value);
  if (Array.isArray(value)) return value.map(withoutAddressesIn);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutAddressesIn(inner)]));
}
