import type pg from 'pg';
import type { SuspenseItem, SuspenseWhy } from '#ledger/postings/suspense.js';
import type { Continued } from '#ledger/postings/topup.js';
import { ApiError } from '#platform/errors.js';

export interface LockedItem extends SuspenseItem {
  id: string;
  transactionId: bigint;
  state: 'open' | 'credited' | 'returned' | 'expensed';
  topupId: string | null;
}

const ITEMS = `SELECT id, provider, reference, order_id AS "orderId", payment_id AS "paymentId", amount_minor AS "amountMinor",
    currency, why, state, transaction_id AS "transactionId", topup_id AS "topupId" FROM suspense_items`;

/** @throws ApiError not_found */
export async function lockItem(client: pg.ClientBase, itemId: string): Promise<LockedItem> {
  const { rows } = await client.query<LockedItem>(`${ITEMS} WHERE id = $1 FOR UPDATE`, [itemId]);
  if (!rows[0]) throw new ApiError('not_found', 'There is no such item.');
  return rows[0];
}

/** A refund that failed afterwards is back, and holds up no payment. */
const cameBack = (i: string): string =>
  `SELECT FROM suspense_items b WHERE b.provider = ${i}.provider AND b.reference = ${i}.reference AND b.why = 'refund_failed'`;

/** Whether `i` left of a payment and did not come back: by a dispute, or by a refund made at the provider itself. */
const isGone = (i: string): string =>
  `(${i}.why = 'payment_disputed' OR ${i}.why = 'unknown_refund' AND NOT EXISTS (${cameBack(i)}))`;

/** Whether item `i` was taken from a payment that is still in suspense, and has not come back: people end the payment first. */
const ENDS_WITH_PAYMENT = `${isGone('i')} AND EXISTS (SELECT FROM suspense_items p WHERE p.provider = i.provider AND p.reference = i.payment_id
    AND p.amount_minor > 0 AND p.state = 'open')`;

/** Incoming money that we may keep, because it is nobody's payment for something to come. */
const KEPT: readonly SuspenseWhy[] = ['provider_adjustment', 'dispute_after_deletion', 'dispute_won'];

/** Whether refund `i`, which came back, had ended as a cost. */
const LEFT_AS_COST = `EXISTS (SELECT FROM suspense_items u WHERE u.id = i.undoes AND u.state = 'expensed')`;

/** Whether refund `i`, which came back, is one of ours, for which its customer gave credits; `but`: with another condition. */
const isOurs = (
  but: string,
): string => `EXISTS (SELECT FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
    WHERE t.provider = i.provider AND r.provider_refund_id = i.reference AND ${but})`;

/** A bank took the payment of refund `r` although it had been refunded, so its customer has the money. */
const TAKEN_TOO = `EXISTS (SELECT FROM disputes d WHERE d.topup_id IN (t.id, t.continues) AND d.state <> 'won' AND d.amount_minor > d.paid_minor)`;

/** What is lost may be a cost. What came is income if it is nobody's payment: also a refund that left as a cost, and came back. */
const MAY_BE_EXPENSED = `(i.amount_minor < 0 OR i.why IN (${KEPT.map((why) => `'${why}'`).join(', ')})
  OR i.why = 'refund_failed' AND (${LEFT_AS_COST} OR ${isOurs(TAKEN_TOO)}))`;

/** Whether refund `i` came back after its payment had been returned, which ended with it. */
const OF_RETURNED = `EXISTS (SELECT FROM suspense_items u
    JOIN suspense_items p ON p.provider = u.provider AND p.reference = u.payment_id AND p.amount_minor > 0
    WHERE u.id = i.undoes AND u.state = 'returned' AND p.state = 'returned' AND p.cleared_transaction_id < i.transaction_id)`;

/** What came back is a payment only if no other item, and no credits, stand for it. */
const IS_PAYMENT = `(i.why NOT IN ('dispute_won', 'refund_failed')
  OR i.why = 'refund_failed' AND (${OF_RETURNED} OR ${isOurs(`NOT ${TAKEN_TOO}`)}))`;

const mayBeCredited = (
  house: string,
): string => `i.amount_minor > 0 AND i.currency = ${house} AND ${IS_PAYMENT}
  AND NOT EXISTS (SELECT FROM suspense_items g WHERE g.provider = i.provider AND g.payment_id = i.reference
    AND g.state = 'open' AND ${isGone('g')})`;

