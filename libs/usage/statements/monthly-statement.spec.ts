import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { refundCharge } from '#ledger/charges/charge-refund.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { markHorizon } from '#ledger/postings/horizon.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { nanos, parseAmount } from '#money/amount.js';
import { readReversals } from '#payments/order.reversals.js';
import { newId } from '#platform/ids.js';
import {
  type EngineFixture,
  fail,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../../test/support/ledger-person.js';
import { ticketOf } from '../../../test/support/tickets.js';
import { keysOf, type MonthlyStatement, readMonthlyStatement } from './monthly-statement.js';

/** Other specs on the server can hold back what is final. Less than a test may take. */
const PATIENCE_MS = 600_000;

let under: EngineFixture;
let someone: LedgerPerson;
let otherKeyId: string;
let stranger: LedgerPerson;
let month: string;

beforeAll(async () => {
  under = await openEngine();
  // Makes something happen within one month: if the month ended meanwhile, once more.
  for (let begun = ''; begun !== month || begun === '';) {
    begun = await monthNow();
    await work();
    month = await monthNow();
  }
});
afterAll(() => under.close());

async function monthNow(): Promise<string> {
  const { rows } = await under.ledger.owner.query<{ month: string }>(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month`,
  );
  return rows[0]!.month;
}

/** Two keys of one account make an image for 0.03 each, and one charge is partly refunded. A stranger works too. */
async function work(): Promise<void> {
  const { ledger, engine } = under;
  someone = await ledger.account({ credits: '10' });
  stranger = await ledger.account({ credits: '10' });
  otherKeyId = await ledger.key(someone.accountId);
  await spend(engine, stranger, 5n);
  await spend(engine, someone, 1n);
  await fail(engine, someone, 4n);
  const refunded = await spend(engine, { ...someone, keyId: otherKeyId }, 3n);
  await spend(engine, { ...someone, keyId: otherKeyId }, 2n);
  const { ticketId, userId } = await ticketOf(ledger, someone.accountId);
  await inTransaction(ledger.billing, (client) =>
    refundCharge(client, {
      chargeId: refunded,
      amount: nanos(parseAmount('0.04')),
      reason: 'It was bad.',
      ticketId,
      requestedBy: userId,
      approvedBy: null,
      requestId: newId(),
    }),
  );
}

/** A credit of the account's only top-up. @returns its id */
async function refunded(accountId: string): Promise<string> {
  const { owner, billing } = under.ledger;
  const { rows } = await owner.query<{ id: string }>('SELECT id FROM topups WHERE account_id = $1', [
    accountId,
  ]);
  const topupId = rows[0]!.id;
  const asked = { topupId, credits: parseAmount('1'), reason: 'r', actor: 'system', requestId: newId() };
  const { id: refundId } = await inTransaction(billing, (client) => beginTopupRefund(client, asked));
  const ended = { refundId, providerRefundId: null, outcome: 'succeeded' } as const;
  await inTransaction(billing, (client) => endTopupRefund(client, ended));
  return topupId;
}

async function statement(keyId?: string): Promise<MonthlyStatement> {
  const { accountId } = someone;
  return (await readMonthlyStatement(under.ledger.billing, { accountId, month, keyId }))!;
}

describe('a monthly statement', () => {
  it('has what each key spent, which adds up to all charges of the account', async () => {
    const whole = await statement();
    expect(keysOf(whole)).toMatchObject([
      { keyId: otherKeyId, requests: 2, charged: parseAmount('0.15'), refunded: parseAmount('0.04') },
      { keyId: someone.keyId, requests: 1, charged: parseAmount('0.03'), refunded: 0n },
    ]);
    const ofCharges = whole.moves.filter(({ kind }) => kind === 'settle' || kind === 'charge_refund');
    const moved = ofCharges.reduce((sum, { amount }) => sum + amount, 0n);
    expect(whole.work.reduce((sum, { charged, refunded }) => sum + refunded - charged, 0n)).toBe(moved);
    expect(whole.moves.map(({ kind }) => kind)).toEqual(['charge_refund', 'settle', 'topup']);
    const { opening, closing } = whole.balances!;
    expect({ opening, closing }).toEqual({ opening: 0n, closing: parseAmount('9.86') });
  });

  it('for one key has its charges and refunds, but neither balances nor money', async () => {
    const one = await statement(otherKeyId);
    expect(one).toMatchObject({ key: { keyId: otherKeyId }, balances: null, money: [] });
    expect(one.moves).toEqual([
      { kind: 'charge_refund', model: 'imgmodel-4', amount: parseAmount('0.04') },
      { kind: 'settle', model: 'imgmodel-4', amount: -parseAmount('0.15') },
    ]);
    expect(one.work).toEqual((await statement()).work.filter(({ keyId }) => keyId === otherKeyId));
  });

  it('for a key that belongs to someone else does not exist', async () => {
    const { accountId } = someone;
    const asked = { accountId, month, keyId: stranger.keyId };
    expect(await readMonthlyStatement(under.ledger.billing, asked)).toBeNull();
  });

  it('has the name that the account had then, or the first that was recorded', async () => {
    const { accountId } = stranger;
    const { owner, billing } = under.ledger;
    await owner.query(
      `INSERT INTO account_names (account_id, name, recorded_at)
       VALUES ($1, 'First', '2020-01-10'), ($1, 'Replaced', '2020-02-10 10:00:01'), ($1, 'Second', '2020-02-10 10:00:00')`,
      [accountId],
    );
    const { rows } = await owner.query<{ name: string }>('SELECT name FROM accounts WHERE id = $1', [
      accountId,
    ]);
    const nameIn = async (of: string) =>
      (await readMonthlyStatement(billing, { accountId, month: of }))?.name;
    expect(await nameIn('2019-12')).toBe('First');
    expect(await nameIn('2020-01')).toBe('First');
    expect(await nameIn('2020-02')).toBe('Second');
    expect(await nameIn('9999-11')).toBe(rows[0]!.name);
  });

  it('has money in the month of its credits, if the transaction began in another, as receipts have', async () => {
    const { owner, billing } = under.ledger;
    const { accountId } = await under.ledger.account({ credits: '10' });
    const topupId = await refunded(accountId);
    expect(await markHorizon(billing, PATIENCE_MS)).toBe(true);
    await owner.query(
      `ALTER TABLE topups DISABLE TRIGGER USER;
       UPDATE topups SET recorded_at = timestamptz '${month}-01 00:00:00+00' - interval '1 microsecond' WHERE id = '${topupId}';
       ALTER TABLE topups ENABLE TRIGGER USER;
       UPDATE topup_refunds SET ended_at = timestamptz '${month}-01 00:00:00+00' - interval '1 microsecond'
         WHERE topup_id = '${topupId}'`,
    );
    const [year, number] = month.split('-').map(Number) as [number, number];
    const before = new Date(Date.UTC(year, number - 2, 1)).toISOString().slice(0, 7);
    const inMonth = async (of: string) => (await readMonthlyStatement(billing, { accountId, month: of }))!;
    expect(await inMonth(before)).toMatchObject({ moves: [], money: [] });
    expect(await inMonth(month)).toMatchObject({
      balances: { closing: parseAmount('9') },
      money: [
        { what: 'paid', count: 1 },
        { what: 'refunded', count: 1 },
      ],
    });
    const { refunds } = await readReversals(billing, topupId);
    expect(refunds.map(({ endedAt }) => endedAt?.toISOString().slice(0, 7))).toEqual([month]);
  });

  it('has what a bank took back, and what it paid again, as its credits moved', async () => {
    const { billing, owner } = under.ledger;
    const { accountId } = await under.ledger.account({ credits: '10' });
    const { rows } = await owner.query<{ topupId: string; provider: 'manual'; amountMinor: bigint }>(
      'SELECT id AS "topupId", provider, paid_minor AS "amountMinor" FROM topups WHERE account_id = $1',
      [accountId],
    );
    const { amountMinor, ...paid } = rows[0]!;
    const [won, lost] = [newId(), newId()];
    const says = (disputeId: string, state: 'lost' | 'won', amount: bigint) =>
      inTransaction(billing, (client) =>
        applyDispute(client, { ...paid, disputeId, accountId, state, amountMinor: amount }, 'USD'),
      );
    await says(won, 'lost', amountMinor);
    await says(won, 'won', amountMinor);
    await says(lost, 'lost', amountMinor / 2n);
    expect(await markHorizon(billing, PATIENCE_MS)).toBe(true);
    const { money } = (await readMonthlyStatement(billing, { accountId, month }))!;
    expect(money.map(({ what, count, amountMinor: moved }) => [what, count, moved])).toEqual([
      ['paid', 1, amountMinor],
      ['disputed', 2, -amountMinor - amountMinor / 2n],
      ['dispute_won', 1, amountMinor],
    ]);
  });

  it('for a month without work has no keys', async () => {
    const { accountId } = someone;
    const empty = await readMonthlyStatement(under.ledger.billing, { accountId, month: '2020-01' });
    expect(empty).toMatchObject({ moves: [], work: [], balances: { opening: 0n, closing: 0n } });
  });
});
