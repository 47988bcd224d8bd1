import type pg from 'pg';
import { newId } from '#platform/ids.js';
import { insertLotChange, type Lot, readLots } from './lots.js';
import { type LockedAccount, post } from './posting.js';

/**
 * Writes down how far credits have covered the debts of an account's chargebacks by now, and lets what was paid for them
 * make up for the loss: Dr deferred-revenue / Cr expense:chargeback-loss, or back when a dispute was won. To be called
 * whenever credits came to an account or a use was given back; its account is locked. Safe to repeat: only what changed
 * is written.
 */
export async function settleDebt(client: pg.ClientBase, account: LockedAccount): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM disputes WHERE account_id = $1 LIMIT 1', [
    account.accountId,
  ]);
  if (rowCount === 0) return;
  const { lots } = await readLots(client, account);
  const changes = lots.map(changeOf).filter(({ credits }) => credits !== 0n);
  if (changes.length === 0) return;
  const paidMinor = changes.reduce((sum, change) => sum + change.paidMinor, 0n);
  const transactionId =
    paidMinor === 0n
      ? null
      : await post(client, {
          kind: 'debt-covered',
          reference: `debt-covered:${newId()}`,
          accountId: account.accountId,
          movements: [
            { code: 'deferred-revenue', commodity: 'PAY', amount: -paidMinor },
            { code: 'expense:chargeback-loss', commodity: 'PAY', amount: paidMinor },
          ],
        });
  for (const change of changes) {
    await insertLotChange(client, { ...change, kind: 'debt', transactionId });
  }
}

/** Rounded as all that is recognised of a lot, so that never more than was paid is taken from it. */
function changeOf({ id, bought, usedByDebt, debtWritten }: Lot): {
  lotId: bigint;
  credits: bigint;
  paidMinor: bigint;
} {
  return {
    lotId: id,
    credits: usedByDebt - debtWritten.credits,
    paidMinor: (bought.paidMinor * usedByDebt) / bought.credits - debtWritten.paidMinor,
  };
}
