import type pg from 'pg';
import { buildNextSnapshot } from './balance-snapshots.js';

/** Stores every missing snapshot. @returns how many */
export async function buildSnapshots(pool: pg.Pool): Promise<number> {
  let count = 0;
  while ((await buildNextSnapshot(pool)) !== null) count += 1;
  return count;
}

/** Drops the snapshots from a day on, by default all. */
export async function dropSnapshots(pool: pg.Pool, from = '-infinity'): Promise<void> {
  await pool.query('DELETE FROM ledger_snapshot_days WHERE day >= $1::date', [from]);
  await pool.query(`DELETE FROM ledger_hours WHERE at >= $1::date::timestamp AT TIME ZONE 'UTC'`, [from]);
}
