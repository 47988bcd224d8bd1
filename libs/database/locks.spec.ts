import { expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/database.js';
import { inTransaction, openPool } from './database.js';
import { type LockName, tryLock } from './locks.js';

const ALL: Record<LockName, true> = {
  preparation: true,
  migration: true,
  balanceSnapshots: true,
  ledgerChain: true,
  periodClose: true,
  reconciler: true,
  requestLog: true,
  administrators: true,
  webhookClaims: true,
};

it('has a lock of its own for each name', async () => {
  const database = await createTestDatabase();
  const pool = openPool({ url: database.ownerUrl, max: 1, applicationName: 'spec' });
  const taken = await inTransaction(pool, async (client) => {
    for (const name of Object.keys(ALL) as LockName[]) await tryLock(client, name);
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
    );
    return rows[0]!.count;
  });
  expect(taken).toBe(Object.keys(ALL).length);
  await pool.end();
  await database.drop();
});
