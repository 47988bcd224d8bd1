import type pg from 'pg';
import { z } from 'zod';
import type { PostingKind } from '#ledger/postings/posting-kinds.js';
import { amountView, numberText, type RowOf, utcDay } from '#platform/http/fields.js';

export const chargeCostView = z.object({
  outcome: z.enum(['delivered', 'failed', 'late']),
  channel: z.string(),
  /** Calls or seconds; tokens for metered work. */
  units: numberText,
  cost: amountView,
  costVersionId: numberText,
  /** Null if the cost is 0. */
  transactionId: numberText.nullable(),
  /** In which it counts. */
  day: utcDay,
});

type ChargeCost = RowOf<typeof chargeCostView>;

export interface ChargeMargin {
  gross: bigint;
  refunds: bigint;
  costs: ChargeCost[];
  /** Nanos; what is recorded. */
  cost: bigint;
  /** `known`; `waiting`: will be recorded soon; `unknown`: no cost is set; `none`: no upstream was reached. */
  state: 'known' | 'waiting' | 'unknown' | 'none';
  /** Ledger transactions of the hold, settlement or release, refunds and costs, each with its kind. */
  transactions: { id: bigint; kind: PostingKind }[];
}

/** The revenue and cost of a charge, or null if there is no such charge. */
export async function chargeMargin(pool: pg.Pool, chargeId: string): Promise<ChargeMargin | null> {
  const { rows } = await pool.query<{ gross: bigint; refunds: string; ended: boolean; unknown: boolean }>(
    `SELECT coalesce(settled, 0)::bigint AS gross, c.state IN ('settled', 'released') AND (c.channel_id IS NOT NULL
         OR EXISTS (SELECT FROM late_deliveries l WHERE l.charge_id = c.id)) AS ended,
       (SELECT coalesce(sum(amount), 0)::text FROM charge_refunds r WHERE r.charge_id = c.id) AS refunds,
       EXISTS (SELECT FROM unknown_costs u WHERE u.charge_id = c.id) AS unknown FROM charges c WHERE c.id = $1`,
    [chargeId],
  );
  if (!rows[0]) return null;
  const { gross, ended, unknown } = rows[0];
  const refunds = BigInt(rows[0].refunds);
  const { rows: costs } = await pool.query<ChargeCost>(
    `SELECT outcome, channel_id AS channel, units, cost, cost_version_id AS "costVersionId", transaction_id AS "transactionId",
       day::text FROM charge_costs WHERE charge_id = $1 ORDER BY outcome`,
    [chargeId],
  );
  const { rows: transactions } = await pool.query<{ id: bigint; kind: PostingKind }>(
    // Each part is found by its own index. With OR between them, the whole ledger would be read.
    `SELECT id, kind FROM ledger_transactions WHERE id = ANY (ARRAY(
       SELECT id FROM ledger_transactions WHERE reference IN ('charge:' || $1 || ':hold', 'charge:' || $1 || ':resolve')
       UNION ALL SELECT transaction_id FROM charge_refunds WHERE charge_id = $1)) ORDER BY id`,
    [chargeId],
  );
  const cost = costs.reduce((sum, row) => sum + row.cost, 0n);
  const waits = ended ? 'waiting' : 'none';
  const state = unknown ? 'unknown' : costs.length > 0 ? 'known' : waits;
  return { gross, refunds, costs, cost, state, transactions };
}
