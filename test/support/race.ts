import type pg from 'pg';
import { until } from './eventually.js';
import type { LedgerFixture } from './ledger.js';

/** The outcome of concurrent work: how many succeeded, and the error codes of the others. */
export async function race(
  work: readonly Promise<unknown>[],
): Promise<{ succeeded: number; refused: unknown[] }> {
  const ends = await Promise.allSettled(work);
  const failed = ends.filter((end) => end.status === 'rejected');
  return {
    succeeded: ends.length - failed.length,
    refused: failed.map(({ reason }) => (reason as { code?: unknown }).code ?? reason),
  };
}

/**
 * Starts work while the rows that `hold` selects are locked, and unlocks them once all of the work waits. So it meets
 * there, however fast the machine is. What happens `meanwhile` is done before it goes on.
 */
export async function meetAt<T>(
  { owner }: Pick<LedgerFixture, 'owner'>,
  hold: { sql: string; values: unknown[]; meanwhile?: (holder: pg.ClientBase) => Promise<unknown> },
  work: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const holder = await owner.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(hold.sql, hold.values);
    const all = Promise.all(work.map((start) => start()));
    await until('all to wait for the rows', async () => (await waitingIn(owner)) === work.length);
    await hold.meanwhile?.(holder);
    await holder.query('COMMIT');
    return await all;
  } finally {
    holder.release();
  }
}

async function waitingIn(owner: LedgerFixture['owner']): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]!.count;
}
