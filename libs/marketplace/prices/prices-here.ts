import type pg from 'pg';
import { databaseNowMs } from '#database/database.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import type { PriceBook } from '#pricing/price-book.js';

/** What price changes are checked against: prices, and what the channels of models can do. */
export interface PricesHere {
  readonly book: PriceBook;
  /** The protocols of each model's channels, those of its aliases too. */
  readonly protocols: ReadonlyMap<string, readonly string[]>;
}

const PROTOCOLS = `
SELECT coalesce(m.alias_of, m.id) AS model, array_agg(DISTINCT c.protocol) AS protocols
FROM channel_models cm JOIN channels c ON c.id = cm.channel_id JOIN models m ON m.id = cm.model_id GROUP BY 1`;

/** Reads the prices at the database's time. */
export async function readPrices(
  database: Pick<pg.Pool | pg.ClientBase, 'query'>,
): Promise<PricesHere & { nowMs: number }> {
  const book = await loadPriceBook(database);
  const served = await database.query<{ model: string; protocols: string[] }>(PROTOCOLS);
  // The time comes last: a version from after the prices were read is newer than them, and is noticed.
  const nowMs = await databaseNowMs(database);
  const protocols = new Map(served.rows.map(({ model, protocols: each }) => [model, each]));
  return { book, protocols, nowMs };
}
