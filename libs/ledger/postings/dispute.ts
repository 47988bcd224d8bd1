import type pg from 'pg';
import { NamedError } from '#platform/errors.js';
import type { PaymentProviderName } from './topup.js';

export interface Dispute {
  provider: PaymentProviderName;
  /** The provider's id. */
  disputeId: string;
  topupId: string;
  accountId: string;
  /** The amount that the bank took, in minor units. */
  amountMinor: bigint;
  /** `open`: the bank withholds the payment for now. */
  state: 'open' | 'won' | 'lost';
  /** When it reached this state, ISO 8601. Now by default. */
  happenedAt?: string | null;
}

/** A dispute as we know it, and what it took. */
export interface StoredDispute {
  topupId: string;
  state: Dispute['state'];
  credits: bigint;
  paidMinor: bigint;
  transactionId: bigint | null;
}

/** The dispute is known as one of another payment. Nothing was written. */
export class DisputeOfAnotherPayment extends NamedError {
  constructor({ disputeId }: Pick<Dispute, 'disputeId'>) {
    super(`Dispute ${disputeId} is of another payment.`);
  }
}

/** The locked row of a dispute; null if we have not heard of it. @throws DisputeOfAnotherPayment */
export async function lockDispute(client: pg.ClientBase, dispute: Dispute): Promise<StoredDispute | null> {
  const { provider, disputeId, topupId } = dispute;
  const { rows } = await client.query<StoredDispute>(
    `SELECT topup_id AS "topupId", state, credits, paid_minor AS "paidMinor", transaction_id AS "transactionId"
     FROM disputes WHERE provider = $1 AND dispute_id = $2 FOR UPDATE`,
    [provider, disputeId],
  );
  if (rows[0] && rows[0].topupId !== topupId) throw new DisputeOfAnotherPayment(dispute);
  return rows[0] ?? null;
}

export async function insertDispute(
  client: pg.ClientBase,
  dispute: Dispute,
  taken: { credits: bigint; paidMinor: bigint; transactionId: bigint | null },
): Promise<void> {
  await client.query(
    `INSERT INTO disputes (provider, dispute_id, topup_id, account_id, amount_minor, state, credits, paid_minor,
       transaction_id, closed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, CASE WHEN $6 = 'open' THEN NULL ELSE now() END)`,
    [
      dispute.provider,
      dispute.disputeId,
      dispute.topupId,
      dispute.accountId,
      dispute.amountMinor,
      dispute.state,
      taken.credits,
      taken.paidMinor,
      taken.transactionId,
    ],
  );
}
