import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const DAY_MS = 86_400_000;

let relay: Relay;
let customer: Customer;
let finance: Person;
let second: Person;

beforeAll(async () => {
  relay = await startRelay({
    PERIOD_MARGIN_SECONDS: '0.01',
    // Long enough for the row of a close to be there.
    PERIOD_ANSWER_SECONDS: '10',
    ADJUSTMENT_LIMIT: '5',
    RECONCILE_GRACE_SECONDS: '240',
  });
  customer = await relay.customer('10');
  finance = await person(relay, { roles: ['finance'] });
  second = await person(relay, { roles: ['finance'] });
  const image = json({ model: 'imgmodel-4', n: 3, prompt: 'a lighthouse [[instant]]' });
  for (let count = 0; count < 3; count += 1) await customer.send('/v1/images/generations', image);
});
afterAll(() => closeClean(relay));

async function check(end: string) {
  const { data } = await finance.api.POST('/api/finance/periods/check', { body: { end } });
  return data!;
}

function askWaiver(body: { end: string; item: string; count: number }) {
  return finance.api.POST('/api/finance/periods/waivers', {
    body: { ...body, reason: 'made up for the journey', requestId: newId() },
  });
}

function decide(approvalId: string, who: Person) {
  return who.api.POST('/api/approvals/{approvalId}/approve', { params: { path: { approvalId } }, body: {} });
}

/** Two people waive what waits for people in these made-up books, so that periods close. */
async function waive(end: string, isMeant: (item: string) => boolean = () => true): Promise<void> {
  const { checklist } = await check(end);
  for (const { id: item, state, waivable, count } of checklist) {
    if (state !== 'failed' || !waivable || !isMeant(item)) continue;
    const { data } = await askWaiver({ end, item, count });
    await decide(data!.approvalId, second);
  }
}

interface Asked {
  end: string;
  requestId?: string;
}

function post(body: Asked) {
  return finance.api.POST('/api/finance/periods/close', { body: { requestId: newId(), ...body } });
}

async function endOf({ id: periodId }: { id: string }) {
  const read = async () =>
    (await finance.api.GET('/api/finance/periods/{periodId}', { params: { path: { periodId } } })).data!;
  await until('the close to end', async () => (await read()).state !== 'closing');
  const { balances: _, ...period } = await read();
  return period;
}

/** The end of the close, if its answer came before. */
async function close(body: Asked) {
  const answer = await post(body);
  return { ...answer, data: answer.data && (await endOf(answer.data)) };
}

async function closeNow() {
  const end = new Date().toISOString();
  await waive(end);
  const { data } = await close({ end });
  expect(data!.checklist.filter(({ state }) => state === 'failed')).toEqual([]);
  expect(data).toMatchObject({ state: 'closed', endsAt: end, graceSeconds: 240 });
  return data!;
}

