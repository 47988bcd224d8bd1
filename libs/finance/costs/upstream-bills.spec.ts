import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { billsByChannel, recordBill } from './upstream-bills.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());

async function bill({
  number = newId(),
  from = '2026-01-01',
  to = '2026-01-02',
  amount = 0n,
}): Promise<void> {
  await ledger.owner.query(
    `INSERT INTO upstream_bills (id, channel_id, number, from_day, to_day, amount, accrued, actor, request_id)
     VALUES ($1, 'sandbox', $2, $3, $4, $5, $5, 'user:test', $1)`,
    [newId(), number, from, to, amount],
  );
}

async function cost(day: string): Promise<void> {
  await ledger.owner.query(
    `INSERT INTO charge_costs (charge_id, outcome, account_id, channel_id, model_id, units, cost, cost_version_id,
       transaction_id, ended_at, day) VALUES ($1, 'delivered', 'a', 'sandbox', 'm', 1, 1, 1, 1, $2::date, $2)`,
    [newId(), day],
  );
}

it('adds the bills of a channel up beyond what a column holds', async () => {
  const most = 2n ** 63n - 1n;
  for (const number of ['first', 'second']) await bill({ number, amount: most });
  expect(await billsByChannel(ledger.billing)).toEqual([
    {
      channel: 'sandbox',
      accrued: 2n * most,
      covered: 2n * most,
      open: 0n,
      billed: 2n * most,
      difference: 0n,
      bills: 2,
      billedTo: '2026-01-02',
    },
  ]);
});

it('is billed up to the first gap that has costs, whatever bills overlap', async () => {
  for (const [from, to] of [
    ['2026-03-12', '2026-03-20'],
    ['2026-03-01', '2026-03-10'],
    ['2026-03-02', '2026-03-04'],
  ] as const)
    await bill({ from, to });
  const billedTo = async () => (await billsByChannel(ledger.billing))[0]?.billedTo;
  await cost('2026-03-09');
  await cost('2026-03-12');
  expect(await billedTo()).toBe('2026-03-20');
  await cost('2026-03-11');
  expect(await billedTo()).toBe('2026-03-10');
  await bill({ from: '2026-03-10', to: '2026-03-12' });
  expect(await billedTo()).toBe('2026-03-20');
});

it('refuses a bill before any costs are recorded', async () => {
  const days = { from: '2026-02-01', to: '2026-02-02' };
  const early = {
    ...days,
    channel: 'sandbox',
    number: 'early',
    amount: 1n,
    actor: 'user:test',
    requestId: 'r',
  };
  await expect(recordBill(ledger.billing, early)).rejects.toThrow(
    'to: no costs are recorded yet; a bill is for days that are over.',
  );
});
