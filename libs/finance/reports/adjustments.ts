import type pg from 'pg';
import { type Adjustment, type AdjustmentReason, ADJUSTMENTS } from '#ledger/postings/adjustment.js';
import { correctionColumns } from '#ledger/postings/correction.js';

export interface AdjustmentsQuery {
  limit: number;
  /** Only adjustments older than this ID. */
  beforeId: string | null;
  accountId?: string | undefined;
  ticketId?: string | undefined;
  reason?: AdjustmentReason | undefined;
  /** Recorded from the one time (inclusive) to the other (exclusive). */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The register of adjustments, newest first, with one more than the limit if there are more. */
export async function listAdjustments(
  database: pg.Pool | pg.ClientBase,
  { limit, beforeId, accountId, ticketId, reason, from, to }: AdjustmentsQuery,
): Promise<Adjustment[]> {
  const { rows } = await database.query<Adjustment>(
    `SELECT ${correctionColumns(ADJUSTMENTS)} FROM adjustments c
     WHERE ($2::text IS NULL OR c.id < $2) AND ($3::text IS NULL OR c.account_id = $3)
       AND ($4::text IS NULL OR c.ticket_id = $4) AND ($5::text IS NULL OR c.reason = $5)
       AND ($6::timestamptz IS NULL OR c.recorded_at >= $6) AND ($7::timestamptz IS NULL OR c.recorded_at < $7)
     ORDER BY c.id DESC LIMIT $1`,
    [limit + 1, beforeId, accountId ?? null, ticketId ?? null, reason ?? null, from ?? null, to ?? null],
  );
  return rows;
}
