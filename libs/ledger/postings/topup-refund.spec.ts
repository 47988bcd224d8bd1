import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import type { LedgerFixture } from '../../../test/support/ledger.js';
import {
  beginRefund,
  buy,
  end,
  type EngineFixture,
  hold,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../../test/support/ledger-person.js';
import { ticketOf } from '../../../test/support/tickets.js';
import { refundCharge } from '../charges/charge-refund.js';
import { applyDispute } from './chargeback.js';

let under: EngineFixture;
let fixture: LedgerFixture;

beforeAll(async () => {
  under = await openEngine();
  fixture = under.ledger;
});
afterAll(() => under.close());

function dispute({ accountId }: LedgerPerson, topupId: string, amountMinor: bigint): Promise<unknown> {
  const about = { provider: 'manual', disputeId: newId(), topupId, accountId, amountMinor } as const;
  return inTransaction(fixture.billing, (client) => applyDispute(client, { ...about, state: 'open' }, 'USD'));
}

async function refundWork({ accountId }: LedgerPerson, chargeId: string, amount: string): Promise<void> {
  const { userId: requestedBy, ticketId } = await ticketOf(fixture, accountId);
  const asked = { chargeId, amount: parseAmount(amount), reason: 'r', ticketId, requestedBy };
  await inTransaction(fixture.billing, (client) =>
    refundCharge(client, { ...asked, approvedBy: null, requestId: newId() }),
  );
}

it('a disputed payment is not refunded again when its charges are refunded later', async () => {
  const someone = await fixture.account({ credits: '0' });
  const disputed = await buy(fixture, someone, '3');
  const work = await spend(under.engine, someone, 50n);
  await buy(fixture, someone, '30');
  await dispute(someone, disputed, 1_000_000n);
  await refundWork(someone, work, '1.5');
  for (const credits of ['1.5', '0.01', null])
    await expect(beginRefund(fixture, disputed, credits)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching('At most 0 of this top-up can be refunded') as unknown,
    });
});

it('held credits are not refunded, although they are in the lot', async () => {
  const someone = await fixture.account({ credits: '0' });
  const bought = await buy(fixture, someone, '3');
  const held = await hold(under.engine, someone, 50n);
  await expect(beginRefund(fixture, bought, '1.6')).rejects.toMatchObject({ code: 'conflict' });
  expect(await beginRefund(fixture, bought, null)).toMatchObject({ credits: parseAmount('1.5') });
  await end(under.engine, { ...someone, chargeId: held }, 'failed');
});

it('of a partly refunded payment, the rest can be refunded and not a cent more', async () => {
  const someone = await fixture.account({ credits: '0' });
  const disputed = await buy(fixture, someone, '3');
  const work = await spend(under.engine, someone, 50n);
  await buy(fixture, someone, '30');
  const half = priceCredits(parseAmount('3'), '1.3').paidMinor / 2n;
  await dispute(someone, disputed, half);
  await refundWork(someone, work, '1.5');
  await expect(beginRefund(fixture, disputed, '1.6')).rejects.toMatchObject({ code: 'conflict' });
  const { paidMinor } = await beginRefund(fixture, disputed, null);
  expect(paidMinor).toBeGreaterThan(0n);
  expect(paidMinor).toBeLessThanOrEqual(priceCredits(parseAmount('3'), '1.3').paidMinor - half);
  await expect(beginRefund(fixture, disputed, null)).rejects.toMatchObject({ code: 'conflict' });
});
