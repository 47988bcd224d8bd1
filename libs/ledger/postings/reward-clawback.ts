import type pg from 'pg';
import { isDeleted } from '#identity/account.store.js';
import { findInviter } from '#invites/invitations.js';
import { dueClawback, type GivenReward } from '#invites/reward.js';
import { settleDebt } from './debt.js';
import { type LockedAccount, post } from './posting.js';
import { readOwed, returnOverpaidDebt, rewardMovements, takeable } from './reward-debt.js';
import { SAME_MONEY } from './same-money.js';

/**
 * The accounts that a reversal of a top-up affects: its own, and the inviter's if the top-up earned a reward. Lock them
 * together.
 */
export async function accountsOfReversal(client: pg.ClientBase, accountId: string): Promise<string[]> {
  const inviterId = await findInviter(client, accountId);
  return inviterId === null ? [accountId] : [accountId, inviterId];
}

/**
 * Takes back the reward of a top-up in proportion to the reversed part, rounded down, from the inviter's invite balance
 * and then main, as far as they go. The rest is recorded as owed, and freezes nobody.
 * @param reversal names the refund or dispute; each takes back once
 */
export async function clawBackReward(
  client: pg.ClientBase,
  accounts: ReadonlyMap<string, LockedAccount>,
  { topupId, reversal }: { topupId: string; reversal: string },
): Promise<void> {
  const reward = await readReward(client, topupId);
  if (!reward) return;
  const amount = dueClawback(reward);
  if (amount <= 0n) return;
  const inviter = accounts.get(reward.inviterId) as LockedAccount;
  await writeClawback(client, {
    reversal,
    rewardId: reward.id,
    inviter,
    amount,
    ...takeable(inviter, amount),
  });
}

type ClawbackRow = Record<'amount' | 'taken' | 'fromMain', bigint> &
  Record<'rewardId' | 'inviterId', string> & { transactionId: bigint | null };

const CLAWBACK = `SELECT c.reward_id AS "rewardId", c.amount, c.taken, c.from_main AS "fromMain",
    r.inviter_account_id AS "inviterId", c.transaction_id AS "transactionId"
  FROM reward_clawbacks c JOIN invite_rewards r ON r.id = c.reward_id WHERE c.reversal = $1`;

/**
 * Restores exactly what a reversal took, if its dispute was won, or its refund failed and was credited again. An inviter who
 * was deleted has no use for it, but owes nothing more.
 */
export async function returnReward(
  client: pg.ClientBase,
  accounts: ReadonlyMap<string, LockedAccount>,
  { reversal, undo }: { reversal: string; undo: string },
): Promise<void> {
  const { rows } = await client.query<ClawbackRow>(CLAWBACK, [undo]);
  const row = rows[0];
  if (!row) return;
  const inviter = accounts.get(row.inviterId) as LockedAccount;
  const { rewardId } = row;
  if (await isDeleted(client, row.inviterId)) {
    const unpaid = await unpaidOf(client, row);
    const nothing = { taken: 0n, fromMain: 0n };
    if (unpaid > 0n)
      await writeClawback(client, { reversal, rewardId, inviter, amount: -unpaid, ...nothing });
    return;
  }
  await writeClawback(client, {
    reversal,
    rewardId,
    inviter,
    amount: -row.amount,
    taken: -row.taken,
    fromMain: -row.fromMain,
    linkedId: row.transactionId,
  });
  await returnOverpaidDebt(client, inviter);
  await settleDebt(client, inviter);
}

/** What a reversal could not take, and its inviter has not paid since. */
async function unpaidOf(client: pg.ClientBase, { amount, taken, inviterId }: ClawbackRow): Promise<bigint> {
  const owed = await readOwed(client, inviterId);
  const missing = amount - taken;
  return owed < missing ? owed : missing;
}

interface Clawback {
  reversal: string;
  rewardId: string;
  inviter: LockedAccount;
  amount: bigint;
  taken: bigint;
  fromMain: bigint;
  linkedId?: bigint | null;
}

async function writeClawback(client: pg.ClientBase, clawback: Clawback): Promise<void> {
  const { reversal, rewardId, inviter, amount, taken, fromMain, linkedId = null } = clawback;
  const transactionId =
    taken === 0n
      ? null
      : await post(client, {
          kind: taken > 0n ? 'reward-clawback' : 'reward-returned',
          reference: `reward-clawback:${reversal}`,
          accountId: inviter.accountId,
          linkedId,
          movements: rewardMovements(inviter, { taken, fromMain }),
        });
  await client.query(
    `INSERT INTO reward_clawbacks (reversal, reward_id, amount, taken, from_main, transaction_id)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [reversal, rewardId, amount, taken, fromMain, transactionId],
  );
}

/** The reward of a top-up, or of the first one of its money. What the account was credited again of it is not reversed. */
const REWARD_OF_TOPUP = `WITH same_money AS (${SAME_MONEY})
  SELECT r.id, r.inviter_account_id AS "inviterId", r.amount, t.credits,
    ((SELECT coalesce(sum(f.credits), 0) FROM topup_refunds f WHERE f.topup_id IN (SELECT id FROM same_money) AND f.state = 'succeeded')
      + (SELECT coalesce(sum(d.credits), 0) FROM disputes d WHERE d.topup_id IN (SELECT id FROM same_money) AND d.state <> 'won')
      - (SELECT coalesce(sum(c.credits), 0) FROM same_money c WHERE c.continues IS NOT NULL))::bigint AS reversed,
    (SELECT coalesce(sum(c.amount), 0) FROM reward_clawbacks c WHERE c.reward_id = r.id)::bigint AS "clawedBack"
  FROM invite_rewards r JOIN same_money t ON t.id = r.topup_id`;

type ReadReward = GivenReward & { id: string; inviterId: string };

async function readReward(client: pg.ClientBase, topupId: string): Promise<ReadReward | null> {
  const { rows } = await client.query<ReadReward>(REWARD_OF_TOPUP, [topupId]);
  return rows[0] ?? null;
}