/** What may become of item `i`: nothing if it has ended, or ends with its payment. @param house the placeholder of the currency */
export const mayBecome = (
  house: string,
): string => `CASE WHEN i.state <> 'open' OR ${ENDS_WITH_PAYMENT} THEN '{}'
  ELSE array_remove(ARRAY[CASE WHEN ${mayBeCredited(house)} THEN 'credited' END, 'returned',
    CASE WHEN ${MAY_BE_EXPENSED} THEN 'expensed' END], NULL) END`;

/** Whether a locked item may be a cost, or income. */
export function mayBeExpensed(client: pg.ClientBase, item: LockedItem): Promise<boolean> {
  return holdsFor(client, item, MAY_BE_EXPENSED);
}

/** Whether a locked item that came is somebody's payment. */
export function isPayment(client: pg.ClientBase, item: LockedItem): Promise<boolean> {
  return holdsFor(client, item, IS_PAYMENT);
}

/** @param condition SQL about item `i` */
async function holdsFor(client: pg.ClientBase, { id }: LockedItem, condition: string): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT FROM suspense_items i WHERE i.id = $1 AND ${condition}`, [
    id,
  ]);
  return rowCount === 1;
}

/** Under which payment a locked item is credited. A refund that left in two parts comes back as two, each of which is a payment. */
export async function paymentIdOf(
  client: pg.ClientBase,
  { id, provider, reference, why }: LockedItem,
): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM suspense_items WHERE provider = $1 AND reference = $2 AND why = $3 ORDER BY transaction_id LIMIT 1`,
    [provider, reference, why],
  );
  return rows[0]?.id === id ? reference : `${reference}:${id}`;
}

/** What left of a locked payment and did not come back, oldest first: by disputes, and by refunds made at the provider itself. */
export async function lockGone(
  client: pg.ClientBase,
  { provider, reference }: LockedItem,
): Promise<LockedItem[]> {
  const { rows } = await client.query<LockedItem>(
    `${ITEMS} i WHERE provider = $1 AND payment_id = $2 AND state = 'open' AND ${isGone('i')} ORDER BY transaction_id FOR UPDATE`,
    [provider, reference],
  );
  return rows;
}

/** What left of a locked payment as far as it was paid, and ends with it. What left beyond that stays. */
export async function lockGoneWithin(client: pg.ClientBase, payment: LockedItem): Promise<LockedItem[]> {
  let left = payment.amountMinor;
  return (await lockGone(client, payment)).filter(({ amountMinor }) => (left += amountMinor) >= 0n);
}

const CONTINUED = `SELECT coalesce(t.continues, t.id) AS "topupId", CASE WHEN t.account_id = $2 THEN b.refund_id END AS "refundId"
  FROM suspense_items i CROSS JOIN LATERAL (
    SELECT r.topup_id, r.id AS refund_id FROM topup_refunds r WHERE i.why = 'refund_failed' AND r.provider_refund_id = i.reference
    UNION ALL SELECT d.topup_id, NULL FROM disputes d
      WHERE i.why = 'dispute_after_deletion' AND d.provider = i.provider AND d.dispute_id = i.reference) AS b
  JOIN topups t ON t.id = b.topup_id AND t.provider = i.provider WHERE i.id = $1`;

/** The top-up whose money came back as this item, if it is credited to an account. */
export async function continuedBy(
  client: pg.ClientBase,
  { id }: LockedItem,
  accountId: string,
): Promise<Continued | null> {
  const { rows } = await client.query<Continued>(CONTINUED, [id, accountId]);
  return rows[0] ?? null;
}

/** @throws ApiError conflict for what left of a payment that is still in suspense */
export async function requirePaymentEnded(client: pg.ClientBase, item: LockedItem): Promise<void> {
  if (!(await holdsFor(client, item, ENDS_WITH_PAYMENT))) return;
  throw new ApiError(
    'conflict',
    `Return payment ${item.paymentId} first: this ends with it, up to the amount paid.`,
  );
}

/** The account of the order that the payment named, if any. */
export async function accountOfOrder(client: pg.ClientBase, { orderId }: LockedItem): Promise<string | null> {
  const { rows } = await client.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM topup_orders WHERE id = $1',
    [orderId],
  );
  return rows[0]?.accountId ?? null;
}
