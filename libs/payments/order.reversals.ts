import type pg from 'pg';

/** What was refunded of a paid order, as its customer sees it; credits in nanos, payments in minor units. */
export interface OrderReversals {
  refunds: {
    credits: bigint;
    payMinor: bigint;
    state: 'pending' | 'succeeded' | 'failed';
    at: Date;
    endedAt: Date | null;
  }[];
  disputes: {
    credits: bigint;
    payMinor: bigint;
    state: 'open' | 'won' | 'lost';
    at: Date;
    endedAt: Date | null;
  }[];
}

/**
 * The refunds and disputes of a top-up, oldest first; none for an order that was not paid. A dispute has what it took of the
 * payment: not what was refunded before, although the bank took that too. One that took nothing is left out.
 */
export async function readReversals(pool: pg.Pool, topupId: string | null): Promise<OrderReversals> {
  if (topupId === null) return { refunds: [], disputes: [] };
  const [refunds, disputes] = await Promise.all([
    pool.query<OrderReversals['refunds'][number]>(
      `SELECT r.credits, r.paid_minor AS "payMinor", r.state, r.created_at AS at, t.recorded_at AS "endedAt"
       FROM topup_refunds r LEFT JOIN ledger_transactions t ON t.id = r.ended_transaction_id
       WHERE r.topup_id = $1 ORDER BY r.id`,
      [topupId],
    ),
    pool.query<OrderReversals['disputes'][number]>(
      `SELECT credits, paid_minor AS "payMinor", state, opened_at AS at, closed_at AS "endedAt"
       FROM disputes WHERE topup_id = $1 AND paid_minor > 0 ORDER BY opened_at, dispute_id`,
      [topupId],
    ),
  ]);
  return { refunds: refunds.rows, disputes: disputes.rows };
}
