import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accrueAll } from '#finance/costs/costs.fixture.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let customer: Customer;
let finance: Person;
let admin: Person;

beforeAll(async () => {
  // The loop posts the costs once at the start; after that, the test does.
  relay = await startRelay({ COST_ACCRUAL_SECONDS: '3600' });
  customer = await relay.customer('10');
  [finance, admin] = await Promise.all([
    person(relay, { roles: ['finance'] }),
    person(relay, { roles: ['admin'] }),
  ]);
});
afterAll(() => closeClean(relay));

const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function image(model: string, n: number): Promise<void> {
  const body = json({ model, n, prompt: 'a lighthouse [[instant]]' });
  expect((await customer.send('/v1/images/generations', body)).status).toBe(200);
}

/** Waits until every charge has ended and its cost is posted. */
async function postCosts(): Promise<void> {
  await until('every charge to end', async () => {
    const { rows } = await relay.fixture.billing.query(`SELECT FROM charges WHERE state = 'held'`);
    return rows.length === 0;
  });
  await accrueAll(relay.fixture.billing);
}

async function revenue(query: { by?: string; from?: string; to?: string; limit?: number } = {}) {
  const { data } = await finance.api.GET('/api/finance/reports/revenue', { params: { query } });
  return data!;
}

function setCost(body: object) {
  return finance.send('/api/finance/upstream-costs', json({ reason: 'the price list', ...body }));
}

describe('upstream costs', () => {
  it('are in a table of versions, which finance changes and admins read', async () => {
    const { data } = await admin.api.GET('/api/finance/upstream-costs', {
      params: { query: { channel: 'sandbox', model: 'imgmodel-4', inForce: 'true' } },
    });
    expect(data!.items).toMatchObject([{ cost: { unitCost: '0.018' }, effectiveFrom: null, until: null }]);

    const requestId = newId();
    const wanted = { channel: 'sandbox', model: 'imgmodel-4', cost: { unitCost: '0.02' }, requestId };
    const first = await setCost(wanted);
    expect(first.status).toBe(201);
    const version = (await first.json()) as { id: string };
    expect(await (await setCost(wanted)).json()).toEqual(version);
    expect((await setCost({ ...wanted, cost: { unitCost: '0.03' } })).status).toBe(409);
    expect((await admin.send('/api/finance/upstream-costs', json({ ...wanted, reason: 'x' }))).status).toBe(
      403,
    );

    const all = await finance.api.GET('/api/finance/upstream-costs', {
      params: { query: { model: 'imgmodel-4', limit: 1 } },
    });
    expect(all.data).toMatchObject({ items: [{ id: version.id, actor: `user:${finance.userId}` }] });
    const cursor = all.data!.nextCursor!;
    const rest = await finance.api.GET('/api/finance/upstream-costs', {
      params: { query: { model: 'imgmodel-4', cursor } },
    });
    expect(rest.data!.items.map(({ cost }) => cost)).toEqual([{ unitCost: '0.018' }]);
    const { rows } = await relay.fixture.billing.query(
      `SELECT FROM audit_log WHERE action = 'upstream-cost.set' AND actor = $1`,
      [`user:${finance.userId}`],
    );
    expect(rows).toHaveLength(1);
  });

  it('name the wrong field', async () => {
    const good = { channel: 'sandbox', model: 'imgmodel-4', cost: { unitCost: '0.02' } };
    for (const [fault, field] of [
      [{ channel: 'nowhere' }, 'channel'],
      [{ model: 'nothing' }, 'model'],
      [{ cost: { input: '1', cachedInput: '1', output: '1' } }, 'cost'],
      [{ cost: { unitCost: '-1' } }, 'cost'],
      [{ effectiveFrom: '2020-01-01T00:00:00Z' }, 'effectiveFrom'],
      [{ billsFailures: 'yes' }, 'billsFailures'],
    ] as const) {
      const response = await setCost({ ...good, ...fault, requestId: newId() });
      expect(response.status).toBe(400);
      expect(JSON.stringify(await response.json())).toContain(field);
    }
  });

  it('come from a file, all of its rows or none', async () => {
    const send = (text: string, more = '') =>
      finance.send(`/api/finance/upstream-costs/import?requestId=${newId()}${more}`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: text,
      });
    const head = 'channel,model,unit_cost,bills_failures\n';
    const good = `${head}sandbox,vendora-speech,0.01,yes\nsandbox,imgmodel-4,0.020,no\n`;
    const dry = await send(good, '&dryRun=true');
    expect(await dry.json()).toMatchObject({
      dryRun: true,
      same: 1,
      changed: [{ line: 2, model: 'vendora-speech' }],
    });
    const bad = await send(`${good}sandbox,nothing,1,no\nsandbox,imgmodel-4,2,no\nx,imgmodel-4,,no\n`);
    const { refused } = (await bad.json()) as { refused: { line: number }[] };
    expect(refused.map(({ line }) => line)).toEqual([4, 5, 6]);
    expect(await (await send(good)).json()).toMatchObject({ dryRun: false, refused: [] });
    expect(await (await send(good)).json()).toMatchObject({ same: 2, changed: [] });
    expect((await send('colour,size\n1,2\n')).status).toBe(400);
  });
});

