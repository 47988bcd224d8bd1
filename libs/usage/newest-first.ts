import { firstIdAt } from '#platform/ids.js';

/** A part of a list: `next` is where the next one begins, null at the end. */
export interface Slice<T> {
  items: T[];
  next: string | null;
}

/** Gateways mint ids by their own clocks, which may differ from the database's by this much. */
export const CLOCKS_APART_MS = 10 * 60_000;
const AFTER_EVERY_ID = 'z'.repeat(40);

/**
 * The ids of what happened within these times, for the index of ids. `after`: the end of the previous page. `mintedEarlierMs`:
 * how long before its time an id may have been minted.
 */
export function idsWithin(
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
  after: string | null,
  mintedEarlierMs: number,
): { first: string; before: string } {
  const last = to ? firstIdAt(to.getTime() + CLOCKS_APART_MS) : AFTER_EVERY_ID;
  return {
    first: from ? firstIdAt(from.getTime() - mintedEarlierMs) : '',
    before: after !== null && after < last ? after : last,
  };
}

/** A condition for each value that is given, by what the value follows. Adds the values to those of the statement. */
export function conditionsOn(values: unknown[], wanted: Readonly<Record<string, unknown>>): string[] {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return given.map(([condition, value]) => `${condition} $${values.push(value)}`);
}