describe('the close of a period', () => {
  it('is checked without a change, and shows what is red and can be waived', async () => {
    const { ok, checklist, graceSeconds } = await check(new Date().toISOString());
    expect(checklist.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['zero-sums', 'costs', 'recognition', 'chain', 'approvals', 'control:ledger']),
    );
    expect(checklist.find(({ id }) => id === 'zero-sums')).toMatchObject({
      state: 'ok',
      count: 0,
      waivable: false,
    });
    expect(checklist.find(({ id }) => id === 'control:ledger')).toMatchObject({
      control: 'ledger',
      waivable: false,
    });
    expect(ok).toBe(checklist.every(({ state }) => state !== 'failed'));
    expect(graceSeconds).toBe(240);
    const { data } = await finance.api.GET('/api/finance/periods');
    expect(data!.items).toEqual([]);
  });

  it('fixes the books permanently: late facts are posted in the open period, with a link', async () => {
    const period = await closeNow();
    const periodId = period.id;
    const shown = (
      await finance.api.GET('/api/finance/periods/{periodId}', { params: { path: { periodId } } })
    ).data!;
    expect(shown.balances).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'usage:image', balance: '0.27', unit: 'CRD' }),
        expect.objectContaining({ code: `customer:${customer.accountId}:main`, balance: '9.73' }),
      ]),
    );

    // As if the bank had received it this morning.
    const valueDate = new Date().toISOString().slice(0, 10);
    const paymentId = newId();
    const transfer = { accountId: customer.accountId, paymentId, paid: '13', currency: 'USD', valueDate };
    await finance.api.POST('/api/finance/topups', {
      body: { ...transfer, reason: 'on the statement', requestId: newId() },
    });
    const late = await finance.api.GET('/api/finance/periods/{periodId}/late-postings', {
      params: { path: { periodId } },
    });
    expect(late.data!.items).toMatchObject([
      {
        kind: 'topup',
        reference: `topup:manual:${paymentId}`,
        accountId: customer.accountId,
        happenedAt: `${valueDate}T00:00:00.000Z`,
      },
    ]);
    const { transactionId } = late.data!.items[0]!;
    const transaction = await finance.api.GET('/api/finance/transactions/{transactionId}', {
      params: { path: { transactionId } },
    });
    expect(transaction.data).toMatchObject({ late: { periodId } });
    expect(Date.parse(transaction.data!.effectiveAt)).toBeGreaterThanOrEqual(Date.parse(period.endsAt));

    const { data: again } = await finance.api.GET('/api/finance/trial-balance', {
      params: { query: { by: 'effective', at: period.endsAt, recordedBefore: period.recordedBefore! } },
    });
    expect(again!.balances.filter(({ balance }) => balance !== '0')).toEqual(shown.balances);
    const query = new URLSearchParams({
      by: 'effective',
      at: period.endsAt,
      recordedBefore: period.recordedBefore!,
    });
    const file = await (await finance.send(`/api/finance/trial-balance.csv?${query.toString()}`)).text();
    expect(file).toMatch(/^account,kind,unit,balance\n/);
    expect(file).toContain('usage:image,revenue,CRD,0.27');
    const listed = (await finance.api.GET('/api/finance/periods')).data!.items;
    expect(listed).toMatchObject([{ id: periodId, latePostings: 1, closedBy: `user:${finance.userId}` }]);
  });

  it('provides its trial balance as a file', async () => {
    const [period] = (
      await finance.api.GET('/api/finance/periods', { params: { query: { state: 'closed' } } })
    ).data!.items;
    const answer = await finance.send(`/api/finance/periods/${period!.id}/trial-balance.csv`);
    expect(answer.headers.get('content-type')).toContain('text/csv');
    const text = await answer.text();
    expect(text.split('\n')[0]).toBe('account,kind,unit,balance');
    expect(text).toContain('usage:image,revenue,CRD,0.27');
  });

  it('provides its journal and statements, which add up to that trial balance', async () => {
    const closed = (await finance.api.GET('/api/finance/periods', { params: { query: { state: 'closed' } } }))
      .data!.items;
    const { id: period, endsAt, recordedBefore } = closed[0]!;
    const main = `customer:${customer.accountId}:main`;
    const accounts = await finance.api.GET('/api/finance/ledger-accounts', {
      params: { query: { code: main } },
    });
    const { id: ledgerAccountId } = accounts.data!.items[0]!;
    const read = (query: Record<string, string>) =>
      finance.api.GET('/api/finance/ledger-accounts/{ledgerAccountId}/statement', {
        params: { path: { ledgerAccountId }, query },
      });
    const statement = (await read({ period })).data!;
    expect(statement).toMatchObject({ by: 'effective', to: endsAt, recordedBefore, closing: '9.73' });
    const now = (await read({ by: 'effective' })).data!;
    expect(now).toMatchObject({ by: 'effective', closing: '19.73' });
    expect(now.items.length).toBe(statement.items.length + 1);
    const answer = await finance.send(`/api/finance/export?format=csv&period=${period}`);
    const rows = (await answer.text()).split('\r\n').map((line) => line.split(','));
    const balances = rows.filter(([record, , , , , , , , code]) => record === 'balance' && code === main);
    expect(balances.at(-1)?.[10]).toBe('9.730000000');
    expect((await finance.send(`/api/finance/export?format=csv&period=${period}&by=effective`)).status).toBe(
      400,
    );
    expect((await finance.send('/api/finance/export?format=csv&period=999999')).status).toBe(404);
    expect((await read({ recordedBefore: recordedBefore! })).response.status).toBe(400);
  });

  it('accepts only a sensible value date', async () => {
    const transfer = { accountId: customer.accountId, paid: '13', currency: 'USD', reason: 'by mistake' };
    for (const days of [-3, 400]) {
      const valueDate = new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
      const { response, error } = await finance.api.POST('/api/finance/topups', {
        body: { ...transfer, valueDate, paymentId: newId(), requestId: newId() },
      });
      expect(response.status).toBe(400);
      expect(error).toMatchObject({ error: { param: 'valueDate' } });
    }
  });

  it('answers the same request the same way, and refuses impossible ones', async () => {
    const before = await closeNow();
    const end = before.endsAt;
    const again = await close({ end, requestId: newId() });
    expect(again.response.status).toBe(409);
    const future = new Date(Date.now() + DAY_MS).toISOString();
    expect((await close({ end: future })).response.status).toBe(400);
    const other = await person(relay, { roles: ['admin', 'support'] });
    for (const path of ['/api/finance/periods', `/api/finance/periods/${before.id}`])
      expect((await other.send(path)).status).toBe(403);
    const missing = await finance.send('/api/finance/periods/999999');
    expect(missing.status).toBe(404);
  });

  it('is abandoned if something is red, and says so', async () => {
    const { ticketId } = await ticket();
    await finance.api.POST('/api/finance/adjustments', {
      body: {
        accountId: customer.accountId,
        ticketId,
        amount: '50',
        reason: 'goodwill',
        note: 'a large one',
        requestId: newId(),
      },
    });
    const end = new Date().toISOString();
    await waive(end, (item) => item !== 'approvals');
    const { data } = await close({ end });
    expect(data).toMatchObject({ state: 'abandoned', balancesHash: null });
    expect(data!.abandonedReason).toContain('approvals');
    expect(data!.checklist.find(({ id }) => id === 'approvals')).toMatchObject({ state: 'failed', count: 1 });
    const waived = await closeNow();
    expect(waived.checklist.find(({ id }) => id === 'approvals')).toMatchObject({ state: 'waived' });
    expect(waived.waivers).toContainEqual({
      item: 'approvals',
      count: 1,
      reason: 'made up for the journey',
      requestedBy: `user:${finance.userId}`,
      approvedBy: `user:${second.userId}`,
    });
  });

  it('leaves something open only if two people agree, and never a contradiction', async () => {
    const end = new Date().toISOString();
    const never = await askWaiver({ end, item: 'control:ledger', count: 1 });
    expect(never.response.status).toBe(400);
    expect(never.error).toMatchObject({ error: { param: 'item' } });
    const { data } = await askWaiver({ end, item: 'approvals', count: 5 });
    expect(data).toMatchObject({ state: 'pending' });
    expect((await decide(data!.approvalId, finance)).response.status).toBe(409);
    const listed = async () =>
      (await finance.api.GET('/api/finance/periods/waivers', { params: { query: { end } } })).data!.items;
    expect(await listed()).toEqual([]);
    expect((await decide(data!.approvalId, second)).response.status).toBe(200);
    expect(await listed()).toMatchObject([
      { item: 'approvals', count: 5, end, approvedBy: `user:${second.userId}` },
    ]);
    const closed = (await closeNow()).endsAt;
    expect((await askWaiver({ end: closed, item: 'approvals', count: 5 })).response.status).toBe(409);
  });

  it('happens once, even if many request it at once', async () => {
    const end = new Date().toISOString();
    await waive(end);
    const answers = await Promise.all(Array.from({ length: 50 }, () => close({ end })));
    const statuses = answers.map(({ response }) => response.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
  });

  it('continues after its answer if it takes long', async () => {
    const end = new Date().toISOString();
    await waive(end);
    const { owner } = relay.fixture;
    await owner.query(`CREATE FUNCTION wait_for_the_journey() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE UPDATE ON ledger_periods FOR EACH ROW EXECUTE FUNCTION wait_for_the_journey()`);
    const slow = await owner.connect();
    await slow.query('SELECT pg_advisory_lock(42)');
    const { data } = await post({ end });
    expect(data).toMatchObject({ state: 'closing', endedAt: null });
    await slow.query('SELECT pg_advisory_unlock(42)');
    slow.release();
    expect(await endOf(data!)).toMatchObject({ state: 'closed', progress: null });
  });
});

async function ticket(): Promise<{ ticketId: string }> {
  const owner = await person(relay);
  const { data } = await owner.api.POST('/api/tickets', {
    body: { kind: 'billing', subject: 'Wrong', body: 'Something is wrong.' },
  });
  return { ticketId: data!.id };
}
