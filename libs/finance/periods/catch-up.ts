import type pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { ChainBuilder } from '#ledger/chain/chain.js';
import { recogniseAll } from '#ledger/lots/recognition.js';
import type { Logger } from '#platform/logging.js';
import { accrueCosts } from '../costs/accrual.js';

/** Another builder at work seals the rest. Wait this long for it, then let the checklist decide. */
const SEAL_WAIT_MS = 10_000;
const SEAL_PAUSE_MS = 100;

/**
 * Brings everything that lags behind the postings up to date, in the order in which each makes work for the next: costs,
 * recognised revenue, the hash chain. Must run before a period closes, because afterwards all of it would be late.
 */
export async function catchUp(
  pool: pg.Pool,
  { log, signal }: { log: Pick<Logger, 'info'>; signal?: AbortSignal | undefined },
): Promise<void> {
  await accrueCosts(pool, signal ? { signal } : {});
  signal?.throwIfAborted();
  await burnId(pool);
  await recogniseAll(pool);
  const through = await burnId(pool);
  const builder = new ChainBuilder({ pool, log });
  const deadline = performance.now() + SEAL_WAIT_MS;
  do {
    signal?.throwIfAborted();
    await builder.seal(signal);
    if ((await unsealed(pool, { before: through, effectiveBefore: 'infinity' })) === 0) return;
    await pause(SEAL_PAUSE_MS);
  } while (performance.now() < deadline);
}

/** Only IDs below the last one taken are final, so taking an unused ID makes all others final. */
export async function burnId(pool: pg.Pool): Promise<bigint> {
  const { rows } = await pool.query<{ id: bigint }>(`SELECT nextval('ledger_transaction_blocks') AS id`);
  return BigInt(rows[0]?.id ?? 0);
}

/** Transactions that are not in a block yet, with a lower ID and an earlier effective time than these. */
export async function unsealed(
  database: pg.Pool | pg.ClientBase,
  { before, effectiveBefore }: { before: bigint | null; effectiveBefore: string },
): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ledger_transactions
     WHERE id > coalesce((SELECT last_id FROM ledger_chain_blocks ORDER BY number DESC LIMIT 1), 0)
       AND id < coalesce($1::bigint, 9223372036854775807) AND effective_at < $2::timestamptz`,
    [before, effectiveBefore],
  );
  return rows[0]?.count ?? 0;
}
