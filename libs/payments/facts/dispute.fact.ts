import type pg from 'pg';
import { applyDispute } from '#ledger/postings/chargeback.js';
import type { Dispute } from '#ledger/postings/dispute.js';
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
  const earlier = await suspendedFor(client, dispute);
  const latest = await applyDispute(client, dispute, house);
  const why = (await suspendedFor(client, dispute)).find((each) => !earlier.includes(each));
  if (why !== undefined) {
    const detail = `The dispute of top-up ${topup.topupId} was won after ${AFTER[why]}.`;
    return { state: 'suspense', detail, alert: why };
  }
  const detail = `The dispute of top-up ${topup.topupId} is ${latest}.`;
  return { state: latest === state ? 'applied' : 'ignored', detail };
}

const AFTER = {
  dispute_after_deletion: 'its account was deleted',
  dispute_won: 'a part of it was booked as a cost',
};

/** The reasons for which money of a won dispute is in suspense. */
async function suspendedFor(
  client: pg.PoolClient,
  { provider, disputeId }: Pick<Dispute, 'provider' | 'disputeId'>,
): Promise<(keyof typeof AFTER)[]> {
  const { rows } = await client.query<{ why: keyof typeof AFTER }>(
    'SELECT why FROM suspense_items WHERE provider = $1 AND reference = $2 AND why = ANY($3::text[])',
    [provider, disputeId, Object.keys(AFTER)],
  );
  return rows.map(({ why }) => why);
}
