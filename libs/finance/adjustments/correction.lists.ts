import { type Adjustment, type AdjustmentReason, ADJUSTMENTS } from '#ledger/postings/adjustment.js';
import { correctionColumns } from '#ledger/postings/correction.js';
import { type WriteOff, WRITE_OFFS } from '#ledger/postings/write-off.js';
import { shown } from '#platform/http/fields.js';
import { listing } from '../listing.js';
import { readDebtors } from '../reports/debts.js';
import { adjustmentView, viewDebtor, writeOffView } from './adjustments.view.js';

interface AdjustmentFilter {
  accountId?: string | undefined;
  ticketId?: string | undefined;
  reason?: AdjustmentReason | undefined;
  /** Recorded from the one time (inclusive) to the other (exclusive). */
  from?: Date | undefined;
  to?: Date | undefined;
}

export function adjustmentListing({ accountId, ticketId, reason, from, to }: AdjustmentFilter) {
  return listing({
    by: ['id'],
    read: async (client, { limit, after }) => {
      const { rows } = await client.query<Adjustment>(
        `SELECT ${correctionColumns(ADJUSTMENTS)} FROM adjustments c
         WHERE ($2::text IS NULL OR c.id < $2) AND ($3::text IS NULL OR c.account_id = $3)
           AND ($4::text IS NULL OR c.ticket_id = $4) AND ($5::text IS NULL OR c.reason = $5)
           AND ($6::timestamptz IS NULL OR c.recorded_at >= $6) AND ($7::timestamptz IS NULL OR c.recorded_at < $7)
         ORDER BY c.id DESC LIMIT $1`,
        [limit, after?.id, accountId, ticketId, reason, from, to],
      );
      return rows;
    },
    view: (adjustment) => shown(adjustmentView, adjustment),
  });
}

/** Write-offs and their reversals, newest first. */
export function writeOffListing({ accountId }: { accountId?: string | undefined }) {
  return listing({
    by: ['id'],
    read: async (client, { limit, after }) => {
      const { rows } = await client.query<WriteOff>(
        `SELECT ${correctionColumns(WRITE_OFFS)} FROM write_offs c
         WHERE ($2::text IS NULL OR c.id < $2) AND ($3::text IS NULL OR c.account_id = $3)
         ORDER BY c.id DESC LIMIT $1`,
        [limit, after?.id, accountId],
      );
      return rows;
    },
    view: (writeOff) => shown(writeOffView, writeOff),
  });
}

export const debtorListing = listing({
  by: ['accountId'],
  read: (client, { limit, after }) => readDebtors(client, { limit, afterId: after && after.accountId }),
  view: viewDebtor,
});
