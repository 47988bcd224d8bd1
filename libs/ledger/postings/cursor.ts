import type pg from 'pg';

/** Rows per fetch. */
const FETCH = 4_000;

/**
 * The rows of a query, several at a time, with a cursor of the server: for results that may not fit into memory. One at
 * a time.
 */
export async function* fetched<R extends pg.QueryResultRow>(
  client: pg.ClientBase,
  sql: string,
  values: readonly unknown[],
): AsyncGenerator<R[]> {
  await client.query(`DECLARE ledger_rows NO SCROLL CURSOR FOR ${sql}`, [...values]);
  for (;;) {
    const { rows } = await client.query<R>(`FETCH ${FETCH} FROM ledger_rows`);
    if (rows.length > 0) yield rows;
    if (rows.length < FETCH) break;
  }
  await client.query('CLOSE ledger_rows');
}
