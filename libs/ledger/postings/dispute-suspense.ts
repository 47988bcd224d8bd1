import type pg from 'pg';
import type { Dispute } from './dispute.js';
import type { LockedAccount } from './posting.js';
import { clawBackReward } from './reward-clawback.js';
import { SAME_MONEY } from './same-money.js';
import { bookSuspense, bookSuspenseReturned, type SuspenseItem } from './suspense.js';

/** Not what was returned because the dispute was won, nor what the bank returned of the excess. */
const TAKEN = `SELECT id, provider, reference, order_id AS "orderId", payment_id AS "paymentId", amount_minor AS "amountMinor",
    currency, why, transaction_id AS "transactionId", state
  FROM suspense_items WHERE provider = $1 AND reference = $2 AND (why = 'dispute_beyond_payment' AND state <> 'returned'
    OR why = 'payment_disputed' AND cleared_by IS DISTINCT FROM 'system') ORDER BY id FOR UPDATE`;
const RETURNED = `UPDATE suspense_items SET state = 'returned', cleared_transaction_id = $2,
    cleared_by = 'system', cleared_at = now(), note = $3 WHERE id = $1`;

type TakenItem = SuspenseItem & {
  id: string;
  transactionId: bigint;
  state: 'open' | 'returned' | 'expensed';
};

const BACK = `SELECT coalesce(sum(amount_minor), 0)::bigint AS back FROM suspense_items
  WHERE provider = $1 AND reference = $2 AND why = 'dispute_won'`;

interface Returning {
  houseCurrency: string;
  /** Why it is returned. */
  note?: string;
  /** The refund that failed; none if the dispute was won. */
  afterRefund?: string;
}

/**
 * Returns what a dispute took that is in suspense. What a person has resolved comes back into suspense, in one item, unless it
 * came back before. The caller has locked the account, or the payment if that is in suspense.
 * @returns whether something came back, and how much of what was taken is undone now
 */
export async function returnTaken(
  client: pg.ClientBase,
  { provider, disputeId, happenedAt = null }: Pick<Dispute, 'provider' | 'disputeId' | 'happenedAt'>,
  { houseCurrency, note = 'The dispute was won.', afterRefund }: Returning,
): Promise<{ isBack: boolean; amountMinor: bigint }> {
  const { rows } = await client.query<TakenItem>(TAKEN, [provider, disputeId]);
  const open = rows.filter(({ state }) => state === 'open');
  for (const item of open) {
    const clearedId = await bookSuspenseReturned(client, item, houseCurrency);
    await client.query(RETURNED, [item.id, clearedId, note]);
  }
  const resolved = rows.filter(({ state }) => state !== 'open');
  const before = await client.query<{ back: bigint }>(BACK, [provider, disputeId]);
  const amountMinor = takenOf(resolved) - (before.rows[0]?.back ?? 0n);
  const first = resolved[0];
  if (!first || amountMinor <= 0n) return { isBack: false, amountMinor: takenOf(open) };
  const { orderId, paymentId = null, currency } = first;
  const about = {
    provider,
    reference: disputeId,
    orderId,
    paymentId,
    currency,
    happenedAt,
    part: afterRefund,
  };
  await bookSuspense(client, { ...about, amountMinor, why: 'dispute_won' }, houseCurrency);
  return { isBack: true, amountMinor: takenOf(open) + amountMinor };
}

function takenOf(items: readonly TakenItem[]): bigint {
  return items.reduce((sum, { amountMinor }) => sum - amountMinor, 0n);
}

const UNDECIDED = `SELECT dispute_id AS "disputeId", (SELECT order_id FROM topups WHERE id = topup_id) AS "orderId"
  FROM disputes WHERE topup_id IN (SELECT id FROM (${SAME_MONEY}) AS s) AND state <> 'won' ORDER BY opened_at, dispute_id FOR UPDATE`;
const MORE_TAKEN = `WITH taken AS (
    INSERT INTO dispute_refunds (provider, dispute_id, refund_id, credits, paid_minor) VALUES ($1, $2, $3, $4, $5) RETURNING *)
  UPDATE disputes d SET credits = d.credits + t.credits, paid_minor = d.paid_minor + t.paid_minor
  FROM taken t WHERE d.provider = t.provider AND d.dispute_id = t.dispute_id`;

/** Names what a dispute took of a failed refund. */
export function reversalByRefund(
  { provider, disputeId }: Pick<Dispute, 'provider' | 'disputeId'>,
  refundId: string,
): string {
  return `refund:${refundId}:${provider}:${disputeId}`;
}

interface FailedRefund extends Pick<Dispute, 'provider' | 'topupId'> {
  id: string;
  currency: string;
  credits: bigint;
  paidMinor: bigint;
}

/** What does not go back to the customer, and whether money that a person had resolved is back in suspense. */
interface TakenOfRefund {
  credits: bigint;
  paidMinor: bigint;
  isBack: boolean;
}

/**
 * A refund failed whose payment banks took meanwhile, beyond what was left of it: its credits belong to those disputes instead
 * of the customer, and end what is in suspense of it. Each takes its part of the reward back by itself, because each may be
 * won. The caller has locked the accounts, and posts what they take.
 */
export async function takeForDisputes(
  client: pg.ClientBase,
  accounts: ReadonlyMap<string, LockedAccount>,
  { id: refundId, provider, topupId, currency, ...refund }: FailedRefund,
): Promise<TakenOfRefund> {
  const { rows } = await client.query<{ disputeId: string; orderId: string | null }>(UNDECIDED, [topupId]);
  const left = { credits: refund.credits, paidMinor: refund.paidMinor };
  let isBack = false;
  for (const { disputeId, orderId } of rows) {
    if (left.paidMinor === 0n) break;
    const ended = {
      houseCurrency: currency,
      note: 'A refund of the payment failed, and its credits cover this.',
      afterRefund: refundId,
    };
    const { amountMinor, ...returned } = await returnTaken(client, { provider, disputeId }, ended);
    isBack ||= returned.isBack;
    if (amountMinor === 0n) continue;
    const paidMinor = amountMinor < left.paidMinor ? amountMinor : left.paidMinor;
    const credits = (left.credits * paidMinor) / left.paidMinor;
    await client.query(MORE_TAKEN, [provider, disputeId, refundId, credits, paidMinor]);
    const reversal = reversalByRefund({ provider, disputeId }, refundId);
    await clawBackReward(client, accounts, { topupId, reversal });
    left.credits -= credits;
    left.paidMinor -= paidMinor;
    if (amountMinor === paidMinor) continue;
    const rest = { provider, reference: disputeId, orderId, currency, part: refundId };
    const beyond = { ...rest, amountMinor: paidMinor - amountMinor, why: 'dispute_beyond_payment' } as const;
    await bookSuspense(client, beyond, currency);
  }
  return { credits: refund.credits - left.credits, paidMinor: refund.paidMinor - left.paidMinor, isBack };
}
