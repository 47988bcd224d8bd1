import type { LedgerFixture } from './ledger.js';

/** Moves charges and the export of the request log an hour into the past, so that the hour of the charges has ended. */
export async function moveAnHourBack({ owner }: Pick<LedgerFixture, 'owner'>): Promise<void> {
  await owner.query(
    `UPDATE charges SET created_at = created_at - interval '1 hour', resolved_at = resolved_at - interval '1 hour'`,
  );
  await owner.query('DELETE FROM exported_hours');
  await owner.query(
    `INSERT INTO exported_hours (hour, lines, bytes, sha256)
     SELECT date_trunc('hour', min(created_at), 'UTC') - interval '1 hour', 0, 20, repeat('0', 64) FROM charges`,
  );
}
