import type pg from 'pg';
import { type Lot, readLots } from '../lots/lots.js';
import type { LockedAccount } from './posting.js';

/**
 * The top-ups of top-up $1's account that are of the same money: if a refund fails after its end, what came back is credited as
 * another top-up, which is as much a part of the first payment.
 */
export const SAME_MONEY = `SELECT t.id, t.credits, t.paid_minor, t.continues FROM topups one
  JOIN topups t ON t.account_id = one.account_id AND coalesce(t.continues, t.id) = coalesce(one.continues, one.id) WHERE one.id = $1`;

/** What is left of a top-up's money after refunds, including pending ones, and disputes that were not won. */
export async function unreversed(
  client: pg.ClientBase,
  topupId: string,
): Promise<{ credits: bigint; paidMinor: bigint }> {
  const { rows } = await client.query<{ credits: bigint; paidMinor: bigint }>(
    `WITH same_money AS (${SAME_MONEY})
     SELECT coalesce(sum(credits), 0)::bigint AS credits, coalesce(sum(paid_minor), 0)::bigint AS "paidMinor" FROM (
       SELECT credits, paid_minor FROM same_money
       UNION ALL SELECT -r.credits, -r.paid_minor FROM topup_refunds r JOIN same_money s ON s.id = r.topup_id WHERE r.state <> 'failed'
       UNION ALL SELECT -d.credits, -d.paid_minor FROM disputes d JOIN same_money s ON s.id = d.topup_id WHERE d.state <> 'won') AS parts`,
    [topupId],
  );
  return rows[0]!;
}

/** The current lots of a top-up's money, the first to be used first; at least its own. */
export async function lotsOf(client: pg.ClientBase, account: LockedAccount, topupId: string): Promise<Lot[]> {
  const { rows } = await client.query<{ id: string }>(SAME_MONEY, [topupId]);
  const { lots } = await readLots(client, account);
  if (!lots.some((lot) => lot.topupId === topupId)) throw new Error(`top-up ${topupId} has no lot`);
  return lots.filter((lot) => rows.some(({ id }) => id === lot.topupId));
}
