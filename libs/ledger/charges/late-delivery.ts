import type pg from 'pg';
import { linesJson } from './batch-columns.js';
import type { ResolveCommand, Used } from './charge.js';

const INSERT = `INSERT INTO late_deliveries (charge_id, channel_id, units, lines) VALUES ($1, $2, $3, $4)
  ON CONFLICT (charge_id) DO NOTHING`;

/**
 * Records work that was delivered after its charge had been released, once, so that its cost is recorded too.
 * @returns false if it was recorded before, or if no channel made it, so that nobody bills it
 */
export async function recordLateDelivery(
  pool: pg.Pool,
  { chargeId, channel }: ResolveCommand,
  { units, lines }: Used,
): Promise<boolean> {
  if (channel === null) return false;
  const { rowCount } = await pool.query(INSERT, [chargeId, channel, units, lines && linesJson(lines)]);
  return rowCount === 1;
}
