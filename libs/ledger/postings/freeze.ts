import type pg from 'pg';
import { isDeleted } from '#identity/account.store.js';
import { ApiError } from '#platform/errors.js';

/** The reason of a freeze by a negative balance, which triggers end. */
const DEBT = 'debt';

interface Freeze {
  frozen: boolean;
  /**
   * The reason given by the person who froze the account; `debt` for a negative balance, which credits unfreeze; null:
   * not frozen.
   */
  reason: string | null;
}

export type FreezeResult =
  | { outcome: 'changed' | 'unchanged'; before: Freeze; after: Freeze }
  /** The balance is below zero, and only credits unfreeze the account. */
  | { outcome: 'in_debt'; before: Freeze }
  /** It stays frozen for good. */
  | { outcome: 'deleted'; before: Freeze }
  | { outcome: 'not_found' };

/**
 * Freezes an account manually, or unfreezes it, in the caller's transaction. Like every hold, it first locks the
 * balances, so each hold precedes the change or sees it.
 * @throws ApiError invalid_value for the reason `debt`: the next change of the balance would take it for a paid debt
 */
export async function setFreeze(
  client: pg.ClientBase,
  accountId: string,
  reason: string | null,
): Promise<FreezeResult> {
  refuseDebt(reason);
  const { rows } = await client.query<Freeze & { isInDebt: boolean }>(
    `SELECT frozen, frozen_reason AS reason, main < 0 AS "isInDebt" FROM customer_balances
     WHERE account_id = $1 FOR UPDATE`,
    [accountId],
  );
  const row = rows[0];
  if (!row) return { outcome: 'not_found' };
  const before = { frozen: row.frozen, reason: row.reason };
  if (await isDeleted(client, accountId)) return { outcome: 'deleted', before };
  if (reason === null && row.isInDebt) return { outcome: 'in_debt', before };
  const after = { frozen: reason !== null, reason };
  if (before.frozen === after.frozen && before.reason === after.reason)
    return { outcome: 'unchanged', before, after };
  await client.query('UPDATE customer_balances SET frozen = $2, frozen_reason = $3 WHERE account_id = $1', [
    accountId,
    after.frozen,
    after.reason,
  ]);
  return { outcome: 'changed', before, after };
}

function refuseDebt(reason: string | null): void {
  if (reason?.trim().toLowerCase() === DEBT)
    throw new ApiError('invalid_value', 'reason must say why in words.', { param: 'reason' });
}
