import type pg from 'pg';
import { returnTaken } from '#ledger/postings/dispute-suspense.js';
import type { EventOutcome } from '../payment.notices.js';
import { afterPostings, type ReportedFact, suspend, type SuspendedPayment } from './reported-fact.js';

type Dispute = ReportedFact<'dispute'>;

/** A bank disputes a payment that was credited to nobody, or has decided: what it takes is in suspense as well. */
export async function applySuspendedDispute(
  client: pg.PoolClient,
  fact: Dispute,
  payment: SuspendedPayment,
): Promise<EventOutcome> {
  const { disputeId, paymentId, state } = fact;
  const known = await findPayment(client, fact);
  if (known !== null && known !== paymentId)
    return { state: 'ignored', detail: `Dispute ${disputeId} is known as one of another payment.` };
  const happenedAt = await afterPostings(client, [payment.transactionId], fact.reportedAt);
  if (state !== 'won')
    return known === null
      ? take(client, { ...fact, reportedAt: happenedAt }, payment)
      : { state: 'ignored', detail: `What dispute ${disputeId} took is in suspense already.` };
  if (known === null)
    return { state: 'ignored', detail: `Dispute ${disputeId} was won before it took anything.` };
  const { isBack } = await returnTaken(client, { ...fact, happenedAt }, { houseCurrency: fact.house });
  const detail = `Dispute ${disputeId} of payment ${paymentId} in suspense is won.`;
  return isBack ? { state: 'suspense', detail, alert: 'dispute_won' } : { state: 'applied', detail };
}

/** What was taken beyond the payment, as by two disputes or after a refund of it, matches nothing that we know. */
async function take(client: pg.PoolClient, fact: Dispute, payment: SuspendedPayment): Promise<EventOutcome> {
  const { disputeId: reference, paymentId, amountMinor } = fact;
  const { orderId } = payment;
  const ofPayment = await withinPayment(client, fact, payment);
  const parts = [
    { reference, orderId, paymentId, amountMinor: -ofPayment, why: 'payment_disputed' },
    { reference, orderId, paymentId, amountMinor: ofPayment - amountMinor, why: 'dispute_beyond_payment' },
  ] as const;
  for (const part of parts) if (part.amountMinor < 0n) await suspend(client, fact, part);
  const detail = `Payment ${paymentId} is in suspense, and so is what dispute ${reference} took of it.`;
  return { state: 'suspense', detail, alert: 'payment_disputed' };
}

/** How much of an amount that leaves is of a locked payment in suspense: no more than is left of it. */
export async function withinPayment(
  client: pg.PoolClient,
  { provider, paymentId, amountMinor }: Pick<Dispute, 'provider' | 'paymentId' | 'amountMinor'>,
  payment: SuspendedPayment,
): Promise<bigint> {
  const left = payment.amountMinor - (await takenBefore(client, provider, paymentId));
  if (left <= 0n) return 0n;
  return amountMinor < left ? amountMinor : left;
}

/** What is gone of a payment in suspense: by disputes that were not won, and by refunds at the provider that did not fail. */
async function takenBefore(client: pg.PoolClient, provider: string, paymentId: string): Promise<bigint> {
  const { rows } = await client.query<{ taken: bigint }>(
    `SELECT coalesce(-sum(amount_minor), 0)::bigint AS taken FROM suspense_items i
     WHERE provider = $1 AND payment_id = $2 AND (why = 'payment_disputed' AND cleared_by IS DISTINCT FROM 'system'
       OR why = 'unknown_refund' AND NOT EXISTS (SELECT FROM suspense_items b
         WHERE b.provider = i.provider AND b.reference = i.reference AND b.why = 'refund_failed'))`,
    [provider, paymentId],
  );
  return rows[0]?.taken ?? 0n;
}

/** The payment of a dispute that took something, as our books know it. */
async function findPayment(client: pg.PoolClient, { provider, disputeId }: Dispute): Promise<string | null> {
  const { rows } = await client.query<{ paymentId: string }>(
    `SELECT payment_id AS "paymentId" FROM suspense_items WHERE provider = $1 AND reference = $2 AND payment_id IS NOT NULL
     UNION ALL SELECT t.payment_id FROM disputes d JOIN topups t ON t.id = d.topup_id
       WHERE d.provider = $1 AND d.dispute_id = $2 LIMIT 1`,
    [provider, disputeId],
  );
  return rows[0]?.paymentId ?? null;
}
