import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { type FreezeResult, setFreeze } from '#ledger/freeze.js';

/** Who changes whose account, and by which request. */
export interface AccountOperation {
  /** As the audit log names them: `user:{id}` or `cli:{login}`. */
  by: string;
  accountId: string;
  requestId: string | null;
}

/** Freezes an account with a reason that its owner reads; a repeat changes nothing and is not noted. */
export function freezeAccount(
  pool: pg.Pool,
  operation: AccountOperation,
  reason: string,
): Promise<FreezeResult> {
  return setFrozen(pool, operation, { reason, note: undefined });
}

/** Lifts a freeze, but not that of a balance below zero. */
export function unfreezeAccount(
  pool: pg.Pool,
  operation: AccountOperation,
  note: string,
): Promise<FreezeResult> {
  return setFrozen(pool, operation, { reason: null, note });
}

function setFrozen(
  pool: pg.Pool,
  { by, accountId, requestId }: AccountOperation,
  { reason, note }: { reason: string | null; note: string | undefined },
): Promise<FreezeResult> {
  return inTransaction(pool, async (client) => {
    const result = await setFreeze(client, accountId, reason);
    if (result.outcome !== 'changed') return result;
    await audit(client, {
      actor: by,
      action: reason === null ? 'account.unfrozen' : 'account.frozen',
      subject: `account:${accountId}`,
      accountId,
      before: result.before,
      after: { ...result.after, note },
      requestId,
    });
    return result;
  });
}
