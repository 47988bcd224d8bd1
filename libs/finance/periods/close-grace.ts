import type pg from 'pg';

type Database = Pick<pg.Pool, 'query'> | Pick<pg.ClientBase, 'query'>;

/**
 * Milliseconds. Work younger than this may still be in progress when the books close, and is not a finding yet. Billing stores
 * its configured value when it starts, so that the person who closes the books cannot choose it.
 */
export async function readCloseGrace(database: Database): Promise<number> {
  const { rows } = await database.query<{ amount: string }>(
    `SELECT amount::text FROM desk_limits WHERE name = 'close-grace'`,
  );
  return Number(rows[0]?.amount ?? 0);
}

/** Stores it. If several billing processes start with different values, the last one applies to all. */
export async function recordCloseGrace(database: Database, graceMs: number): Promise<void> {
  await database.query(
    `UPDATE desk_limits SET amount = $1, recorded_at = now() WHERE name = 'close-grace' AND amount <> $1`,
    [Math.round(graceMs)],
  );
}