describe('the revenue report', () => {
  it('shows revenue and cost by anything, and agrees with the ledger', async () => {
    await image('imgmodel-4', 3);
    await image('vendora-imagine-image', 2);
    await postCosts();
    const byModel = await revenue({ by: 'model,channel' });
    expect(byModel).toMatchObject({ agrees: true, truncated: false, unknownCosts: '0', billDifference: '0' });
    expect(byModel.rows).toEqual([
      expect.objectContaining({
        model: 'imgmodel-4',
        channel: 'sandbox',
        charges: '1',
        units: '3',
        gross: '0.09',
        refunds: '0',
        averagePrice: '0.03',
        cost: '0.06',
        costPerCredit: '0.666666666',
      }),
      expect.objectContaining({ model: 'vendora-imagine-image', gross: '0.04', cost: '0.024' }),
    ]);
    expect(byModel.totals).toMatchObject({ gross: '0.13', cost: '0.084', costPerCredit: '0.646153846' });
    expect(byModel).toMatchObject({ currency: 'USD', recognised: expect.stringMatching(/^\d+\.\d\d$/) });
    expect(byModel.ledger).toMatchObject({ gross: '0.13', cost: '0.084' });
    expect((await revenue({ by: 'account,day,group,family', limit: 1 })).rows).toMatchObject([
      {
        account: customer.accountId,
        day: daysFromNow(0),
        group: 'Vendora-Main',
        family: 'image',
        gross: '0.13',
      },
    ]);
    expect((await revenue({ by: '' })).rows).toHaveLength(1);
    expect(await revenue({ from: daysFromNow(-9), to: daysFromNow(-1) })).toMatchObject({
      rows: [],
      agrees: true,
    });
  });

  it('is available as a file', async () => {
    const response = await finance.send('/api/finance/reports/revenue.csv?by=model');
    expect(response.headers.get('content-type')).toMatch('text/csv');
    const [head, first] = (await response.text()).split('\n');
    expect(head).toBe(
      'model,charges,failed_charges,units,gross,refunds,net,average_price,cost,failed_cost,cost_per_credit',
    );
    expect(first).toMatch(/^imgmodel-4,1,0,3,0\.09,0,0\.09,0\.03,0\.06,0,0\.666666666/);
  });

  it('refuses what makes no sense', async () => {
    for (const query of [
      'by=colour',
      'by=day,day',
      'from=2026-13-01',
      'from=2026-02-01&to=2026-01-01',
      'limit=0',
    ]) {
      expect((await finance.send(`/api/finance/reports/revenue?${query}`)).status).toBe(400);
    }
  });

  it('shows finance what one charge cost us, but not its customer', async () => {
    const { rows } = await relay.fixture.billing.query<{ id: string }>(
      `SELECT id FROM charges WHERE model_id = 'imgmodel-4' AND state = 'settled'`,
    );
    const path = { chargeId: rows[0]!.id };
    const { data } = await finance.api.GET('/api/finance/charges/{chargeId}', { params: { path } });
    expect(data).toMatchObject({
      gross: '0.09',
      cost: '0.06',
      costState: 'known',
      channel: 'sandbox',
      costs: [{ outcome: 'delivered', units: '3', cost: '0.06' }],
    });
    expect(data!.transactions.map(({ kind }) => kind)).toEqual(['hold', 'settle', 'upstream_cost']);
    const owner = await person(relay, { accountId: customer.accountId });
    const shown = await (await owner.send(`/api/charges/${path.chargeId}`)).text();
    expect(shown).toContain('0.09');
    expect(shown).not.toMatch(/cost|margin|upstream_cost/i);
    expect((await finance.send(`/api/finance/charges/${newId()}`)).status).toBe(404);
  });
});

