import type pg from 'pg';
import { readPendingRewards } from '#invites/pending-rewards.js';
import { movableOf } from '#invites/reward.js';
import { formatAmount, type Nanos, nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { settleDebt } from './debt.js';
import { type LockedAccount, lockBalance, post } from './posting.js';
import { insertLot } from './topup.js';

export interface InviteTransfer {
  accountId: string;
  /** The client's id of the transfer. Repeating it transfers nothing. */
  requestId: string;
  amount: Nanos;
  /** How long before a reward can be transferred, because its payment may be reversed. */
  windowMs: number;
}

export interface InviteTransferResult {
  /** False for a repeat. */
  created: boolean;
  amount: Nanos;
  /** Balances afterwards. */
  invite: Nanos;
  main: Nanos;
}

/**
 * Moves a part of the invite balance, as far as its rewards are older than the window, to main: Dr invite / Cr main, with a lot that nobody paid for, queued at this time.
 * @throws ApiError conflict for more than there is, or when the request id was used with another amount
 */
export async function transferInvite(
  client: pg.ClientBase,
  { accountId, requestId, amount, windowMs }: InviteTransfer,
): Promise<InviteTransferResult> {
  const account = await lockBalance(client, accountId);
  const { rows } = await client.query<{ amount: Nanos }>(
    'SELECT amount FROM invite_transfers WHERE account_id = $1 AND request_id = $2',
    [accountId, requestId],
  );
  const before = rows[0]?.amount;
  if (before === amount) return { created: false, amount, invite: account.invite, main: account.main };
  if (before !== undefined) {
    const message = `This requestId moved ${formatAmount(before)} before.`;
    throw new ApiError('conflict', message, { param: 'requestId' });
  }
  if (account.invite < amount) {
    const message = `The invite balance is ${formatAmount(account.invite)}: no more than that can be moved.`;
    throw new ApiError('conflict', message, { param: 'amount' });
  }
  await refusePending(client, { account, amount, windowMs });
  await moveInvite(client, account, { requestId, amount });
  await settleDebt(client, account);
  return { created: true, amount, invite: account.invite, main: account.main };
}

/** Moves part of the invite balance of a locked account to main, as a lot of its own. */
export async function moveInvite(
  client: pg.ClientBase,
  account: LockedAccount,
  { requestId, amount }: Pick<InviteTransfer, 'requestId' | 'amount'>,
): Promise<void> {
  const { accountId } = account;
  const transactionId = await post(client, {
    kind: 'invite-transfer',
    reference: `invite-transfer:${accountId}:${requestId}`,
    accountId,
    movements: [
      { account, purpose: 'invite', amount: -amount },
      { account, purpose: 'main', amount },
    ],
  });
  await insertLot(client, { accountId, transactionId, topupId: null, credits: amount, paidMinor: 0n });
  await client.query(
    'INSERT INTO invite_transfers (account_id, request_id, amount, transaction_id) VALUES ($1, $2, $3, $4)',
    [accountId, requestId, amount, transactionId],
  );
}

async function refusePending(
  client: pg.ClientBase,
  { account, amount, windowMs }: { account: LockedAccount; amount: Nanos; windowMs: number },
): Promise<void> {
  const pending = await readPendingRewards(client, account.accountId, windowMs);
  const movable = movableOf(account.invite, pending);
  const next = pending[0];
  if (amount <= movable || !next) return;
  const message = `${formatAmount(nanos(movable))} can be transferred now, and more from ${next.movableAt.toISOString()}.`;
  throw new ApiError('conflict', message, { param: 'amount' });
}
