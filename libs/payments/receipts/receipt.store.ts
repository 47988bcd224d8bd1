import type pg from 'pg';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import type { BillingDetails } from './billing-details.js';
import { type OrderReversals, readReversals } from '../order.reversals.js';

/** A payment on its receipt: credits in nanos, money in minor units. */
export interface Receipt extends OrderReversals {
  topupId: string;
  accountId: string;
  /** The account's name when the top-up was recorded. */
  name: string;
  /** As the account had entered them when the top-up was recorded. */
  buyer: BillingDetails;
  credits: bigint;
  paidMinor: bigint;
  currency: string;
  /** The price of a credit. */
  rate: string;
  provider: PaymentProviderName;
  paymentId: string;
  paidAt: Date;
}

/** Of one account if given, otherwise of any. Null: no such top-up, or it is another account's. */
export async function findReceipt(
  pool: pg.Pool,
  topupId: string,
  accountId: string | null,
): Promise<Receipt | null> {
  const { rows } = await pool.query<Omit<Receipt, keyof OrderReversals>>(
    `SELECT p.id AS "topupId", p.account_id AS "accountId", coalesce(n.name, a.name) AS name, p.credits, p.paid_minor AS "paidMinor", p.currency,
       jsonb_build_object('name', d.name, 'address', d.address, 'taxId', d.tax_id) AS buyer,
       trim_scale(p.rate)::text AS rate, p.provider, p.payment_id AS "paymentId", t.effective_at AS "paidAt"
     FROM topups p JOIN accounts a ON a.id = p.account_id JOIN ledger_transactions t ON t.id = p.transaction_id
       LEFT JOIN billing_details d ON d.id = p.billing_details_id LEFT JOIN account_names n ON n.id = p.account_name_id
     WHERE p.id = $1 AND ($2::text IS NULL OR p.account_id = $2)`,
    [topupId, accountId],
  );
  const paid = rows[0];
  return paid ? { ...paid, ...(await readReversals(pool, topupId)) } : null;
}
