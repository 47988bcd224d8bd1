import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { commit, isRerunnable } from './database.js';

/** One transaction for both: entities, and the connection below them for hand-written SQL. */
export interface EntityTransaction {
  readonly entities: EntityManager;
  readonly client: pg.PoolClient;
}

const RETRIES = 5;
const FIRST_RETRY_PAUSE_MS = 5;

/**
 * Runs `work` in a transaction and commits it. After a deadlock or a serialisation failure, it runs again from the
 * start, so it must do nothing but its queries: no mail, and no calls to providers.
 */
export async function inEntityTransaction<T>(
  source: DataSource,
  work: (transaction: EntityTransaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await transactOnce(source, work);
    } catch (error) {
      if (attempt >= RETRIES || !isRerunnable(error)) throw error;
      await pause(FIRST_RETRY_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()));
    }
  }
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
