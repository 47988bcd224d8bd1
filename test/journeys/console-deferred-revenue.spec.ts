import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, person } from '../support/console.js';
import { type Customer, expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let customer: Customer;
let finance: Person;

beforeAll(async () => {
  relay = await startRelay({ RECOGNITION_SECONDS: '0.1' });
  customer = await relay.customer('10');
  finance = await person(relay, { roles: ['finance'] });
}, 60_000);
afterAll(async () => {
  if (relay) await expectCleanLedger(relay);
  await relay?.close();
});

async function report(query: { from?: string; to?: string } = {}) {
  const { data } = await finance.api.GET('/api/finance/reports/deferred-revenue', { params: { query } });
  return data!;
}

describe('deferred revenue', () => {
  it('falls by what was paid for used credit, in the background, and ties to the ledger and the lots', async () => {
    expect(await report()).toMatchObject({ opening: '0', closing: '13', agrees: true });
    const body = json({ model: 'imgmodel-4', n: 2, prompt: 'a lighthouse [[instant]]' });
    expect((await customer.send('/v1/images/generations', body)).status).toBe(200);

    await until('the revenue to be recognised', async () => (await report()).closing !== '13');
    const { ledgerAccountId, ...told } = await report();
    expect(told).toMatchObject({
      ...{ currency: 'USD', opening: '0', closing: '12.93', agrees: true },
      lines: [
        { move: 'topups', family: null, amount: '13', transactions: '1' },
        { move: 'recognised', family: 'image', amount: '-0.07', transactions: '1' },
      ],
      lots: { paid: '13', recognised: '0.07', pendingRefunds: '0', deferred: '12.93', unusedCredits: '9.94' },
    });
    const { data } = await finance.api.GET('/api/finance/ledger-accounts/{ledgerAccountId}/statement', {
      params: { path: { ledgerAccountId } },
    });
    expect(data).toMatchObject({ closing: '12.93', items: [{ kind: 'topup' }, { kind: 'recognition' }] });
  });

  it('is refused to others, and for days that end before they begin', async () => {
    const address = '/api/finance/reports/deferred-revenue';
    const admin = await person(relay, { roles: ['admin'] });
    expect((await admin.send(address)).status).toBe(403);
    expect((await finance.send(`${address}?from=2026-02-01&to=2026-01-01`)).status).toBe(400);
    expect((await finance.send(`${address}?from=yesterday`)).status).toBe(400);
  });
});
