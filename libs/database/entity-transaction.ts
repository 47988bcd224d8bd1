import type pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { commit, withReruns } from './database.js';

/** One transaction for both: entities, and the connection below them for hand-written SQL. */
export interface EntityTransaction {
  readonly entities: EntityManager;
  readonly client: pg.PoolClient;
}

/**
 * Runs `work` in a transaction and commits it. After a deadlock or a serialisation failure, it runs again from the
 * start, so it must do nothing but its queries: no mail, and no calls to providers.
 */
export function inEntityTransaction<T>(
  source: DataSource,
  work: (transaction: EntityTransaction) => Promise<T>,
): Promise<T> {
  return withReruns(() => transactOnce(source, work));
}

async function transactOnce<T>(
  source: DataSource,
  work: (transaction: EntityTransaction) => Promise<T>,
): Promise<T> {
  const runner = source.createQueryRunner();
  try {
    const client = (await runner.connect()) as pg.PoolClient;
    await runner.startTransaction('READ COMMITTED');
    const result = await work({ entities: runner.manager, client });
    // Not the runner's own, which does not notice that the server rolled back instead.
    await commit(client);
    return result;
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}
