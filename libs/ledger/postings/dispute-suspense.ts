import type pg from 'pg';
import type { Dispute } from './dispute.js';
import { bookSuspense, bookSuspenseReturned, type SuspenseItem } from './suspense.js';

/** Not what was returned because the dispute was won, nor what the bank returned of the excess. */
const TAKEN = `SELECT id, provider, reference, order_id AS "orderId", payment_id AS "paymentId", amount_minor AS "amountMinor",
    currency, why, transaction_id AS "transactionId", state
  FROM suspense_items WHERE provider = $1 AND reference = $2 AND (why = 'dispute_beyond_payment' AND state <> 'returned'
    OR why = 'payment_disputed' AND cleared_by IS DISTINCT FROM 'system') ORDER BY id FOR UPDATE`;
const RETURNED = `UPDATE suspense_items SET state = 'returned', cleared_transaction_id = $2,
    cleared_by = 'system', cleared_at = now(), note = 'The dispute was won.' WHERE id = $1`;

type TakenItem = SuspenseItem & {
  id: string;
  transactionId: bigint;
  state: 'open' | 'returned' | 'expensed';
};

/**
 * Returns what a won dispute took that is in suspense. What a person has resolved since comes back into suspense, in one item.
 * @returns whether that is new
 */
export async function returnTaken(
  client: pg.ClientBase,
  { provider, disputeId, happenedAt = null }: Pick<Dispute, 'provider' | 'disputeId' | 'happenedAt'>,
  houseCurrency: string,
): Promise<boolean> {
  const { rows } = await client.query<TakenItem>(TAKEN, [provider, disputeId]);
  for (const item of rows.filter(({ state }) => state === 'open')) {
    const clearedId = await bookSuspenseReturned(client, item, houseCurrency);
    await client.query(RETURNED, [item.id, clearedId]);
  }
  const resolved = rows.filter(({ state }) => state !== 'open');
  const first = resolved[0];
  if (!first) return false;
  const { orderId, paymentId = null, currency } = first;
  const amountMinor = resolved.reduce((sum, taken) => sum - taken.amountMinor, 0n);
  const about = { provider, reference: disputeId, orderId, paymentId, currency, happenedAt };
  return (await bookSuspense(client, { ...about, amountMinor, why: 'dispute_won' }, houseCurrency)).created;
}
