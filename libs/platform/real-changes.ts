import { isDeepStrictEqual } from 'node:util';

/** What of a change is named and new. The rest is neither written nor logged. */
export function realChanges<T extends object>(
  before: T,
  change: { readonly [Name in keyof T]?: T[Name] | undefined },
): Partial<T> {
  const named = Object.entries(change).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(value, before[name as keyof T]),
  );
  return Object.fromEntries(named) as Partial<T>;
}
