import { type Listing, listedRows } from '#finance/listing.js';
import { type CsvColumn, writeCsv } from '#platform/http/csv.js';
import { firstOf, onDatabase } from './database.access.js';
import { type Columns, type Printed, printList } from './output.js';

interface Shown<View> {
  /** How many rows a table and --json have. A CSV file has all. */
  limit: number;
  csv: readonly CsvColumn<View>[];
  table: Columns<View>;
  /** Printed instead of an empty table. */
  none: string;
}

/** Prints a list of the books: its first rows, or all of them as CSV. */
export async function printListing<Key extends string, Row extends Record<Key, string>, View>(
  options: Printed,
  list: Listing<Key, Row, View>,
  { limit, csv, table, none }: Shown<View>,
): Promise<void> {
  if (options.csv) return onDatabase((pool) => writeCsv(process.stdout, csv, listedRows(pool, list)));
  const { items, more } = await firstOf(list, limit);
  await printList(options, { items, json: { items, more }, table, none, more });
}
