import type pg from 'pg';
import { inTransaction } from '#database/database.js';

/**
 * Reads on one snapshot as of now, without waiting for running transactions. Times are UTC text. For answers that state their
 * own age; reports that must stay true use `atHorizon`.
 */
export function inSnapshot<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(
    pool,
    async (client) => {
      await client.query(
        `SET TRANSACTION READ ONLY; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'`,
      );
      return work(client);
    },
    { isolation: 'REPEATABLE READ' },
  );
}
