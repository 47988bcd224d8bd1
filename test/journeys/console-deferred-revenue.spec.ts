import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let customer: Customer;
let finance: Person;

beforeAll(async () => {
  relay = await startRelay({ RECOGNITION_SECONDS: '0.1' });
  customer = await relay.customer('10');
  finance = await person(relay, { roles: ['finance'] });
});
afterAll(() => closeClean(relay));

async function report(query: { from?: string; to?: string } = {}) {
  const { data } = await finance.api.GET('/api/finance/reports/deferred-revenue', { params: { query } });
  return data!;
}

describe('deferred revenue', () => {
  it('falls by the payment for used credits, in the background, and agrees with the ledger and the lots', async () => {
    expect(await report()).toMatchObject({ opening: '0', closing: '13', agrees: true });
    const body = json({ model: 'imgmodel-4', n: 2, prompt: 'a lighthouse [[instant]]' });
    expect((await customer.send('/v1/images/generations', body)).status).toBe(200);

    await until('the revenue to be recognised', async () => (await report()).closing !== '13');
    const { ledgerAccountId, ...shown } = await report();
    expect(shown).toMatchObject({
      currency: 'USD',
      opening: '0',
      closing: '12.93',
      agrees: true,
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

  it('links to its lots, which add up to it', async () => {
    const lots = (query: { accountId?: string; left?: 'true'; to?: string }) =>
      finance.api.GET('/api/finance/reports/deferred-revenue/lots', { params: { query } });
    const { data } = await lots({ accountId: customer.accountId, left: 'true' });
    expect(data).toMatchObject({
      currency: 'USD',
      nextCursor: null,
      items: [
        {
          accountId: customer.accountId,
          bought: '10',
          paid: '13',
          consumed: '0.06',
          restored: '0',
          refunded: '0',
          chargedBack: '0',
          left: '9.94',
          recognised: '0.07',
          deferred: '12.93',
        },
      ],
    });
    const { transactionId, topupId } = data!.items[0]!;
    const transaction = await finance.api.GET('/api/finance/transactions/{transactionId}', {
      params: { path: { transactionId } },
    });
    expect(transaction.data).toMatchObject({ kind: 'topup' });
    expect((await lots({ to: '2020-01-01' })).data!.items).toEqual([]);
    const file = await (await finance.send('/api/finance/reports/deferred-revenue/lots.csv')).text();
    const [head, ...rows] = file.trim().split('\n');
    expect(head).toMatch(/^lot,account,topup,transaction,bought_at,bought,paid,consumed,/);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(topupId);
    expect((await finance.send('/api/finance/reports/deferred-revenue/lots?cursor=x')).status).toBe(400);
  });

  it('is available as a file, like the other reports', async () => {
    const read = async (name: string) =>
      (await (await finance.send(`/api/finance/reports/${name}.csv`)).text()).trim().split('\n');
    expect(await read('deferred-revenue')).toEqual([
      'item,family,amount,transactions',
      'opening,,0,',
      'topups,,13,1',
      'recognised,image,-0.07,1',
      'closing,,12.93,',
      'lots_paid,,13,',
      'lots_recognised,,-0.07,',
      'lots_pending_refunds,,0,',
      'lots_deferred,,12.93,',
    ]);
    expect(await read('refunds')).toEqual([
      'day,failures,refunded,outstanding,amount,outstanding_amount,p50_ms,p95_ms,max_ms',
    ]);
    expect(await read('promotion')).toEqual([
      'day,given,clawed_back,moved,used,invite_balances',
      'opening,,,,,0',
      'closing,,,,,0',
    ]);
    const [head, first] = await read('price-changes');
    expect(head).toMatch(/^effective_from,until,kind,version,subject,before,value,/);
    expect(first?.split(',')).toHaveLength(head!.split(',').length);
  });

  it('is refused to others, and for days that end before they begin', async () => {
    const address = '/api/finance/reports/deferred-revenue';
    const admin = await person(relay, { roles: ['admin'] });
    for (const name of [
      'deferred-revenue.csv',
      'deferred-revenue/lots',
      'price-changes.csv',
      'promotion.csv',
    ])
      expect((await admin.send(`/api/finance/reports/${name}`)).status).toBe(403);
    expect((await admin.send(address)).status).toBe(403);
    expect((await finance.send(`${address}?from=2026-02-01&to=2026-01-01`)).status).toBe(400);
    expect((await finance.send(`${address}?from=yesterday`)).status).toBe(400);
  });
});
