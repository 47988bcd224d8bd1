import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { pagesRead } from '../../../test/support/pages-read.js';
import type { JournalTransaction } from './journal.js';
import { SummaryBooks } from './summary-books.js';

const ACCOUNTS = 5_000;
const A_DAY = 1_000;
const DAYS = ['2020-01-01', '2020-01-02', '2020-01-03', '2020-01-04', '2020-01-05'];
/** Accounts and postings fill a few hundred. Reading all accounts for each day takes thousands. */
const MOST_PAGES = 1_500;
const END = '2020-01-06';
const RANGE = { by: 'recorded', from: '2020-01-01', to: END, recordedBefore: END } as const;

const FILLED = [
  `INSERT INTO accounts (id, name) SELECT 'many' || n, 'one of many' FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO ledger_accounts (code, commodity, kind, account_id)
   SELECT 'customer:many' || n || ':' || purpose, 'CRD', 'liability', 'many' || n
   FROM generate_series(1, $1::int) AS n, unnest(ARRAY['main', 'held', 'invite', 'refund-pending']) AS purpose`,
  // Each moves from one customer to another. The last of a day was recorded on the day before.
  `INSERT INTO ledger_transactions (id, kind, reference, account_id, effective_at, recorded_at)
   SELECT 1000000 + n, 'hold', 'test:' || n, 'many' || n, at, at FROM generate_series(1, $1::int) AS n, LATERAL (
     SELECT '2020-01-01'::timestamp AT TIME ZONE 'UTC' + interval '1 day' * ((n - 1) / $2::int - CASE n % $2 WHEN 0 THEN 1 ELSE 0 END)
       + interval '1 hour' AS at) AS time`,
  `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount)
   SELECT 1000000 + n, side, 'CRD', a.id, 2 * side - 1
   FROM generate_series(1, $1::int) AS n CROSS JOIN (VALUES (0, 'main'), (1, 'held')) AS of (side, purpose)
   JOIN ledger_accounts a ON a.code = 'customer:many' || n || ':' || purpose`,
];

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  for (const text of FILLED)
    await ledger.owner.query(text, text.includes('$2') ? [ACCOUNTS, A_DAY] : [ACCOUNTS]);
  await ledger.owner.query('ANALYZE ledger_accounts, ledger_transactions, ledger_entries');
});
afterAll(() => ledger?.close());

it('reads all accounts once, and the entries of a day in their order', async () => {
  const days: JournalTransaction[] = [];
  const read = await pagesRead(ledger.billing, async (pool) => {
    const client = await pool.connect();
    await client.query(`BEGIN; SET LOCAL timezone = 'UTC'`);
    const books = new SummaryBooks(client, { from: null, currency: 'USD' });
    await books.units();
    const range = { ...RANGE, firstDay: '2020-01-01', lastDay: '2020-01-05' };
    for (const day of DAYS) for await (const some of books.transactions(range, day)) days.push(...some);
    await client.query('COMMIT');
  });
  const held = days.map(({ entries }) => entries.map(({ account, amount }) => [account.code, amount]));
  const day = (moved: bigint) => [
    ['customers:held', moved],
    ['customers:main', -moved],
  ];
  expect(held).toEqual([day(1_000n), day(1_000n), day(1_000n), day(1_000n), day(999n)]);
  expect(read).toBeLessThan(MOST_PAGES);
});
