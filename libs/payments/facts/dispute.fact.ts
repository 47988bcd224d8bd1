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
  if (latest !== state) return { state: 'ignored', detail };
  const writtenOff = state === 'won' ? await writeOffSince(client, dispute) : null;
  if (writtenOff === null) return { state: 'applied', detail };
  const advice = `Its debt was written off before, so reverse write-off ${writtenOff}.`;
  return { state: 'applied', detail: `${detail} ${advice}`, alert: 'won_after_write_off' };
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

/** The write-off of what a dispute took, unless it was reversed. The credits of a won dispute come on top of it. */
async function writeOffSince(
  client: pg.PoolClient,
  { provider, disputeId }: Pick<Dispute, 'provider' | 'disputeId'>,
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT w.id FROM disputes d JOIN write_offs w ON w.account_id = d.account_id AND w.recorded_at >= d.opened_at
     WHERE d.provider = $1 AND d.dispute_id = $2 AND d.credits > 0 AND w.reverses_id IS NULL
       AND NOT EXISTS (SELECT FROM write_offs r WHERE r.reverses_id = w.id) ORDER BY w.id LIMIT 1`,
    [provider, disputeId],
  );
  return rows[0]?.id ?? null;
}
