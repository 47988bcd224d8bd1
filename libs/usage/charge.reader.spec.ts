import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { refundCharge } from '#ledger/charges/charge-refund.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import type { LedgerFixture } from '../../test/support/ledger.js';
import {
  type EngineFixture,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../test/support/ledger-person.js';
import { ticketOf } from '../../test/support/tickets.js';
import { type ChargeRecord, readCharge } from './charge.reader.js';

let ledger: LedgerFixture;
let under: EngineFixture;
let someone: LedgerPerson;

beforeAll(async () => {
  under = await openEngine();
  ({ ledger } = under);
  someone = await ledger.account({ credits: '10' });
});
afterAll(() => under.close());

async function read(chargeId: string, accountId: string | null = someone.accountId): Promise<ChargeRecord> {
  const found = await readCharge(ledger.billing, chargeId, accountId);
  if (!found) throw new Error(`no charge ${chargeId}`);
  return found;
}

/** What each posting did to each account, such as `settle main -0.03`. */
function moved({ transactions }: ChargeRecord): [kind: string, account: string, amount: bigint][] {
  return transactions.flatMap(({ kind, entries }) =>
    entries.map(({ ledgerAccount, amount }) => [kind, ledgerAccount, amount] as [string, string, bigint]),
  );
}

describe('a charge', () => {
  it('that was delivered has what it was priced by, and the postings that paid for it', async () => {
    const charge = await read(await spend(under.engine, someone, 2n));
    expect(charge).toMatchObject({
      accountId: someone.accountId,
      keyId: someone.keyId,
      model: 'imgmodel-4',
      group: 'Vendora-Main',
      family: 'image',
      state: 'settled',
      rule: 'list',
      units: 2n,
      unitPrice: '0.03',
      multiplier: '1',
      settled: 60_000_000n,
      released: 0n,
      channel: 'c',
      task: null,
      refunds: [],
    });
    expect(charge.createdAtMs).toBeCloseTo(charge.createdAt.getTime(), -1);
    expect(charge.transactions.map(({ kind }) => kind)).toEqual(['hold', 'settle']);
    // Each posting sums to zero, and together they took the price from the main balance.
    for (const { entries } of charge.transactions)
      expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
    const main = moved(charge).filter(([, account]) => account === 'main');
    expect(main.reduce((sum, [, , amount]) => sum + amount, 0n)).toBe(-60_000_000n);
  });

  it('that was refunded has its refunds with their postings', async () => {
    const chargeId = await spend(under.engine, someone, 2n);
    const { userId, ticketId } = await ticketOf(ledger, someone.accountId);
    await inTransaction(ledger.billing, (client) =>
      refundCharge(client, {
        chargeId,
        amount: parseAmount('0.02'),
        reason: 'blurred',
        ticketId,
        requestedBy: userId,
        approvedBy: null,
        requestId: newId(),
      }),
    );
    const charge = await read(chargeId);
    expect(charge).toMatchObject({
      settled: 60_000_000n,
      refunds: [{ amount: 20_000_000n, reason: 'blurred' }],
    });
    expect(charge.transactions).toHaveLength(3);
    const main = moved(charge).filter(([, account]) => account === 'main');
    expect(main.reduce((sum, [, , amount]) => sum + amount, 0n)).toBe(-40_000_000n);
  });

  it('that was refused has the reason, and no postings', async () => {
    const chargeId = newId();
    const poor = await ledger.account({ credits: '0' });
    await under.engine.hold({
      chargeId,
      ...poor,
      model: 'imgmodel-4',
      requestedModel: 'imgmodel-4',
      group: 'Vendora-Main',
      units: 1n,
      quotedAmount: parseAmount('0.03'),
      expiresAtMs: Date.parse('2100-01-01'),
      deadlineMs: null,
      taskId: null,
      requestId: 'request',
    });
    expect(await read(chargeId, poor.accountId)).toMatchObject({
      state: 'refused',
      refusalCode: 'insufficient_user_quota',
      settled: null,
      transactions: [],
    });
  });

  it('is shown to its account, to staff, and to nobody else', async () => {
    const chargeId = await spend(under.engine, someone, 1n);
    const stranger = await ledger.account({ credits: '0' });
    expect(await readCharge(ledger.billing, chargeId, stranger.accountId)).toBeNull();
    expect(await read(chargeId, null)).toMatchObject({ id: chargeId });
    expect(await readCharge(ledger.billing, newId(), null)).toBeNull();
  });
});
