import type pg from 'pg';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { findSuspense } from '#ledger/postings/suspense.js';
import type { EventOutcome } from '../payment.notices.js';
import { lockPayment, ofAccount, type ReportedFact } from './reported-fact.js';

/** A bank disputes a payment, or has decided. If the payment is not known yet, it waits. */
export async function applyDisputeFact(
  client: pg.PoolClient,
  fact: ReportedFact<'dispute'>,
): Promise<EventOutcome> {
  const { provider, disputeId, paymentId, state, amountMinor, currency, reportedAt, house } = fact;
  await lockPayment(client, provider, paymentId);
  const { rows } = await client.query<{ topupId: string; accountId: string }>(
    `SELECT id AS "topupId", account_id AS "accountId" FROM topups
     WHERE provider = $1 AND payment_id = $2 AND currency = $3`,
    [provider, paymentId, currency],
  );
  const topup = rows[0];
  if (!topup) {
    const detail = `Payment ${paymentId} in ${currency} is not known (yet).`;
    return { state: 'waiting', detail, alert: 'unknown_dispute' };
  }
  const happenedAt = await ofAccount(client, topup.accountId, reportedAt);
  const dispute = { provider, disputeId, ...topup, amountMinor, state, happenedAt };
  const why = 'dispute_after_deletion';
  const inSuspense = () => findSuspense(client, { provider, reference: disputeId, why });
  const earlier = await inSuspense();
  const latest = await applyDispute(client, dispute, house);
  if (!earlier && (await inSuspense())) {
    const detail = `The dispute of top-up ${topup.topupId} was won after its account was deleted.`;
    return { state: 'suspense', detail, alert: why };
  }
  const detail = `The dispute of top-up ${topup.topupId} is ${latest}.`;
  return { state: latest === state ? 'applied' : 'ignored', detail };
}
