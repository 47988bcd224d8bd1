import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { creditTopup, type TopupRequest, type TopupResult } from '#ledger/postings/topup.js';

/** Credits a payment in a separate transaction. */
export function recordTopup(pool: pg.Pool, request: TopupRequest): Promise<TopupResult> {
  return inTransaction(pool, (client) => creditTopup(client, request));
}