describe('upstream bills', () => {
  const bill = (more: object = {}) =>
    finance.send(
      '/api/finance/upstream-bills',
      json({
        channel: 'sandbox',
        number: 'INV-1',
        from: daysFromNow(-30),
        to: daysFromNow(0),
        amount: '1.5',
        requestId: newId(),
        ...more,
      }),
    );

  it('are recorded once, for days that have ended, and compared with the costs', async () => {
    const first = await bill();
    expect(first.status).toBe(201);
    expect(await first.json()).toMatchObject({ amount: '1.5', accrued: '0', difference: '1.5' });
    expect((await bill()).status).toBe(201);
    expect((await bill({ amount: '2' })).status).toBe(409);
    for (const fault of [
      { to: daysFromNow(2), number: 'INV-2' },
      { channel: 'nowhere' },
      { from: daysFromNow(0), number: 'INV-2' },
      { amount: 'much' },
    ]) {
      expect((await bill(fault)).status).toBe(400);
    }
    const list = await finance.api.GET('/api/finance/upstream-bills', { params: { query: {} } });
    expect(list.data!.items).toMatchObject([{ number: 'INV-1', channel: 'sandbox' }]);
    const { data } = await finance.api.GET('/api/finance/reports/upstream-bills', {});
    expect(data!.channels).toEqual([
      expect.objectContaining({
        channel: 'sandbox',
        accrued: '0.084',
        covered: '0',
        open: '0.084',
        billed: '1.5',
        difference: '1.5',
        bills: 1,
        billedTo: daysFromNow(0),
      }),
    ]);
    const report = await revenue({ from: daysFromNow(-2), to: daysFromNow(1) });
    expect(report).toMatchObject({ agrees: true, billDifference: '1.5', ledger: { cost: '1.584' } });
  });
});

describe('the price change register', () => {
  it('says who changed what, and what each version earned', async () => {
    const change = { kind: 'price', model: 'imgmodel-4', price: { unitPrice: '0.05' } };
    const proposed = await admin.send(
      '/api/admin/price-proposals',
      json({ changes: [change], note: 'dearer' }),
    );
    const proposal = (await proposed.json()) as { id: string; revision: number };
    const confirm = json({ revision: proposal.revision });
    const colleague = await person(relay, { roles: ['admin'] });
    await colleague.send(`/api/admin/price-proposals/${proposal.id}/confirm`, confirm);
    await until('the new price', async () => {
      await image('imgmodel-4', 1);
      const { rows } = await relay.fixture.billing.query(`SELECT FROM charges WHERE amount = 50000000`);
      return rows.length > 0;
    });
    await postCosts();
    const { data } = await finance.api.GET('/api/finance/reports/price-changes', {
      params: { query: { kind: 'price', subject: 'imgmodel-4' } },
    });
    expect(data!.versions).toMatchObject([
      {
        value: '0.05',
        before: '0.03',
        charges: '1',
        gross: '0.05',
        until: null,
        proposal: { id: proposal.id, note: 'dearer', proposedBy: `user:${admin.userId}` },
      },
      { value: '0.03', before: null, effectiveFrom: null, proposal: null },
    ]);
    expect((await revenue({})).agrees).toBe(true);
  });
});

describe('costs and revenue', () => {
  it('are for finance alone', async () => {
    const support = await person(relay, { roles: ['support'] });
    for (const path of [
      'upstream-costs',
      'upstream-bills',
      'reports/upstream-bills',
      `charges/${newId()}`,
      'reports/revenue',
      'reports/revenue.csv',
      'reports/price-changes',
    ]) {
      expect((await support.send(`/api/finance/${path}`)).status).toBe(403);
    }
    expect((await admin.send('/api/finance/reports/revenue')).status).toBe(403);
  });
});
