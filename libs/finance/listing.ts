import type pg from 'pg';
import { everyRow } from '#platform/http/csv.js';
import { type Page, pageFrom, readCursor, readCursorInstant } from '#platform/http/page.js';
import { inSnapshot } from './snapshot.js';

export interface PageAfter<Key extends string> {
  limit: number;
  /** These fields of the last row before it; null: the first page. */
  after: Readonly<Record<Key, string>> | null;
}

/** A list in the order of some fields of its rows, of which the last is unique, and the first of several is a time. */
export interface Listing<Key extends string, Row, View> {
  readonly by: readonly Key[];
  readonly read: (client: pg.PoolClient, page: PageAfter<Key>) => Promise<Row[]>;
  /** A row as clients read it. */
  readonly view: (row: Row) => View;
  /** How many rows of a file are read at once. */
  readonly atOnce?: number;
}

/** Declares a list, which can be read in pages, or whole for a file. */
export function listing<const Key extends string, Row extends Record<Key, string>, View>(
  declared: Listing<Key, Row, View>,
): Listing<Key, Row, View> {
  return declared;
}

/** @throws ApiError for a cursor that is not ours */
export async function listedPage<Key extends string, Row extends Record<Key, string>, View>(
  client: pg.PoolClient,
  { by, read, view }: Listing<Key, Row, View>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<View>> {
  const key = by.length > 1 ? readCursorInstant(cursor, by.length) : readCursor(cursor, 1);
  const after = key && (Object.fromEntries(by.map((name, at) => [name, key[at]])) as Record<Key, string>);
  const rows = await read(client, { limit: limit + 1, after });
  const { items, nextCursor } = pageFrom(rows, limit, (row) => by.map((name) => row[name]));
  return { items: items.map(view), nextCursor };
}

/** Its first rows, and whether there are more. */
export async function listedFirst<Key extends string, Row extends Record<Key, string>, View>(
  client: pg.PoolClient,
  list: Listing<Key, Row, View>,
  limit: number,
): Promise<{ items: View[]; more: boolean }> {
  const { items, nextCursor } = await listedPage(client, list, { limit });
  return { items, more: nextCursor !== null };
}

/** Everything in it, for a file. Every page is a snapshot of its own. */
export async function* listedRows<Key extends string, Row extends Record<Key, string>, View>(
  pool: pg.Pool,
  { read, view, atOnce }: Listing<Key, Row, View>,
): AsyncGenerator<View> {
  const readAfter = (limit: number, after: Row | null) =>
    inSnapshot(pool, (client) => read(client, { limit, after }));
  for await (const row of everyRow(readAfter, atOnce)) yield view(row);
}
