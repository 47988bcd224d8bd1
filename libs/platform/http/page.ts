import { ApiError, invalidField } from '../errors.js';
import { isDay, isInstant } from '../times.js';

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/**
 * Cuts a page from rows that were read with one more than the limit. `keyOf` is what the next page continues after: the
 * columns that the list is sorted by, the last of them unique.
 */
export function pageFrom<T>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => readonly string[],
): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null };
}

/** A page of items whose reader says itself where the next one begins, since it may hold fewer than the limit. */
export function sliceOf<T, V>(
  slice: { items: readonly T[]; next: string | null },
  view: (item: T) => V,
): Page<V> {
  return {
    items: slice.items.map(view),
    nextCursor: slice.next === null ? null : encodeCursor([slice.next]),
  };
}

/** What no key of ours holds, nor the database takes. */
// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const ANY_KEY = /^[^\u0000-\u001f]*$/;

/**
 * The key that a cursor continues after, or null for the first page; each part of it is of the pattern.
 * @throws ApiError for one that is not ours.
 */
export function readCursor(
  cursor: string | undefined,
  length: number,
  pattern: RegExp = ANY_KEY,
): string[] | null {
  if (cursor === undefined) return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (
      Array.isArray(key) &&
      key.length === length &&
      key.every((part) => typeof part === 'string' && pattern.test(part))
    )
      return key as string[];
  } catch {
    // Not JSON: refused below.
  }
  throw foreignCursor();
}

/** The same where one part is enough, such as an id. */
export function readCursorId(cursor: string | undefined, pattern?: RegExp): string | null {
  return readCursor(cursor, 1, pattern)?.[0] ?? null;
}

/** The same where it is a number of the database. */
export function readCursorNumber(cursor: string | undefined): bigint | null {
  const number = readCursorId(cursor, /^\d{1,18}$/);
  return number === null ? null : BigInt(number);
}

/** The same where the first part is a time as the database writes one. */
export function readCursorInstant(cursor: string | undefined, length: number): string[] | null {
  const key = readCursor(cursor, length);
  if (key && !isInstantText(key[0])) throw foreignCursor();
  return key;
}

/** A cursor that no page of ours ended with. */
export function foreignCursor(): ApiError {
  return invalidField('cursor', 'must be the nextCursor of the previous page.');
}

/** Whether a part of a cursor is a time as the database writes one, such as `2026-01-31 09:00:00.123456+00`. */
export function isInstantText(text: string | undefined): boolean {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)([+-]\d\d)(:\d\d)?$/.exec(text ?? '');
  if (!match) return false;
  const [, date, time, hours, minutes = ':00'] = match;
  return isDay(date ?? '') && isInstant(`${date}T${time}${hours}${minutes}`);
}

function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}
