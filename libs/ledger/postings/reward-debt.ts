import type pg from 'pg';
import { type Nanos, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { type LockedAccount, type Movement, post } from './posting.js';

/** How much can be taken from an account: from its invite balance first, then from main, which a reward never takes below 0. */
export function takeable(account: LockedAccount, wanted: bigint): { taken: bigint; fromMain: bigint } {
  const fromInvite = least(account.invite, wanted);
  const fromMain = account.main > 0n ? least(account.main, wanted - fromInvite) : 0n;
  return { taken: fromInvite + fromMain, fromMain };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** Moves reward credits between an account and their source. Below 0, they return to the account. */
export function rewardMovements(
  account: LockedAccount,
  { taken, fromMain }: { taken: bigint; fromMain: bigint },
): Movement[] {
  const parts = [
    { purpose: 'invite' as const, amount: nanos(fromMain - taken) },
    { purpose: 'main' as const, amount: nanos(-fromMain) },
  ];
  return [
    ...parts.filter(({ amount }) => amount !== 0n).map((part) => ({ account, ...part })),
    { code: 'issued:promo', commodity: 'CRD', amount: nanos(taken) },
  ];
}

/** What an account owes for rewards whose payments were reversed. Below 0, it paid too much. */
export async function readOwed(client: pg.ClientBase, accountId: string): Promise<Nanos> {
  const { rows } = await client.query<{ owed: bigint }>(
    'SELECT owed FROM reward_debts WHERE account_id = $1',
    [accountId],
  );
  return nanos(rows[0]?.owed ?? 0n);
}

/**
 * Lets new credits of an account pay the rewards that it owes, as far as they go. Call it after a top-up and after a
 * reward, with the account locked.
 */
export async function collectRewardDebt(client: pg.ClientBase, account: LockedAccount): Promise<void> {
  const owed = await readOwed(client, account.accountId);
  if (owed <= 0n) return;
  const part = takeable(account, owed);
  if (part.taken > 0n) await writePayment(client, account, part);
}

/** Returns what an account paid towards a reward that it no longer owes. */
export async function returnOverpaidDebt(client: pg.ClientBase, account: LockedAccount): Promise<void> {
  const owed = await readOwed(client, account.accountId);
  if (owed < 0n) await writePayment(client, account, { taken: owed, fromMain: 0n });
}

async function writePayment(
  client: pg.ClientBase,
  account: LockedAccount,
  part: { taken: bigint; fromMain: bigint },
): Promise<void> {
  const id = newId();
  const { accountId } = account;
  const transactionId = await post(client, {
    kind: part.taken > 0n ? 'reward-clawback' : 'reward-returned',
    reference: `reward-debt:${id}`,
    accountId,
    movements: rewardMovements(account, part),
  });
  await client.query(
    `INSERT INTO reward_debt_payments (id, account_id, amount, from_main, transaction_id) VALUES ($1, $2, $3, $4, $5)`,
    [id, accountId, part.taken, part.fromMain, transactionId],
  );
}
