import type pg from 'pg';
import { advanceLots } from '../lots/lots.js';
import type { LockedAccount } from './posting.js';

/**
 * Lets credits that came to an account cover the debts of its chargebacks at once, so that what was paid for them makes up
 * for the loss. To be called whenever credits came to an account or a use was refunded; its account is locked. Without
 * disputes there is no hurry: the recogniser comes by.
 */
export async function settleDebt(client: pg.ClientBase, account: LockedAccount): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM disputes WHERE account_id = $1 LIMIT 1', [
    account.accountId,
  ]);
  if (rowCount !== 0) await advanceLots(client, account);
}
