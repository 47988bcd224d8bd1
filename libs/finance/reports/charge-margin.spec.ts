import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { pagesRead } from '../../../test/support/pages-read.js';
import { chargeMargin } from './charge-margin.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());

it('of a charge reads a few pages of a large ledger', async () => {
  const { accountId } = await ledger.account({ credits: '1' });
  const chargeId = newId();
  await ledger.owner.query(
    `INSERT INTO charges (id, account_id, state, amount, settled, released, created_at, resolved_at)
     VALUES ($1, $2, 'settled', 1, 1, 0, now(), now())`,
    [chargeId, accountId],
  );
  await ledger.owner.query(
    `INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, effective_at)
     SELECT 1000000 + n, 'hold', CASE n WHEN 1 THEN 'charge:' || $1 || ':hold' ELSE 'test:' || n END, $2, $1, now()
     FROM generate_series(1, 10000) AS n`,
    [chargeId, accountId],
  );
  await ledger.owner.query('ANALYZE ledger_transactions');
  const read = pagesRead(ledger.billing, async (pool) => {
    expect((await chargeMargin(pool, chargeId))?.transactions).toEqual([{ id: 1_000_001n, kind: 'hold' }]);
  });
  expect(await read).toBeLessThan(40);
});
