import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay } from '../support/relay.js';

let relay: Relay;
let customer: Customer;
let finance: Person;

beforeAll(async () => {
  relay = await startRelay();
  customer = await relay.customer('10');
  finance = await person(relay, { roles: ['finance'] });
  const image = json({ model: 'imgmodel-4', n: 3, prompt: 'a lighthouse [[instant]]' });
  for (let count = 0; count < 3; count += 1) await customer.send('/v1/images/generations', image);
});
afterAll(() => closeClean(relay));

async function balances(query: { at?: string; by?: 'recorded' | 'effective' } = {}) {
  const { data } = await finance.api.GET('/api/finance/trial-balance', { params: { query } });
  return data!;
}

async function mainAccount() {
  const { data } = await finance.api.GET('/api/finance/ledger-accounts', {
    params: { query: { code: `customer:${customer.accountId}:` } },
  });
  expect(data!.items).toHaveLength(4);
  return data!.items.find(({ code }) => code.endsWith(':main'))!;
}

describe('the trial balance', () => {
  it('has every account that moved, and sums to 0 per commodity', async () => {
    const report = await balances();
    expect(report.balances).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          code: `customer:${customer.accountId}:main`,
          balance: '9.73',
          unit: 'CRD',
        }),
        expect.objectContaining({ code: 'usage:image', balance: '0.27', kind: 'revenue' }),
        expect.objectContaining({ code: 'deferred-revenue', balance: '13', commodity: 'PAY', unit: 'USD' }),
      ]),
    );
    expect(report.totals).toEqual(
      expect.arrayContaining([
        { commodity: 'CRD', total: '0' },
        { commodity: 'PAY', total: '0' },
      ]),
    );
  });

  it('as of a time that was reported is the same later', async () => {
    const first = await balances();
    await customer.send(
      '/v1/images/generations',
      json({ model: 'imgmodel-4', prompt: 'a boat [[instant]]' }),
    );
    const again = await balances({ at: first.at! });
    expect(again.balances).toEqual(first.balances);
    expect((await balances()).balances).not.toEqual(first.balances);
    expect((await balances({ by: 'effective', at: '2020-01-01T00:00:00Z' })).balances).toEqual([]);
  });
});

describe('the statement of a ledger account', () => {
  it('continues over its pages', async () => {
    const { id } = await mainAccount();
    const read = async (cursor?: string) => {
      const { data } = await finance.api.GET('/api/finance/ledger-accounts/{ledgerAccountId}/statement', {
        params: { path: { ledgerAccountId: id }, query: { limit: 2, cursor } },
      });
      return data!;
    };
    const first = await read();
    expect(first).toMatchObject({
      opening: '0',
      items: [{ kind: 'topup', balance: '10' }, { kind: 'hold' }],
    });
    let last = first;
    let count = first.items.length;
    while (last.nextCursor) {
      last = await read(last.nextCursor);
      count += last.items.length;
    }
    expect(count).toBeGreaterThanOrEqual(4);
    expect(last.items.at(-1)!.balance).toBe(last.closing);
  });

  it('refuses foreign cursors, and knows no other accounts', async () => {
    const { id } = await mainAccount();
    const path = `/api/finance/ledger-accounts/${id}/statement`;
    for (const key of ['1 1 5 2026-02-31 10:00:00+00', '1 1', 'x']) {
      const cursor = Buffer.from(JSON.stringify([key])).toString('base64url');
      expect((await finance.send(`${path}?cursor=${cursor}`)).status).toBe(400);
    }
    expect((await finance.send('/api/finance/ledger-accounts/999999999/statement')).status).toBe(404);
    expect((await finance.send('/api/finance/ledger-accounts/x/statement')).status).toBe(404);
  });
});

describe('an export', () => {
  it('is available as a file in each format', async () => {
    const { id, code } = await mainAccount();
    for (const [format, type, words] of [
      ['csv', 'text/csv', `,${code},10.000000000,,CRD`],
      ['jsonl', 'application/jsonl', `"account":"${code}"`],
      ['hledger', 'text/plain', `${code}  -10.000000000 CRD`],
      ['beancount', 'text/plain', '1970-01-01 open Assets:Psp:Manual USD'],
    ] as const) {
      const response = await finance.send(`/api/finance/export?format=${format}`);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(type);
      expect(response.headers.get('content-disposition')).toMatch(/attachment/);
      expect(await response.text()).toContain(words);
      const own = await finance.send(`/api/finance/export?format=${format}&ledgerAccountId=${id}`);
      expect(await own.text()).not.toContain('usage:speech');
    }
    const summary = await finance.send('/api/finance/export?format=hledger&detail=summary');
    expect(await summary.text()).toContain('customers:main');
  });

  it('is refused if it does not exist or makes no sense', async () => {
    for (const [query, status] of [
      ['format=xml', 400],
      ['', 400],
      ['format=csv&ledgerAccountId=99999999', 404],
      ['format=csv&detail=summary&ledgerAccountId=1', 400],
    ] as const) {
      expect((await finance.send(`/api/finance/export?${query}`)).status).toBe(status);
    }
    const known = 'recordedBefore=2026-01-01T00:00:00Z';
    expect((await finance.send(`/api/finance/trial-balance?${known}`)).status).toBe(400);
  });

  it('ends its snapshot when the reader leaves', async () => {
    const controller = new AbortController();
    const response = await finance.send('/api/finance/export?format=csv', { signal: controller.signal });
    expect(response.status).toBe(200);
    controller.abort();
    expect((await balances()).balances.length).toBeGreaterThan(3);
  });
});

describe('the books', () => {
  it('are for finance alone', async () => {
    const paths = ['trial-balance', 'ledger-accounts', 'ledger-accounts/1/statement', 'export?format=csv'];
    for (const roles of [['admin'], ['support'], []] as const) {
      const other = await person(relay, { roles });
      for (const path of paths) expect((await other.send(`/api/finance/${path}`)).status).toBe(403);
    }
  });
});
