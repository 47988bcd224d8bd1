import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { readPendingRewards } from '#invites/pending-rewards.js';
import { movableOf } from '#invites/reward.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { transferInvite } from '#ledger/postings/invite-transfer.js';
import { endTopupRefund } from '#ledger/postings/topup-refund.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import {
  beginRefund,
  buy,
  type EngineFixture,
  type LedgerPerson,
  openEngine,
  spend,
} from '../support/ledger-person.js';
import type { LedgerFixture } from '../support/ledger.js';

const HOUR_MS = 3_600_000;

let under: EngineFixture;
let fixture: LedgerFixture;

beforeAll(async () => {
  under = await openEngine();
  fixture = under.ledger;
});
afterAll(() => under.close());

async function pair(): Promise<{ inviter: LedgerPerson; invitee: LedgerPerson }> {
  const inviter = await fixture.account({ credits: '0' });
  const invitee = await fixture.account({ credits: '0' });
  await fixture.billing.query(
    'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
    [invitee.accountId, inviter.accountId],
  );
  return { inviter, invitee };
}

function move({ accountId }: LedgerPerson, amount: string, windowMs = 0): Promise<unknown> {
  const asked = { accountId, requestId: newId(), amount: parseAmount(amount), windowMs };
  return inTransaction(fixture.billing, (client) => transferInvite(client, asked));
}

async function refund(topupId: string, credits: string): Promise<void> {
  const { id } = await beginRefund(fixture, topupId, credits);
  await inTransaction(fixture.billing, (client) =>
    endTopupRefund(client, { refundId: id, providerRefundId: null, outcome: 'succeeded' }),
  );
}

async function balances({
  accountId,
}: LedgerPerson): Promise<{ main: string; invite: string; owed: string }> {
  const balance = await readBalance(fixture.billing, accountId);
  const { rows } = await fixture.billing.query<{ owed: bigint }>(
    'SELECT owed FROM reward_debts WHERE account_id = $1',
    [accountId],
  );
  const text = (amount: bigint = 0n) => formatAmount(amount);
  return { main: text(balance?.main), invite: text(balance?.invite), owed: text(rows[0]?.owed) };
}

it('a reward stays until its payment can hardly be reversed, and older ones can be transferred', async () => {
  const { inviter, invitee } = await pair();
  await buy(fixture, invitee, '30');
  await fixture.owner.query('ALTER TABLE invite_rewards DISABLE TRIGGER USER');
  await fixture.owner.query(
    `UPDATE invite_rewards SET recorded_at = now() - interval '2 hours' WHERE inviter_account_id = $1`,
    [inviter.accountId],
  );
  await fixture.owner.query('ALTER TABLE invite_rewards ENABLE TRIGGER USER');
  await buy(fixture, invitee, '10');
  const pending = await readPendingRewards(fixture.billing, inviter.accountId, HOUR_MS);
  expect(pending.map(({ amount }) => amount)).toEqual([parseAmount('1')]);
  expect(movableOf(parseAmount('4'), pending)).toBe(parseAmount('3'));
  await expect(move(inviter, '3.000000001', HOUR_MS)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/^3 can be transferred now, and more from \d{4}-/),
  });
  await move(inviter, '3', HOUR_MS);
  expect(await balances(inviter)).toEqual({ main: '3', invite: '1', owed: '0' });
});

it('transferring a reward does not save it: what is reversed is taken from the main balance', async () => {
  const { inviter, invitee } = await pair();
  const topupId = await buy(fixture, invitee, '30');
  await move(inviter, '2.5');
  await refund(topupId, '10');
  expect(await balances(inviter)).toEqual({ main: '2', invite: '0', owed: '0' });
});

it('a dispute that was won takes nothing from a reward, even if part of the payment is refunded later', async () => {
  const { inviter, invitee } = await pair();
  const topupId = await buy(fixture, invitee, '30');
  const { accountId } = invitee;
  const dispute = {
    provider: 'manual',
    disputeId: newId(),
    topupId,
    accountId,
    amountMinor: 3_900n,
  } as const;
  for (const [state, invite] of [
    ['open', '0'],
    ['won', '3'],
  ] as const) {
    await inTransaction(fixture.billing, (client) => applyDispute(client, { ...dispute, state }, 'USD'));
    expect(await balances(inviter)).toMatchObject({ invite });
  }
  await refund(topupId, '10');
  expect(await balances(inviter)).toEqual({ main: '0', invite: '2', owed: '0' });
});

it('spending a reward does not save it: the rest is owed, and the next top-up and the next reward pay it', async () => {
  const { inviter, invitee } = await pair();
  const topupId = await buy(fixture, invitee, '30');
  await move(inviter, '3');
  await spend(under.engine, inviter, 99n);
  await refund(topupId, '30');
  expect(await balances(inviter)).toEqual({ main: '0', invite: '0', owed: '2.97' });
  await buy(fixture, inviter, '1');
  expect(await balances(inviter)).toEqual({ main: '0', invite: '0', owed: '1.97' });
  await buy(fixture, invitee, '10');
  expect(await balances(inviter)).toEqual({ main: '0', invite: '0', owed: '0.97' });
  await buy(fixture, inviter, '5');
  expect(await balances(inviter)).toEqual({ main: '4.03', invite: '0', owed: '0' });
});
