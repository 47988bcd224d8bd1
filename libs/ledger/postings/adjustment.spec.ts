import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { ticketOf } from '../../../test/support/tickets.js';
import { recordTopup } from '../../../test/support/topups.js';
import { adjust, type Adjustment, type AdjustmentRequest, reverseAdjustment } from './adjustment.js';
import { applyDispute } from './chargeback.js';
import { readBalance } from './customer-account.js';
import { checkLedger } from '../checks/ledger-check.js';
import { readLots } from '../lots/lots.js';
import { recordLimit } from './outflow.js';
import { lockBalance } from './posting.js';
import { recognisePresent } from '../lots/recognition.fixture.js';
import { recogniseAll } from '../lots/recognition.js';
import {
  reverseWriteOff,
  writeOff,
  type WriteOffRequest,
  type WriteOffReversalRequest,
} from './write-off.js';

const SEED = Number(process.env['LEDGER_SEED'] ?? 20_261_121);
const LIMIT = parseAmount('20');

let fixture: LedgerFixture;
let pool: pg.Pool;
let accountId: string;
let ticketId: string;
/** A new person for each test, because what one person pays out adds up. */
let one: string;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
});
afterAll(async () => {
  await recognisePresent(pool);
  expect(await checkLedger(pool, { graceMs: 0 })).toEqual({ ok: true, violations: [] });
  await fixture.close();
});
beforeEach(() => open('10'));

async function open(credits: string): Promise<void> {
  one = `user:${newId()}`;
  ({ accountId } = await fixture.account({ credits }));
  ({ ticketId } = await ticketOf(fixture, accountId));
}

function wanted(amount: string, changed: Partial<AdjustmentRequest> = {}): AdjustmentRequest {
  const sign = amount.startsWith('-') ? -1n : 1n;
  return {
    accountId,
    ticketId,
    amount: sign * parseAmount(amount.replace('-', '')),
    reason: 'goodwill',
    note: 'sorry',
    requestedBy: one,
    approvedBy: null,
    requestId: newId(),
    ...changed,
  };
}

function make(request: AdjustmentRequest): Promise<Adjustment> {
  return inTransaction(pool, (client) => adjust(client, request));
}

function reverse(adjustmentId: string, changed: Partial<AdjustmentRequest> = {}): Promise<Adjustment> {
  const by = { requestedBy: one, approvedBy: null, requestId: newId() };
  return inTransaction(pool, (client) =>
    reverseAdjustment(client, { adjustmentId, note: 'a mistake', ...by, ...changed }),
  );
}

async function main(): Promise<bigint> {
  return (await readBalance(pool, accountId))?.main ?? 0n;
}

/** Unused credits of each lot, in order, and uses without credit. */
async function lots(): Promise<{ unused: bigint[]; unmet: bigint }> {
  return inTransaction(pool, async (client) => {
    const { lots: found, unmet } = await readLots(client, await lockBalance(client, accountId));
    return { unused: found.map(({ unused }) => unused), unmet };
  });
}

/** The bank reverses a payment whose credits were used, which leaves a debt. */
async function chargeBack(): Promise<void> {
  const paid = priceCredits(parseAmount('5'), '1.3');
  const { topupId } = await recordTopup(pool, {
    ...paid,
    accountId,
    provider: 'stripe',
    paymentId: newId(),
    rate: '1.3',
    currency: 'USD',
  });
  await make(wanted('-12', { reason: 'correction' }));
  const dispute = { provider: 'stripe', disputeId: newId(), topupId, accountId, state: 'lost' } as const;
  await inTransaction(pool, (client) =>
    applyDispute(client, { ...dispute, amountMinor: paid.paidMinor }, 'USD'),
  );
}

