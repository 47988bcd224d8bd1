import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { tillOfLedger, tryCharge } from './trial-charge.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(async () => {
  vi.useRealTimers();
  await ledger.close();
});

it('a trial charge has the price of the database’s clock, and does not expire by the one of the command', async () => {
  await ledger.owner.query(
    `INSERT INTO group_rule_versions (group_name, rule, unit_price, effective_from)
     SELECT DISTINCT group_name, rule, 0.0001, clock_timestamp() FROM group_rule_versions`,
  );
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  const till = tillOfLedger(ledger.owner);
  try {
    const trial = await tryCharge(ledger.owner, till, { playedCurrency: 'USD' });
    expect(trial).toMatchObject({ outcome: 'given_back', amount: '0.0001' });
  } finally {
    await till.close();
  }
});
