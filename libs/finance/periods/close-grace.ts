import type pg from 'pg';

type Database = Pick<pg.Pool, 'query'> | Pick<pg.ClientBase, 'query'>;

/**
 * Milliseconds: work younger than this may be in flight when the books close, and is no finding yet. What billing was
 * configured with when it started, stored, so that nobody who closes can choose it.
 */
export async function readCloseGrace(database: Database): Promise<number> {
  const { rows } = await database.query<{ amount: string }>(
    `SELECT amount::text FROM desk_limits WHERE name = 'close-grace'`,
  );
  return Number(rows[0]?.amount ?? 0);
}

/** Stores it; where several billings start with different ones, the last one's is that of all. */
export async function recordCloseGrace(database: Database, graceMs: number): Promise<void> {
  await database.query(
    `UPDATE desk_limits SET amount = $1, recorded_at = now() WHERE name = 'close-grace' AND amount <> $1`,
    [Math.round(graceMs)],
  );
}
