import { TOTP } from 'otpauth';
import { inTransaction } from '#database/database.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import type { Person } from '../../support/console.js';
import { runControls } from '../../support/controls.js';
import { awaitMail, tokenIn } from '../../support/mail.js';
import { json, until } from '../../support/relay.js';
import { recordTopup } from '../../support/topups.js';
import { PASSWORD, type Things, type Values } from './things.js';

export async function bankLine(things: Things): Promise<string> {
  const { staff } = things;
  const column = (name: string) => ({ column: name });
  const mapping = {
    date: column('date'),
    amount: column('amount'),
    currency: { fixed: 'USD' },
    reference: ['text'],
  };
  await staff.send('/api/finance/bank-accounts/other', { ...json({ mapping }), method: 'PUT' });
  const text = newId();
  const file = {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: `date,amount,text\n2026-03-02,9.99,${text}`,
  };
  await staff.send('/api/finance/bank-accounts/other/lines?from=2026-03-01&to=2026-03-31', file);
  const path = '/api/finance/reconciliation/bank?bankAccountId=other';
  const { items } = await things.ask<{ items: { id: string; reference: string }[] }>(staff, path);
  return items.find(({ reference }) => reference === text)!.id;
}

/** An account in debt, because its payment was disputed after the credits were spent. */
export async function debtor(things: Things): Promise<Values> {
  const { relay, staff } = things;
  const { billing } = relay.fixture;
  const owner = await things.someone();
  const { accountId } = owner;
  const ticketId = await things.ticket('billing', owner);
  const paid = priceCredits(parseAmount('4'), '1.3');
  const topup = {
    ...paid,
    accountId,
    provider: 'stripe',
    paymentId: newId(),
    rate: '1.3',
    currency: 'USD',
  } as const;
  const { topupId } = await recordTopup(billing, topup);
  const taken = {
    accountId,
    ticketId,
    amount: '-3',
    reason: 'correction',
    note: 'Spent.',
    requestId: newId(),
  };
  await things.ask(staff, '/api/finance/adjustments', taken);
  const dispute = { provider: 'stripe', disputeId: newId(), topupId, accountId, state: 'lost' } as const;
  await inTransaction(billing, (client) =>
    applyDispute(client, { ...dispute, amountMinor: paid.paidMinor }, 'USD'),
  );
  return { accountId, ticketId };
}

/** The token in a requested mail. */
export async function mailed(things: Things, email: string, subject: RegExp): Promise<Values> {
  return { token: tokenIn(await awaitMail(things.relay, email, { subject })) };
}

export async function enrolled(
  things: Things,
  isConfirmed: boolean,
): Promise<{ as: Person; values: Values }> {
  const as = await things.someone();
  const { secret } = await things.ask<{ secret: string }>(as, '/api/totp/enrolment', {
    password: PASSWORD,
  });
  const code = new TOTP({ secret }).generate();
  if (isConfirmed) await things.ask(as, '/api/totp/confirm', { code });
  return { as, values: { code } };
}

export async function closingAccount(things: Things): Promise<string> {
  const someone = await things.someone();
  await things.ask(someone, '/api/account/deletion', { password: PASSWORD });
  return someone.accountId;
}

export async function readyExport(things: Things): Promise<string> {
  const { you } = things;
  await things.ask(you, '/api/data-exports', { password: PASSWORD });
  return until('the export', async () => {
    const { items } = await things.ask<{ items: { id: string; state: string }[] }>(you, '/api/data-exports');
    return items.find(({ state }) => state === 'ready')?.id ?? false;
  });
}

export async function finding(things: Things): Promise<string> {
  await things.lostPayment();
  await runControls(things.staff, ['payments']);
  const path = '/api/finance/controls/payments/findings';
  return (await things.ask<{ items: { id: string }[] }>(things.staff, path)).items[0]!.id;
}

/** Somebody who was rewarded for an invited person's top-up. */
export async function inviter(things: Things): Promise<Person> {
  const [invitee, who] = [await things.someone(), await things.someone()];
  await things.relay.fixture.billing.query(
    'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
    [invitee.accountId, who.accountId],
  );
  await things.boughtTopup(invitee);
  await until('the reward', async () => {
    const { balance } = await things.ask<{ balance: string }>(who, '/api/invites');
    return balance !== '0';
  });
  return who;
}

/** A ticket of an account that has used enough for the reseller rate. */
export async function resellerTicket(things: Things): Promise<string> {
  await things.chat();
  const ticketId = await things.ticket('reseller_rate');
  await until('the volume to be settled', async () => {
    const path = `/api/support/tickets/${ticketId}`;
    const { reseller } = await things.ask<{ reseller: { isEligible: boolean } }>(things.staff, path);
    return reseller.isEligible;
  });
  return ticketId;
}

export async function newKey(things: Things): Promise<string> {
  const body = { name: 'another', group: 'Vendora-Main' };
  return (await things.ask<{ keyId: string }>(things.you, '/api/keys', body)).keyId;
}
