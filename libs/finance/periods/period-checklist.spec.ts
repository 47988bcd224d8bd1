import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { post } from '#ledger/postings/posting.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { until } from '../../../test/support/eventually.js';
import { recordTopup } from '../../../test/support/topups.js';
import { waiveAll } from '../../../test/support/waivers.js';
import type { ChecklistItem } from './period.js';
import { checkPeriod, findingsToWaive } from './period-check.js';
import { waivableItems } from './period-checklist.js';
import { recordWaiver } from './waiver.js';

let fixture: LedgerFixture;
let pool: pg.Pool;
let end: Date;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
});
afterAll(() => fixture.close());
beforeEach(async () => {
  end = await nextMillisecond();
});

/** After everything recorded so far. The database's times are finer than a Date. */
async function nextMillisecond(): Promise<Date> {
  const before = Date.now();
  await until('the clock to go on', async () => Date.now() > before);
  return new Date();
}

async function check(...ids: string[]): Promise<ChecklistItem[]> {
  const { checklist } = await checkPeriod(pool, { end, graceMs: 0, limitMs: 60_000 });
  return ids.map((id) => {
    const item = checklist.find((each) => each.id === id);
    if (!item) throw new Error(`there is no ${id} among ${checklist.map((each) => each.id).join(' ')}`);
    return item;
  });
}

function book(): Promise<bigint> {
  const item = { provider: 'stripe' as const, orderId: null, amountMinor: 7n, currency: 'USD' };
  return inTransaction(pool, async (client) => {
    await bookSuspense(client, { ...item, reference: newId(), why: 'no_order', happenedAt: null }, 'USD');
    const { rows } = await client.query<{ id: bigint }>(
      'SELECT max(transaction_id) AS id FROM suspense_items',
    );
    return BigInt(rows[0]?.id ?? 0);
  });
}

describe('what may be waived', () => {
  it('is open work of a control, never a contradiction in the books', async () => {
    await fixture.owner.query(
      `INSERT INTO unknown_costs (charge_id, channel_id, model_id, metered, ended_at)
       VALUES ('one', 'sandbox', 'imgmodel-4', false, now() - interval '1 minute')`,
    );
    await waiveAll(pool, end);
    const ids = ['control:costs', 'control:costs:left'] as const;
    expect(await check(...ids)).toMatchObject([
      { state: 'ok', waivable: false, control: 'costs' },
      { state: 'waived', count: 1, waivable: true, control: 'costs', reason: 'made up' },
    ]);
    await fixture.owner.query(
      `INSERT INTO charge_costs (charge_id, outcome, account_id, channel_id, model_id, units, cost, cost_version_id, ended_at, day)
       VALUES ('nobody', 'delivered', 'a', 'sandbox', 'imgmodel-4', 1, 0, 1, now() - interval '1 minute', current_date)`,
    );
    end = await nextMillisecond();
    // Even with rows inserted into the table of waivers.
    await waiveAll(pool, end, [...waivableItems(), ...ids]);
    const [contradiction, left] = await check(...ids);
    expect(contradiction).toMatchObject({ state: 'failed', count: 1, waivable: false, waiverId: null });
    expect(contradiction?.message).toContain('a charge that does not exist');
    expect(contradiction?.notes).toMatchObject([
      {
        code: 'finding',
        params: { state: 'cost_without_charge', subject: 'charge:nobody', channel: 'sandbox' },
      },
    ]);
    expect(left).toMatchObject({ state: 'waived', count: 1 });
    expect(waivableItems()).toEqual(
      expect.not.arrayContaining(
        [
          'zero-sums',
          'costs',
          'recognition',
          'chain',
          'control:costs',
          'control:revenue',
          'control:ledger',
        ].concat(
          ['control:lots', 'control:chain', 'control:chain-whole', 'control:deferred-revenue'],
          ['control:adjustments', 'control:frozen-accounts', 'control:closed-periods', 'control:promotion'],
        ),
      ),
    );
    await fixture.owner.query(`DELETE FROM unknown_costs; ALTER TABLE charge_costs DISABLE TRIGGER USER;
      DELETE FROM charge_costs; ALTER TABLE charge_costs ENABLE TRIGGER USER`);
  });

  it('is all open work, even beyond what is read', async () => {
    await fixture.owner.query(
      `INSERT INTO unknown_costs (charge_id, channel_id, model_id, metered, ended_at)
       SELECT 'one' || n, 'sandbox', 'model-' || n, false, now() - interval '1 minute' FROM generate_series(1, 5001) n`,
    );
    end = await nextMillisecond();
    expect(await check('control:costs', 'control:costs:left')).toMatchObject([
      { state: 'ok', count: 0 },
      { state: 'failed', count: 5001, waivable: true },
    ]);
    await fixture.owner.query(`DELETE FROM unknown_costs`);
  });

  it('names findings of one period, by two people', async () => {
    await book();
    await book();
    end = await nextMillisecond();
    const waiver = { item: 'control:suspense', findings: null, reason: 'the bank looks into it' };
    const people = { requestedBy: 'user:one', approvedBy: 'user:two' };
    const waive = (changed: { count: number; at?: Date; approvedBy?: string }) =>
      inTransaction(pool, (client) =>
        recordWaiver(client, { end: changed.at ?? end, ...waiver, ...people, ...changed }),
      );
    const state = async () => (await check('control:suspense'))[0];
    expect(await state()).toMatchObject({ state: 'failed', count: 2, waivable: true });
    await waive({ count: 1 });
    await waive({ count: 2, at: new Date(end.getTime() + 1) });
    expect(await state()).toMatchObject({ state: 'failed', count: 2 });
    await expect(waive({ count: 2, approvedBy: 'user:one' })).rejects.toThrow('two_people');
    const { id } = await waive({ count: 2 });
    expect(await state()).toMatchObject({ state: 'waived', waiverId: id, reason: waiver.reason });
  });

  it('covers what two people saw, and nothing that replaced it', async () => {
    await book();
    // So that what is posted from now on belongs to it, too.
    end = new Date(Date.now() + 60_000);
    const { count, findings } = await findingsToWaive(pool, 'control:suspense', { end, limitMs: 60_000 });
    expect(findings).toHaveLength(count);
    const agreed = { end, item: 'control:suspense', count, reason: 'the bank looks into it' };
    const people = { requestedBy: 'user:one', approvedBy: 'user:two' };
    await inTransaction(pool, (client) => recordWaiver(client, { ...agreed, findings, ...people }));
    expect(await check('control:suspense')).toMatchObject([{ state: 'waived', count }]);
    // One of them is cleared, and a new one appears that nobody has seen.
    await fixture.owner.query(
      `UPDATE suspense_items SET state = 'returned', cleared_transaction_id = transaction_id
       WHERE id = (SELECT id FROM suspense_items WHERE state = 'open' ORDER BY id LIMIT 1)`,
    );
    expect(await check('control:suspense')).toMatchObject([{ state: 'waived', count: count - 1 }]);
    await book();
    expect(await check('control:suspense')).toMatchObject([{ state: 'failed', count }]);
  });

  it('never covers what could not be checked', async () => {
    await waiveAll(pool, end);
    await fixture.owner.query('REVOKE SELECT ON suspense_items FROM tollgate_billing');
    const [suspense, cleared, zero] = await check('control:suspense', 'suspense-cleared', 'zero-sums');
    await fixture.owner.query('GRANT SELECT ON suspense_items TO tollgate_billing');
    expect(suspense).toMatchObject({ state: 'failed', waiverId: null });
    expect(suspense?.message).toContain('permission denied');
    expect(suspense?.notes).toMatchObject([{ code: 'unanswered' }]);
    expect(cleared).toMatchObject({ state: 'failed' });
    expect(zero).toMatchObject({ state: 'ok' });
  });
});

