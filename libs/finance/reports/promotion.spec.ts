import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { atHorizon, markHorizon } from '#ledger/postings/horizon.js';
import { readPromotion } from './promotion.js';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  const life = new LedgerLife(fixture);
  await life.everything();
  await life.close();
  // Other specs on the server can hold back the horizon for seconds.
  await markHorizon(fixture.billing, 25_000);
});
afterAll(() => fixture.close());

function read(range: { from: Date | null; to: Date | null } = { from: null, to: null }) {
  return atHorizon(fixture.billing, (client, horizon) => readPromotion(client, horizon, range));
}

it('rolls invite balances forward to what accounts hold, and adds up by day', async () => {
  const report = await read();
  const { rows } = await fixture.owner.query<{ invite: bigint }>(
    'SELECT sum(invite)::bigint AS invite FROM customer_balances',
  );
  expect(report.given).toBeGreaterThan(0n);
  expect(report.clawedBack).toBeGreaterThan(0n);
  expect(report.moved).toBeGreaterThan(0n);
  expect(report).toMatchObject({
    opening: 0n,
    closing: BigInt(rows[0]!.invite),
    issued: report.given - report.clawedBack,
  });
  for (const name of ['given', 'clawedBack', 'moved', 'used'] as const)
    expect(report.days.reduce((sum, day) => sum + day[name], 0n)).toBe(report[name]);
});

it('opens where the time before it closed', async () => {
  const { closing } = await read();
  const later = new Date(Date.now() + 60_000);
  expect(await read({ from: later, to: null })).toMatchObject({
    opening: closing,
    closing,
    given: 0n,
    days: [],
  });
  expect(await read({ from: null, to: new Date(0) })).toMatchObject({ opening: 0n, closing: 0n, issued: 0n });
});
