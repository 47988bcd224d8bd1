import type pg from 'pg';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import { type OrderReversals, readReversals } from '../order.reversals.js';

/** A payment as its receipt shows it: credits in nanos, money in minor units. */
export interface Receipt extends OrderReversals {
  topupId: string;
  accountId: string;
  /** Of the account, as it is now. */
  name: string;
  credits: bigint;
  paidMinor: bigint;
  currency: string;
  /** What a credit cost. */
  rate: string;
  provider: PaymentProviderName;
  paymentId: string;
  paidAt: Date;
}

/** Of one account where it is named, else of any. Null: there is no such top-up, or it is another account's. */
export async function findReceipt(
  pool: pg.Pool,
  topupId: string,
  accountId: string | null,
): Promise<Receipt | null> {
  const { rows } = await pool.query<Omit<Receipt, keyof OrderReversals>>(
    `SELECT p.id AS "topupId", p.account_id AS "accountId", a.name, p.credits, p.paid_minor AS "paidMinor", p.currency,
       trim_scale(p.rate)::text AS rate, p.provider, p.payment_id AS "paymentId", t.effective_at AS "paidAt"
     FROM topups p JOIN accounts a ON a.id = p.account_id JOIN ledger_transactions t ON t.id = p.transaction_id
     WHERE p.id = $1 AND ($2::text IS NULL OR p.account_id = $2)`,
    [topupId, accountId],
  );
  const paid = rows[0];
  return paid ? { ...paid, ...(await readReversals(pool, topupId)) } : null;
}
