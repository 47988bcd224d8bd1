import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { type FreezeResult, setFreeze } from '#ledger/postings/freeze.js';

/** Who changes which account, and in which request. */
export interface AccountOperation {
  /** As named in the audit log: `user:{id}`. */
  by: string;
  accountId: string;
  requestId: string | null;
}

/** The same by a staff member without an interest of their own in the account. */
export interface StaffOperation extends AccountOperation {
  actor: { readonly userId: string };
}

/** Freezes an account with a reason that its owner reads. A repeat changes nothing and is not logged. */
export function freezeAccount(
  pool: pg.Pool,
  operation: StaffOperation,
  reason: string,
): Promise<FreezeResult> {
  return setFrozen(pool, operation, { reason, note: undefined });
}

/** Unfreezes an account, unless its balance is below zero. */
export function unfreezeAccount(
  pool: pg.Pool,
  operation: StaffOperation,
  note: string,
): Promise<FreezeResult> {
  return setFrozen(pool, operation, { reason: null, note });
}

function setFrozen(
  pool: pg.Pool,
  { by, actor, accountId, requestId }: StaffOperation,
  { reason, note }: { reason: string | null; note: string | undefined },
): Promise<FreezeResult> {
  return inTransaction(pool, async (client) => {
    await refuseOwnInterest(client, actor, accountId);
    const result = await setFreeze(client, accountId, reason);
    if (result.outcome !== 'changed') return result;
    await audit(client, {
      actor: by,
      action: reason === null ? 'account.unfrozen' : 'account.frozen',
      accountId,
      before: result.before,
      after: { ...result.after, note },
      requestId,
    });
    return result;
  });
}
