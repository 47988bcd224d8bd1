import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { pagesRead } from '../../../test/support/pages-read.js';
import { readSums, type Sum } from './statement-sums.js';

const CHARGES = 30_000;
/** For each charge, its settlement and the charge itself are looked up, but not its hold, and neither more than once. */
const MOST_PAGES_OF_A_CHARGE = 3;

const FILLED = [
  `INSERT INTO charges (id, account_id, state, amount, settled, released, created_at, resolved_at, key_id, model_id)
   SELECT 'large' || lpad(n::text, 21, '0'), $1, 'settled', 5, 3, 2, '2020-01-02', '2020-01-02', $2, 'imgmodel-4'
   FROM generate_series(1, $3::int) AS n`,
  `INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, effective_at, recorded_at)
   SELECT 1000000 + 2 * n + step, CASE step WHEN 0 THEN 'hold' ELSE 'settle' END, 'test:' || n || ':' || step, $1,
     'large' || lpad(n::text, 21, '0'), at, at
   FROM generate_series(1, $3::int) AS n, generate_series(0, 1) AS step,
     LATERAL (SELECT '2020-01-02'::timestamp AT TIME ZONE 'UTC' + (2 * n + step) * interval '1 second' AS at WHERE $2 <> '') AS time`,
  `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount)
   SELECT 1000000 + 2 * n + step, ordinal, 'CRD', CASE purpose WHEN 'main' THEN main_ledger_id WHEN 'held' THEN held_ledger_id
     ELSE (SELECT id FROM ledger_accounts WHERE code = 'usage:image') END, amount
   FROM customer_balances CROSS JOIN generate_series(1, $3::int) AS n CROSS JOIN (VALUES (0, 0, 'main', -5), (0, 1, 'held', 5),
     (1, 0, 'held', -5), (1, 1, 'usage', 3), (1, 2, 'main', 2)) AS of (step, ordinal, purpose, amount)
   WHERE account_id = $1 AND $2 <> ''`,
];

let ledger: LedgerFixture;
let accountId: string;
let keyId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  ({ accountId, keyId } = await ledger.account({ credits: '0' }));
  for (const text of FILLED) await ledger.owner.query(text, [accountId, keyId, CHARGES]);
  await ledger.owner.query('ANALYZE charges, ledger_transactions, ledger_entries');
});
afterAll(() => ledger?.close());

it('are read in chunks, with each charge once', async () => {
  const { rows } = await ledger.owner.query<{ mainId: bigint; heldId: bigint; ledgerIds: bigint[] }>(
    `SELECT main_ledger_id AS "mainId", held_ledger_id AS "heldId",
       ARRAY[main_ledger_id, held_ledger_id, refund_pending_ledger_id] AS "ledgerIds"
     FROM customer_balances WHERE account_id = $1`,
    [accountId],
  );
  const month = { from: '2020-01-01', to: '2020-02-01', keyId: null };
  let sums: Sum[] = [];
  const read = await pagesRead(ledger.billing, async (pool) => {
    sums = await readSums(await pool.connect(), { ...rows[0]!, ...month });
  });
  expect(read).toBeLessThan(MOST_PAGES_OF_A_CHARGE * CHARGES);
  const charged = { kind: 'settle', keyId, keyName: 'test', model: 'imgmodel-4' };
  expect(sums).toEqual([{ ...charged, fromHeld: CHARGES, amount: -3n * BigInt(CHARGES) }]);
});
