import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import { refundCharge } from '#ledger/charges/charge-refund.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { AccountRates } from '#topup/account-rates.js';
import { openEntities } from '../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { type LedgerPerson, spend } from '../../test/support/ledger-person.js';
import { customerOf, speakingFor } from '../../test/support/speakers.js';
import { staffActor } from '../../test/support/staff.js';
import { ResellerService } from './reseller.service.js';
import { type Speaker, TicketService } from './ticket.service.js';

let ledger: LedgerFixture;
let source: DataSource;
let engine: PostingEngine;
let tickets: TicketService;
let resellers: ResellerService;
let rates: AccountRates;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  engine = new PostingEngine({ pool: ledger.billing, loadPriceBook, log: ledger.log });
  tickets = new TicketService(source);
  const config = { payments: { resellerThresholdTokens: 10n } };
  rates = new AccountRates({ pool: ledger.billing, config });
  resellers = new ResellerService(source, tickets, rates);
});
afterAll(async () => {
  await Promise.all([engine.close(), source.destroy()]);
  await ledger.close();
});

async function support(): Promise<Speaker> {
  return speakingFor(await staffActor(ledger, 'support'));
}

async function asked(
  kind: 'reseller_rate' | 'question' = 'reseller_rate',
): Promise<{ accountId: string; keyId: string; customer: Speaker; ticketId: string }> {
  const { accountId, keyId } = await ledger.account({ credits: '10' });
  const customer = await customerOf(ledger, accountId);
  const { ticket } = await tickets.open(customer, { kind, subject: 'Rate', body: 'We sell a lot.' });
  return { accountId, keyId, customer, ticketId: ticket.id };
}

/** Settled work of this many tokens. A charge for images stands in for a conversation. */
async function use(someone: LedgerPerson, tokens: number): Promise<string> {
  const chargeId = await spend(engine, someone, 1n);
  await ledger.owner.query('UPDATE charges SET delivered_lines = $2 WHERE id = $1', [
    chargeId,
    JSON.stringify([{ units: String(tokens - 1) }, { units: '1' }]),
  ]);
  return chargeId;
}

async function refund(chargeId: string, amount: string, ticketId: string): Promise<void> {
  const { userId } = await staffActor(ledger, 'support');
  const by = { ticketId, requestedBy: userId, approvedBy: null, requestId: newId() };
  await inTransaction(ledger.billing, (client) =>
    refundCharge(client, { chargeId, amount: nanos(parseAmount(amount)), reason: 'It was bad.', ...by }),
  );
}

async function versionsOf(accountId: string): Promise<number> {
  const { rows } = await ledger.owner.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM account_rate_versions WHERE account_id = $1',
    [accountId],
  );
  return rows[0]!.count;
}

describe('the reseller rate', () => {
  it('is granted once by several at once, if the volume is there', async () => {
    const { accountId, keyId, customer, ticketId } = await asked();
    await use({ accountId, keyId }, 10);
    expect(await rates.volumeOf(accountId)).toMatchObject({ isEligible: true, rate: '1.3' });
    const people = await Promise.all([support(), support(), support()]);
    await Promise.all(people.map((by) => resellers.grant(by, ticketId, newId())));
    expect(await rates.volumeOf(accountId)).toMatchObject({ rate: '1.2' });
    expect(await versionsOf(accountId)).toBe(1);
    const { ticket, messages } = await tickets.find(customer, ticketId);
    expect(ticket.outcome).toBe('rate_granted');
    expect(messages.filter(({ kind }) => kind === 'event')).toHaveLength(1);
  });

  it('is not granted below the volume, which only counts settled work', async () => {
    const { accountId, keyId, ticketId } = await asked();
    await use({ accountId, keyId }, 9);
    expect(await rates.volumeOf(accountId)).toEqual({
      verifiedTokens: 9n,
      thresholdTokens: 10n,
      isEligible: false,
      rate: '1.3',
    });
    await expect(resellers.grant(await support(), ticketId, newId())).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await versionsOf(accountId)).toBe(0);
  });

  it('counts no work that cost nothing, at first or after all of it was refunded', async () => {
    const { accountId, keyId, ticketId } = await asked();
    const [free, refunded, partly] = [
      await use({ accountId, keyId }, 100),
      await use({ accountId, keyId }, 10),
      await use({ accountId, keyId }, 2),
    ];
    await ledger.owner.query('UPDATE charges SET settled = 0, released = amount WHERE id = $1', [free]);
    await refund(refunded, '0.03', ticketId);
    await refund(partly, '0.02', ticketId);
    expect(await rates.volumeOf(accountId)).toMatchObject({ verifiedTokens: 2n, isEligible: false });
  });

  it('is granted from a ticket that asks for it, by someone other than its customer', async () => {
    const { accountId, keyId, ticketId } = await asked('question');
    await use({ accountId, keyId }, 10);
    await expect(resellers.grant(await support(), ticketId, newId())).rejects.toMatchObject({
      code: 'conflict',
    });
    const { customer, ticketId: own } = await asked();
    const itself: Speaker = { ...customer, side: 'staff' };
    await expect(resellers.grant(itself, own, newId())).rejects.toMatchObject({
      code: 'second_person_required',
    });
  });
});
