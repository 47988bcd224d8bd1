import type pg from 'pg';
import { advanceLots } from '../lots/lots.js';
import type { LockedAccount } from './posting.js';

/**
 * Lets new credits cover the debts of an account's chargebacks at once, so that their payment makes up for the loss.
 * Call it whenever an account receives credits or a use is refunded, with the account locked. Without disputes, this
 * can wait for the recogniser.
 */
export async function settleDebt(client: pg.ClientBase, account: LockedAccount): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM disputes WHERE account_id = $1 LIMIT 1', [
    account.accountId,
  ]);
  if (rowCount !== 0) await advanceLots(client, account);
}
