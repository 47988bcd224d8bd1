import type pg from 'pg';
import { recogniseAll, recognitionProgress } from './recognition.js';

/**
 * Recognises everything posted so far. What is final waits for transactions of the whole cluster, so those of other specs can
 * hold it up for longer than a round waits.
 */
export async function recognisePresent(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ id: bigint }>(
    'SELECT coalesce(max(id), 0)::bigint AS id FROM ledger_transactions',
  );
  const newest = rows[0]!.id;
  do await recogniseAll(pool);
  while ((await recognitionProgress(pool)).throughId < newest);
}
