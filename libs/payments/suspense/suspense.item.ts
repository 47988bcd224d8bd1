import type pg from 'pg';
import type { SuspenseItem } from '#ledger/postings/suspense.js';
import { ApiError } from '#platform/errors.js';

export interface LockedItem extends SuspenseItem {
  id: string;
  transactionId: bigint;
  state: 'open' | 'credited' | 'returned' | 'expensed';
  topupId: string | null;
}

/** @throws ApiError not_found */
export async function lockItem(client: pg.ClientBase, itemId: string): Promise<LockedItem> {
  const { rows } = await client.query<LockedItem>(
    `SELECT id, provider, reference, order_id AS "orderId", amount_minor AS "amountMinor", currency, why, state,
       transaction_id AS "transactionId", topup_id AS "topupId"
     FROM suspense_items WHERE id = $1 FOR UPDATE`,
    [itemId],
  );
  if (!rows[0]) throw new ApiError('not_found', 'There is no such item.');
  return rows[0];
}

/** The account of the order that the payment named, if any. */
export async function accountOfOrder(client: pg.ClientBase, { orderId }: LockedItem): Promise<string | null> {
  const { rows } = await client.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM topup_orders WHERE id = $1',
    [orderId],
  );
  return rows[0]?.accountId ?? null;
}
