import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { billsByChannel } from './upstream-bills.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());

it('adds the bills of a channel up beyond what a column holds', async () => {
  const most = 2n ** 63n - 1n;
  for (const number of ['first', 'second'])
    await ledger.owner.query(
      `INSERT INTO upstream_bills (id, channel_id, number, from_day, to_day, amount, accrued, actor, request_id)
       VALUES ($1, 'sandbox', $2, '2026-01-01', '2026-01-02', $3, $3, 'user:test', $1)`,
      [newId(), number, most],
    );
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