describe('money in suspense at the end of a period', () => {
  it('counts until it is cleared, then appears with its clearing', async () => {
    await fixture.owner.query(
      `UPDATE suspense_items SET state = 'returned', cleared_transaction_id = transaction_id`,
    );
    const transactionId = await book();
    end = await nextMillisecond();
    const later = await book();
    const [before] = await check('control:suspense');
    expect(before).toMatchObject({ state: 'failed', count: 1 });
    const cleared = await inTransaction(pool, async (client) => {
      const id = await post(client, {
        kind: 'suspense-returned',
        reference: newId(),
        accountId: null,
        linkedId: transactionId,
        movements: [
          { code: 'suspense:pay', commodity: 'PAY', amount: -7n },
          { code: 'psp:stripe', commodity: 'PAY', amount: 7n },
        ],
      });
      await client.query(
        `UPDATE suspense_items SET state = 'returned', cleared_transaction_id = $2, cleared_by = 'cli', cleared_at = now()
         WHERE transaction_id = $1`,
        [transactionId, id],
      );
      return id;
    });
    const [open, clearing] = await check('control:suspense', 'suspense-cleared');
    expect(open).toMatchObject({ state: 'ok', count: 0 });
    expect(clearing).toMatchObject({ state: 'ok', count: 0, waivable: false });
    expect(clearing?.message).toMatch(
      new RegExp(`0\\.07 USD of stripe .* was returned at .*, by transaction ${cleared}\\.`),
    );
    expect(clearing?.notes).toMatchObject([
      { code: 'cleared', params: { amount: '0.07 USD', state: 'returned', transaction: cleared.toString() } },
    ]);
    end = await nextMillisecond();
    expect(await check('control:suspense')).toMatchObject([{ state: 'failed', count: 1 }]);
    expect(later).toBeGreaterThan(transactionId);
  });
});

describe('a payment that no report covers at the end', () => {
  it('counts, with the command that lists them', async () => {
    const { accountId } = await fixture.account({ credits: '0' });
    const bought = priceCredits(parseAmount('10'), '1.3');
    await recordTopup(pool, {
      accountId,
      provider: 'stripe',
      paymentId: newId(),
      ...bought,
      rate: '1.3',
      currency: 'USD',
    });
    end = await nextMillisecond();
    const [payments] = await check('control:payments');
    expect(payments).toMatchObject({ state: 'failed', count: expect.any(Number) });
    expect(payments?.message).toContain(
      `tollgate finance reconcile payments --faults --before ${end.toISOString()}`,
    );
  });
});
