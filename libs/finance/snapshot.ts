import type pg from 'pg';
import { inTransaction } from '#database/database.js';

/**
 * Reads on one snapshot as it is now, without waiting for what runs; text of times is in UTC. For what says itself how old
 * it is; a report that must stay true takes `atHorizon`.
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
