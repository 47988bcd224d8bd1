import type pg from 'pg';

/**
 * Changes the ledger like an intruder with all rights on the database.
 * @throws Error if no row was changed
 */
export async function forge(owner: pg.Pool, sql: string): Promise<void> {
  const client = await owner.connect();
  try {
    await client.query(`SET session_replication_role = replica`);
    const { rowCount } = await client.query(sql);
    if (!rowCount) throw new Error(`nothing was forged by: ${sql}`);
  } finally {
    client.release(true);
  }
}
