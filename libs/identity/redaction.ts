/**
 * Keeps email addresses out of permanent records, which name people by ids. Readers add the current address. Free text
 * by staff may still quote an address.
 */

const NO_ADDRESS = '[e-mail]';
/** Replaces a name that a customer chose. */
export const NO_NAME = '[name]';

/** Lengths are limited, so that a long text without an address is read in linear time. */
const ADDRESS = /[^\s@<>"(),;:\\]{1,64}@[^\s@<>"'(),;:\\]{1,255}/g;

export function withoutAddresses(text: string): string {
  return text.includes('@') ? text.replace(ADDRESS, NO_ADDRESS) : text;
}

/** The same for every text in a JSON value except IDs: with a changed ID, two payments could become one. */
export function withoutAddressesIn(value: unknown): unknown {
  if (typeof value === 'string') return withoutAddresses(value);
  if (Array.isArray(value)) return value.map(withoutAddressesIn);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const kept = (name: string, inner: unknown) =>
    name.endsWith('Id') && typeof inner === 'string' ? inner : withoutAddressesIn(inner);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, kept(name, inner)]));
}