describe('an adjustment', () => {
  it('credits a lot that nobody paid for, and is numbered in its ticket', async () => {
    const first = await make(wanted('2.5'));
    const second = await make(wanted('-1'));
    expect([first, second]).toMatchObject([
      { seq: 1, amount: parseAmount('2.5'), reversesId: null },
      { seq: 2, amount: -parseAmount('1') },
    ]);
    expect(await main()).toBe(parseAmount('11.5'));
    expect(await lots()).toEqual({ unused: [parseAmount('9'), parseAmount('2.5')], unmet: 0n });
    const { rows } = await pool.query(
      'SELECT kind, reference, linked_id FROM ledger_transactions WHERE id = $1',
      [second.transactionId],
    );
    expect(rows).toEqual([{ kind: 'adjustment', reference: `adjustment:${ticketId}:2`, linked_id: null }]);
  });

  it('has the same answer for the same request, and refuses another with its ID', async () => {
    const request = wanted('1');
    const made = await make(request);
    expect(await make(request)).toEqual(made);
    await expect(make({ ...request, note: 'other' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await main()).toBe(parseAmount('11'));
  });

  it('takes no more than the balance, and needs a ticket', async () => {
    await expect(make(wanted('-10.000000001'))).rejects.toMatchObject({ code: 'beyond_balance' });
    await expect(make(wanted('1', { ticketId: newId() }))).rejects.toMatchObject({ code: 'unknown_ticket' });
    await make(wanted('-10'));
    expect(await main()).toBe(0n);
  });

  it('needs a second person above the limit, which small ones of one day can reach together', async () => {
    await expect(make(wanted('20.000000001'))).rejects.toMatchObject({ code: 'second_person' });
    const parts = await Promise.allSettled(Array.from({ length: 50 }, () => make(wanted('1'))));
    expect(parts.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    await make(wanted('30', { approvedBy: 'user:two' }));
    await expect(make(wanted('1', { approvedBy: one }))).rejects.toThrow('two_people');
    expect(await main()).toBe(parseAmount('60'));
  });
});

describe('the reversal of an adjustment', () => {
  it('is linked, made once, and cannot be reversed itself', async () => {
    const made = await make(wanted('3'));
    const asked = { requestId: newId() };
    const reversal = await reverse(made.id, asked);
    expect(reversal).toMatchObject({ reversesId: made.id, amount: -made.amount, seq: 2, reason: 'goodwill' });
    expect(await reverse(made.id, asked)).toEqual(reversal);
    await expect(reverse(made.id)).rejects.toMatchObject({ code: 'reversed' });
    await expect(reverse(reversal.id)).rejects.toMatchObject({ code: 'reversed' });
    await expect(reverse(newId())).rejects.toMatchObject({ code: 'unknown_adjustment' });
    const { rows } = await pool.query('SELECT linked_id FROM ledger_transactions WHERE id = $1', [
      reversal.transactionId,
    ]);
    expect(rows).toEqual([{ linked_id: made.transactionId }]);
  });

  it('is made by one of many at once', async () => {
    const made = await make(wanted('3'));
    const tries = await Promise.allSettled(Array.from({ length: 50 }, () => reverse(made.id)));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await main()).toBe(parseAmount('10'));
  });

  it('of a credit takes what is left of its lot, and the rest from the others', async () => {
    await open('0');
    const gift = await make(wanted('4'));
    await recordTopup(pool, {
      ...priceCredits(parseAmount('5'), '1.3'),
      accountId,
      provider: 'manual',
      paymentId: newId(),
      rate: '1.3',
      currency: 'USD',
    });
    await make(wanted('-1'));
    await reverse(gift.id);
    expect(await lots()).toEqual({ unused: [0n, parseAmount('4')], unmet: 0n });
    expect(await main()).toBe(parseAmount('4'));
    await expect(reverse((await make(wanted('1', { approvedBy: 'user:two' }))).id)).resolves.toBeDefined();
  });

  it('of a credit that is spent is refused; of a debit it returns what it took', async () => {
    await open('0');
    const gift = await make(wanted('4'));
    const taken = await make(wanted('-3'));
    await expect(reverse(gift.id)).rejects.toMatchObject({ code: 'beyond_balance' });
    await reverse(taken.id);
    expect(await lots()).toEqual({ unused: [parseAmount('4')], unmet: 0n });
    await reverse(gift.id);
    expect(await main()).toBe(0n);
  });
});

describe('a write-off', () => {
  function giveUp(changed: Partial<WriteOffRequest> = {}) {
    const by = { requestedBy: one, approvedBy: null, requestId: newId() };
    const request = { accountId, ticketId, amount: null, note: 'gone', ...by, ...changed };
    return inTransaction(pool, (client) => writeOff(client, request));
  }

  it('ends the debt and its freeze, with a lot that covers it', async () => {
    await chargeBack();
    expect(await main()).toBe(-parseAmount('2'));
    expect((await lots()).unmet).toBe(parseAmount('2'));
    const asked = { requestId: newId() };
    const made = await giveUp(asked);
    expect(made.amount).toBe(parseAmount('2'));
    expect(await giveUp(asked)).toEqual(made);
    expect(await readBalance(pool, accountId)).toMatchObject({ main: 0n, frozen: false });
    expect((await lots()).unmet).toBe(0n);
    await expect(giveUp()).rejects.toMatchObject({ code: 'no_debt' });
    const { rows } = await pool.query('SELECT reference FROM ledger_transactions WHERE id = $1', [
      made.transactionId,
    ]);
    expect(rows).toEqual([{ reference: `write-off:${accountId}:${made.period}` }]);
  });

  it('of a part leaves the account frozen, and is possible once a month', async () => {
    await chargeBack();
    await expect(giveUp({ amount: parseAmount('2.1') })).rejects.toMatchObject({ code: 'beyond_debt' });
    await giveUp({ amount: parseAmount('0.5') });
    expect(await readBalance(pool, accountId)).toMatchObject({ main: -parseAmount('1.5'), frozen: true });
    await expect(giveUp()).rejects.toMatchObject({ code: 'once_a_month' });
  });

  it('needs a debt, and a second person above the limit', async () => {
    await expect(giveUp()).rejects.toMatchObject({ code: 'no_debt' });
    await chargeBack();
    await recordLimit(pool, 'adjustment', 0n);
    await expect(giveUp()).rejects.toMatchObject({ code: 'second_person' });
    expect(await giveUp({ approvedBy: 'user:two' })).toMatchObject({ approvedBy: 'user:two' });
    await recordLimit(pool, 'adjustment', LIMIT);
  });
});

describe('the reversal of a write-off', () => {
  const by = () => ({ requestedBy: one, approvedBy: null, requestId: newId() });
  function giveUp(changed: Partial<WriteOffRequest> = {}) {
    const request = { accountId, ticketId, amount: null, note: 'gone', ...by(), ...changed };
    return inTransaction(pool, (client) => writeOff(client, request));
  }
  function back(writeOffId: string, changed: Partial<WriteOffReversalRequest> = {}) {
    const request = { writeOffId, note: 'they answered', ...by(), ...changed };
    return inTransaction(pool, (client) => reverseWriteOff(client, request));
  }
  async function lossMinor(): Promise<bigint> {
    const { rows } = await pool.query<{ minor: bigint }>(
      `SELECT coalesce(sum(minor), 0)::bigint AS minor FROM lot_uses WHERE account_id = $1 AND purpose = 'debt'`,
      [accountId],
    );
    return rows[0]?.minor ?? 0n;
  }

  it('brings the debt and its freeze back, is linked and made once', async () => {
    await chargeBack();
    const made = await giveUp();
    const asked = { requestId: newId() };
    const reversal = await back(made.id, asked);
    expect(reversal).toMatchObject({ reversesId: made.id, amount: -made.amount, period: made.period });
    expect(await back(made.id, asked)).toEqual(reversal);
    expect(await readBalance(pool, accountId)).toMatchObject({ main: -parseAmount('2'), frozen: true });
    expect((await lots()).unmet).toBe(parseAmount('2'));
    await expect(back(made.id)).rejects.toMatchObject({ code: 'reversed' });
    await expect(back(reversal.id)).rejects.toMatchObject({ code: 'reversed' });
    await expect(back(newId())).rejects.toMatchObject({ code: 'unknown_write_off' });
    await expect(giveUp({ ...asked, note: 'they answered' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(giveUp()).rejects.toMatchObject({ code: 'once_a_month' });
    const { rows } = await pool.query('SELECT kind, linked_id FROM ledger_transactions WHERE id = $1', [
      reversal.transactionId,
    ]);
    expect(rows).toEqual([{ kind: 'write-off-reversed', linked_id: made.transactionId }]);
  });

  it('lets later payments make up for the loss again', async () => {
    await chargeBack();
    const made = await giveUp();
    const topUp = () =>
      recordTopup(pool, {
        ...priceCredits(parseAmount('2'), '1.3'),
        accountId,
        provider: 'manual',
        paymentId: newId(),
        rate: '1.3',
        currency: 'USD',
      });
    await topUp();
    const before = await lossMinor();
    await back(made.id);
    expect(await main()).toBe(0n);
    expect(await lots()).toMatchObject({ unmet: 0n });
    expect((await lossMinor()) - before).toBe(priceCredits(parseAmount('2'), '1.3').paidMinor);
    expect(await readBalance(pool, accountId)).toMatchObject({ main: 0n, frozen: false });
  });

  it('needs a second person above the limit, and is made by one of many at once', async () => {
    await chargeBack();
    const made = await giveUp();
    await recordLimit(pool, 'adjustment', parseAmount('3'));
    await expect(back(made.id)).rejects.toMatchObject({ code: 'second_person' });
    await recordLimit(pool, 'adjustment', LIMIT);
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, () => back(made.id, { approvedBy: 'user:two' })),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await main()).toBe(-parseAmount('2'));
  });
});

describe('random adjustments', () => {
  type Step = { kind: 'add' | 'take' | 'reverse' | 'recognise'; amount: number; pick: number };
  const step = fc.record<Step>({
    kind: fc.constantFrom('add', 'take', 'take', 'reverse', 'recognise'),
    amount: fc.integer({ min: 1, max: 3_000_000_000 }),
    pick: fc.nat(1000),
  });

  it('add up to the balance, with lots of the same amount', async () => {
    for (const steps of fc.sample(fc.array(step, { minLength: 15, maxLength: 30 }), {
      seed: SEED,
      numRuns: 6,
    })) {
      await open('3.000000007');
      let balance = parseAmount('3.000000007') as bigint;
      const made: Adjustment[] = [];
      for (const { kind, amount, pick } of steps) {
        const approved = { approvedBy: 'user:two' };
        if (kind === 'recognise') await recogniseAll(pool, 5 + (pick % 20));
        else if (kind === 'reverse') {
          const [chosen] = made.splice(pick % Math.max(1, made.length), 1);
          if (!chosen) continue;
          if (balance < chosen.amount) {
            await expect(reverse(chosen.id, approved)).rejects.toMatchObject({ code: 'beyond_balance' });
          } else {
            await reverse(chosen.id, approved);
            balance -= chosen.amount;
          }
        } else {
          const signed = kind === 'add' ? BigInt(amount) : -BigInt(amount);
          if (balance + signed < 0n) continue;
          made.push(await make({ ...wanted('1', approved), amount: signed }));
          balance += signed;
        }
      }
      expect(await main()).toBe(nanos(balance));
      const { unused, unmet } = await lots();
      expect(unused.reduce((sum, each) => sum + each, 0n)).toBe(balance);
      expect(unmet).toBe(0n);
    }
  });
});
