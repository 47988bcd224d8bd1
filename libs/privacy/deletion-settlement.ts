import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { type LockedAccount, lockBalance, post } from '#ledger/postings/posting.js';
import { moveInvite } from '#ledger/postings/invite-transfer.js';
import { audit } from '#identity/audit-log.js';
import { formatAmount, type Nanos, nanos } from '#money/amount.js';
import { type DeletionBlocker, revokeKeys } from './deletion-request.js';

/** A due deletion. */
export interface DueDeletion {
  id: string;
  accountId: string;
}

/**
 * Settles an account once: when nothing is held, being refunded or disputed, its remaining balance is forfeited if that
 * was agreed, and it accepts no more credits. Everything is decided under the lock of the balances.
 * @returns whether it is settled: not if it waits, or its owner has cancelled it since it was found due
 */
export function settleDeletion(
  pool: pg.Pool,
  { id, accountId }: DueDeletion,
  options: { fileLifeMs: number; retryMs: number },
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const account = await lockBalance(client, accountId);
    const { rows } = await client.query<{ state: string; forfeits: boolean }>(
      'SELECT state, forfeits FROM deletion_requests WHERE id = $1 FOR UPDATE',
      [id],
    );
    const { state, forfeits } = rows[0]!;
    if (state !== 'requested') return state !== 'cancelled';
    const blocker = await findBlocker(client, account, { forfeits, fileLifeMs: options.fileLifeMs });
    if (blocker !== null) {
      await postpone(client, id, { blocker, retryMs: options.retryMs });
      return false;
    }
    await runDeletion(client, account, id);
    return true;
  });
}

async function runDeletion(client: pg.ClientBase, account: LockedAccount, id: string): Promise<void> {
  const { accountId } = account;
  const forfeited = await forfeit(client, account, id);
  await client.query(
    `UPDATE deletion_requests SET state = 'running', waiting_for = NULL, forfeited = $2 WHERE id = $1`,
    [id, forfeited],
  );
  await close(client, accountId);
  await audit(client, {
    actor: 'system',
    action: 'account.deletion_running',
    accountId,
    after: { deletionId: id, forfeited: formatAmount(forfeited) },
    requestId: null,
  });
}

async function postpone(
  client: pg.ClientBase,
  id: string,
  { blocker, retryMs }: { blocker: DeletionBlocker; retryMs: number },
): Promise<void> {
  await client.query(
    `UPDATE deletion_requests SET waiting_for = $2, next_try_at = now() + $3::float8 * interval '1 millisecond'
     WHERE id = $1`,
    [id, blocker, retryMs],
  );
}

async function findBlocker(
  client: pg.ClientBase,
  { accountId, main, held, invite, refundPending }: LockedAccount,
  { forfeits, fileLifeMs }: { forfeits: boolean; fileLifeMs: number },
): Promise<DeletionBlocker | null> {
  if (held > 0n) return 'holds';
  if (refundPending > 0n) return 'refunds';
  if (main < 0n) return 'debt';
  if (main + invite > 0n && !forfeits) return 'balance';
  const { rows } = await client.query<Record<'tasks' | 'disputes' | 'approvals' | 'files', boolean>>(
    `SELECT EXISTS (SELECT FROM tasks WHERE account_id = $1 AND ended_at IS NULL) AS tasks,
       EXISTS (SELECT FROM disputes WHERE account_id = $1 AND state = 'open') AS disputes,
       EXISTS (SELECT FROM approvals WHERE account_id = $1 AND state = 'pending') AS approvals,
       EXISTS (SELECT FROM charges WHERE account_id = $1 AND state <> 'refused'
         AND coalesce(resolved_at, created_at) > now() - $2::float8 * interval '1 millisecond') AS files`,
    [accountId, fileLifeMs],
  );
  const open = rows[0]!;
  return (['tasks', 'disputes', 'approvals', 'files'] as const).find((name) => open[name]) ?? null;
}

/** Rewards are first transferred to main as usual, so that every report of them adds up. */
async function forfeit(client: pg.ClientBase, account: LockedAccount, deletionId: string): Promise<Nanos> {
  const { accountId, invite } = account;
  if (invite > 0n) await moveInvite(client, account, { requestId: deletionId, amount: invite });
  const amount = account.main;
  if (amount === 0n) return amount;
  await post(client, {
    kind: 'forfeited',
    reference: `forfeited:${deletionId}`,
    accountId,
    movements: [
      { account, purpose: 'main', amount: -amount },
      { code: 'forfeited', commodity: 'CRD', amount: nanos(amount) },
    ],
  });
  return amount;
}

async function close(client: pg.ClientBase, accountId: string): Promise<void> {
  await revokeKeys(client, accountId);
  await client.query('UPDATE accounts SET deleted_at = now() WHERE id = $1', [accountId]);
  await client.query(
    `UPDATE customer_balances SET frozen = true, frozen_reason = 'The account was deleted.', low_balance_threshold = NULL,
       low_balance_told = false, monthly_limit = NULL WHERE account_id = $1`,
    [accountId],
  );
  await client.query(`UPDATE topup_orders SET state = 'cancelled' WHERE account_id = $1 AND state = 'open'`, [
    accountId,
  ]);
}
