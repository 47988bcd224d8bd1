import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { setFreeze } from '#ledger/postings/freeze.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import {
  buy,
  type EngineFixture,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../../test/support/ledger-person.js';
import { inSnapshot } from '../snapshot.js';
import { readDebtors, readDebtTotals } from './debts.js';

let under: EngineFixture;

beforeAll(async () => {
  under = await openEngine();
});
afterAll(() => under.close());

/** The bank takes back the payment for 3 credits, of which one image was used. */
async function dispute(person: LedgerPerson): Promise<void> {
  const topupId = await buy(under.ledger, person, '3');
  await spend(under.engine, person, 1n);
  const { accountId } = person;
  const taken = { provider: 'manual', disputeId: newId(), topupId, accountId, amountMinor: 390n } as const;
  await inTransaction(under.ledger.billing, (client) =>
    applyDispute(client, { ...taken, state: 'open' }, 'USD'),
  );
}

function read(afterId: string | null = null, limit = 10) {
  return inSnapshot(under.ledger.billing, (client) => readDebtors(client, { limit, afterId }));
}

it('lists accounts in debt and frozen ones with their reason, and adds up what they owe', async () => {
  const debtor = await under.ledger.account({ credits: '0' });
  const frozen = await under.ledger.account({ credits: '1' });
  await under.ledger.account({ credits: '1' });
  await dispute(debtor);
  await inTransaction(under.ledger.billing, (client) => setFreeze(client, frozen.accountId, 'stolen card'));

  const found = new Map((await read()).map((each) => [each.accountId, each]));
  expect([...found.keys()].sort()).toEqual([debtor.accountId, frozen.accountId].sort());
  expect(found.get(debtor.accountId)).toMatchObject({
    main: -parseAmount('0.03'),
    isFrozen: true,
    reason: 'debt',
    since: expect.any(Date),
    disputes: [{ provider: 'manual', state: 'open' }],
    owedRewards: 0n,
    writtenOff: 0n,
    transactionId: expect.any(BigInt),
  });
  expect(found.get(frozen.accountId)).toMatchObject({
    main: parseAmount('1'),
    isFrozen: true,
    reason: 'stolen card',
    disputes: [],
    transactionId: null,
  });
  const totals = await inSnapshot(under.ledger.billing, readDebtTotals);
  expect(totals).toEqual({ accounts: 2, frozen: 2, debt: parseAmount('0.03'), owedRewards: 0n });

  const [first] = await read(null, 1);
  expect((await read(first!.accountId)).map(({ accountId }) => accountId)).toEqual(
    [...found.keys()].filter((id) => id !== first!.accountId),
  );
});
