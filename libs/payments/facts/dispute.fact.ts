import type pg from 'pg';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { type Dispute, DisputeOfAnotherPayment } from '#ledger/postings/dispute.js';
import { formatAmount, type Nanos } from '#money/amount.js';
import type { EventOutcome } from '../payment.notices.js';
import { afterPostings, lockPayment, lockSuspended, type ReportedFact } from './reported-fact.js';
import { applySuspendedDispute } from './suspended-dispute.js';

interface DisputedTopup {
  topupId: string;
  accountId: string;
  transactionId: bigint;
  chargebackId: bigint | null;
}

/** With the last transaction of its credits: a failed refund may have been credited again since. */
const TOPUP = `SELECT id AS "topupId", account_id AS "accountId",
    (SELECT max(same.transaction_id) FROM topups same WHERE same.account_id = t.account_id AND t.id IN (same.id, same.continues))
      AS "transactionId",
    (SELECT transaction_id FROM disputes WHERE provider = $1 AND dispute_id = $4) AS "chargebackId"
  FROM topups t WHERE provider = $1 AND payment_id = $2 AND currency = $3`;

/** A bank disputes a payment, or has decided. If the payment is not known yet, it waits. */
export async function applyDisputeFact(
  client: pg.PoolClient,
  fact: ReportedFact<'dispute'>,
): Promise<EventOutcome> {
  const { provider, disputeId, paymentId, state, amountMinor, currency, reportedAt, house } = fact;
  await lockPayment(client, provider, paymentId);
  if (state !== 'won' && (await wasWon(client, fact)))
    return { state: 'ignored', detail: `Dispute ${disputeId} has been won.` };
  const suspendedPayment = await lockSuspended(client, fact);
  const { rows } = await client.query<DisputedTopup>(TOPUP, [provider, paymentId, currency, disputeId]);
  const topup = rows[0];
  if (!topup && suspendedPayment) return applySuspendedDispute(client, fact, suspendedPayment);
  if (!topup) {
    const detail = `Payment ${paymentId} in ${currency} is not known (yet).`;
    return { state: 'waiting', detail, alert: 'unknown_dispute' };
  }
  const { topupId, accountId, transactionId, chargebackId } = topup;
  const happenedAt = await afterPostings(client, [transactionId, chargebackId], reportedAt);
  const dispute = { provider, disputeId, topupId, accountId, amountMinor, state, happenedAt };
  const earlier = await suspendedFor(client, dispute);
  const latest = await applyKnown(client, dispute, house);
  if (latest === null)
    return { state: 'ignored', detail: `Dispute ${disputeId} is known as one of another payment.` };
  const suspended = await suspendedFor(client, dispute);
  const whys = suspended.filter(({ id }) => !earlier.some((each) => each.id === id)).map(({ why }) => why);
  const happened =
    whys.length === 0 ? `is ${latest}` : `was won after ${whys.map((why) => AFTER[why]).join(' and ')}`;
  const advice = latest === 'won' && state === 'won' ? await adviceOn(client, dispute, suspended) : null;
  const detail = `The dispute of top-up ${topup.topupId} ${happened}.${advice === null ? '' : ` ${advice}`}`;
  if (whys[0] !== undefined) return { state: 'suspense', detail, alert: whys[0] };
  if (latest !== state) return { state: 'ignored', detail };
  return advice === null
    ? { state: 'applied', detail }
    : { state: 'applied', detail, alert: 'won_after_write_off' };
}

/** A won dispute stays won, and its event may arrive first, also while its payment is in suspense. */
async function wasWon(
  client: pg.PoolClient,
  { provider, paymentId, disputeId }: ReportedFact<'dispute'>,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM payment_events WHERE provider = $1 AND payment_id = $2 AND payload ->> 'disputeId' = $3
       AND payload ->> 'state' = 'won' LIMIT 1`,
    [provider, paymentId, disputeId],
  );
  return rowCount === 1;
}

/** @returns the state that it is in now; null if it is of another payment */
async function applyKnown(
  client: pg.PoolClient,
  dispute: Dispute,
  house: string,
): Promise<Dispute['state'] | null> {
  try {
    return await applyDispute(client, dispute, house);
  } catch (error) {
    if (error instanceof DisputeOfAnotherPayment) return null;
    throw error;
  }
}

const AFTER = {
  dispute_after_deletion: 'its account was deleted',
  dispute_won: 'a part of it was booked as a cost',
};

interface SuspendedWin {
  id: string;
  why: keyof typeof AFTER;
}

/** The money of a won dispute that is in suspense, or was. */
async function suspendedFor(
  client: pg.PoolClient,
  { provider, disputeId }: Pick<Dispute, 'provider' | 'disputeId'>,
): Promise<SuspendedWin[]> {
  const { rows } = await client.query<SuspendedWin>(
    'SELECT id, why FROM suspense_items WHERE provider = $1 AND reference = $2 AND why = ANY($3::text[])',
    [provider, disputeId, Object.keys(AFTER)],
  );
  return rows;
}

/** What to do about the write-off of what a dispute took, unless it was reversed: the customer would have both. */
async function adviceOn(
  client: pg.PoolClient,
  { provider, disputeId }: Pick<Dispute, 'provider' | 'disputeId'>,
  suspended: readonly SuspendedWin[],
): Promise<string | null> {
  const { rows } = await client.query<{ id: string; credits: Nanos }>(
    `SELECT w.id, d.credits FROM disputes d JOIN write_offs w ON w.account_id = d.account_id AND w.recorded_at >= d.opened_at
     WHERE d.provider = $1 AND d.dispute_id = $2 AND d.credits > 0 AND w.reverses_id IS NULL
       AND NOT EXISTS (SELECT FROM write_offs r WHERE r.reverses_id = w.id) ORDER BY w.id LIMIT 1`,
    [provider, disputeId],
  );
  const row = rows[0];
  if (!row) return null;
  const before = `Its debt was given up before, by write-off ${row.id}`;
  if (suspended.some(({ why }) => why === 'dispute_after_deletion'))
    return `${before}: keep the money instead of returning it.`;
  const twice = `${formatAmount(row.credits)} credits`;
  return `${before}: take back up to ${twice}, by reversing it or by an adjustment.`;
}
