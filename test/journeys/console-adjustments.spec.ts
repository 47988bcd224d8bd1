import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { inTransaction } from '#database/database.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { atOnce } from '../support/at-once.js';
import { type Person, person } from '../support/console.js';
import { closeClean, type Relay, startRelay } from '../support/relay.js';
import { recordTopup } from '../support/topups.js';

let relay: Relay;
let finance: Person;
let second: Person;
let owner: Person;
let ticketId: string;

beforeAll(async () => {
  relay = await startRelay({ ADJUSTMENT_LIMIT: '5' });
  second = await person(relay, { roles: ['finance'] });
});
// A new person for each test, because what one person pays out adds up.
beforeEach(async () => {
  finance = await person(relay, { roles: ['finance'] });
});
afterAll(() => closeClean(relay));

async function open(credits: string): Promise<void> {
  owner = await person(relay, { credits });
  ticketId = await ticketOf(owner);
}

async function ticketOf(who: Person): Promise<string> {
  const { data } = await who.api.POST('/api/tickets', {
    body: { kind: 'billing', subject: 'Wrong', body: 'Something is wrong.' },
  });
  return data!.id;
}

type Reason = 'goodwill' | 'correction' | 'migration' | 'compensation';

function adjust(amount: string, changed: { accountId?: string; requestId?: string } = {}, who = finance) {
  const reason: Reason = 'compensation';
  const body = {
    accountId: owner.accountId,
    ticketId,
    amount,
    reason,
    note: 'for the trouble',
    requestId: newId(),
  };
  return who.api.POST('/api/finance/adjustments', { body: { ...body, ...changed } });
}

async function balance(): Promise<string> {
  const { data } = await owner.api.GET('/api/account');
  return data!.balance.main;
}

function decide(approvalId: string, who: Person) {
  return who.api.POST('/api/approvals/{approvalId}/approve', { params: { path: { approvalId } }, body: {} });
}

async function register(query: { accountId?: string; ticketId?: string; reason?: Reason } = {}) {
  const { data } = await finance.api.GET('/api/finance/adjustments', { params: { query } });
  return data!.items;
}

describe('an adjustment', () => {
  it('uses the limit that billing was started with, which is stored for every program', async () => {
    const { rows } = await relay.fixture.owner.query<{ amount: bigint }>(
      `SELECT amount FROM desk_limits WHERE name = 'adjustment'`,
    );
    expect(rows).toEqual([{ amount: 5_000_000_000n }]);
  });

  it('below the limit changes the balance at once, is logged and listed', async () => {
    await open('10');
    const requestId = newId();
    const { data } = await adjust('2.5', { requestId });
    expect(data).toMatchObject({ state: 'done', approvalId: null, adjustment: { seq: 1, amount: '2.5' } });
    expect((await adjust('2.5', { requestId })).data).toEqual(data);
    expect((await adjust('2.6', { requestId })).response.status).toBe(409);
    await adjust('-1.5');
    expect(await balance()).toBe('11');
    expect(await register({ ticketId })).toMatchObject([
      { seq: 2, amount: '-1.5', requestedBy: `user:${finance.userId}`, approvedBy: null, ticketId },
      { seq: 1, amount: '2.5', reason: 'compensation', reversesId: null },
    ]);
    const { rows } = await relay.fixture.billing.query(
      `SELECT actor, action FROM audit_log WHERE account_id = $1 AND action LIKE 'account.adjusted' ORDER BY id`,
      [owner.accountId],
    );
    expect(rows).toEqual([
      { actor: `user:${finance.userId}`, action: 'account.adjusted' },
      { actor: `user:${finance.userId}`, action: 'account.adjusted' },
    ]);
    const file = await finance.send(`/api/finance/adjustments.csv?accountId=${owner.accountId}`);
    const lines = (await file.text()).trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(',-1.5,for the trouble,');
  });

  it('above the limit waits for a second person, and small ones add up to it', async () => {
    await open('10');
    await adjust('4');
    const { data } = await adjust('1.1');
    expect(data).toMatchObject({ state: 'pending', adjustment: null });
    expect(await balance()).toBe('14');
    const approvalId = data!.approvalId!;
    expect((await decide(approvalId, finance)).response.status).toBe(409);
    expect((await decide(approvalId, second)).data).toMatchObject({ state: 'approved' });
    expect(await balance()).toBe('15.1');
    const [newest] = await register({ accountId: owner.accountId });
    expect(newest).toMatchObject({
      requestedBy: `user:${finance.userId}`,
      approvedBy: `user:${second.userId}`,
    });
  });

  it('made fifty times at once takes no more than the limit and no more than the balance', async () => {
    await open('3');
    const answers = await atOnce(50, (requestId) => adjust('-0.2', { requestId }));
    const states = answers.map(({ data, response }) => data?.state ?? response.status);
    // Fifteen take everything, which is below the limit. Nothing is left for the others.
    expect(states.filter((state) => state === 'done')).toHaveLength(15);
    expect(states.filter((state) => state === 409)).toHaveLength(35);
    expect(await balance()).toBe('0');
  });

  it('of one’s own account is requested and approved by others, however small', async () => {
    await open('1');
    const own = await adjust('0.01', { accountId: finance.accountId });
    expect(own.error).toMatchObject({ error: { code: 'second_person_required' } });
    const other = await adjust('0.01', { accountId: finance.accountId }, second);
    expect(other.data).toMatchObject({ state: 'done' });
    const large = await adjust('100', { accountId: finance.accountId }, second);
    expect((await decide(large.data!.approvalId!, finance)).response.status).toBe(409);
  });

  it('is refused for what does not exist, for too much, and for people without the role finance', async () => {
    await open('1');
    expect((await adjust('-1.000000001')).response.status).toBe(409);
    expect((await adjust('1', { accountId: newId() })).response.status).toBe(400);
    const kept = ticketId;
    ticketId = newId();
    expect((await adjust('1')).error).toMatchObject({ error: { param: 'ticketId' } });
    ticketId = kept;
    for (const amount of ['0', '-0.000', '1e3', '1.0000000001'])
      expect((await adjust(amount)).response.status).toBe(400);
    for (const roles of [[], ['support'], ['admin']] as const)
      expect((await adjust('1', {}, await person(relay, { roles }))).response.status).toBe(403);
    expect(await balance()).toBe('1');
  });
});

describe('the reversal of an adjustment', () => {
  function reverse(adjustmentId: string, requestId = newId()) {
    return finance.api.POST('/api/finance/adjustments/{adjustmentId}/reverse', {
      params: { path: { adjustmentId } },
      body: { note: 'it was another account', requestId },
    });
  }

  it('is made once, even by fifty at once, and is linked', async () => {
    await open('10');
    const { adjustment } = (await adjust('2')).data!;
    const answers = await atOnce(50, (requestId) => reverse(adjustment!.id, requestId));
    const done = answers.flatMap(({ data }) => (data?.state === 'done' ? [data.adjustment!] : []));
    expect(done).toHaveLength(1);
    expect(answers.filter(({ response }) => response.status === 409)).toHaveLength(49);
    expect(done[0]).toMatchObject({ reversesId: adjustment!.id, amount: '-2', seq: 2 });
    expect(await balance()).toBe('10');
    const { data } = await finance.api.GET('/api/finance/transactions/{transactionId}', {
      params: { path: { transactionId: done[0]!.transactionId } },
    });
    expect(data!.linked).toMatchObject([{ id: adjustment!.transactionId, relation: 'reverses' }]);
    expect((await reverse(newId())).response.status).toBe(404);
  });

  it('above the limit waits for a second person', async () => {
    await open('10');
    const asked = (await adjust('8')).data!;
    await decide(asked.approvalId!, second);
    const [made] = await register({ accountId: owner.accountId });
    const { data } = await reverse(made!.id);
    expect(data).toMatchObject({ state: 'pending' });
    await decide(data!.approvalId!, second);
    expect(await balance()).toBe('10');
    expect((await register({ accountId: owner.accountId }))[1]).toMatchObject({ id: made!.id });
    expect((await register({ accountId: owner.accountId }))[1]!.reversedById).not.toBeNull();
  });
});

describe('a debt', () => {
  /** The bank takes back a payment whose credits were used already. */
  async function chargeBack(): Promise<void> {
    const { billing } = relay.fixture;
    const { accountId } = owner;
    const paid = priceCredits(parseAmount('4'), '1.3');
    const { topupId } = await recordTopup(billing, {
      ...paid,
      accountId,
      provider: 'stripe',
      paymentId: newId(),
      rate: '1.3',
      currency: 'USD',
    });
    await adjust('-3');
    const dispute = { provider: 'stripe', disputeId: newId(), topupId, accountId, state: 'lost' } as const;
    await inTransaction(billing, (client) =>
      applyDispute(client, { ...dispute, amountMinor: paid.paidMinor }, 'USD'),
    );
  }

  function giveUp(amount?: string) {
    const body = { accountId: owner.accountId, ticketId, note: 'nobody answers', requestId: newId() };
    return finance.api.POST('/api/finance/write-offs', {
      body: amount === undefined ? body : { ...body, amount },
    });
  }

  async function lastWriteOff() {
    const { accountId } = owner;
    const { data } = await finance.api.GET('/api/finance/write-offs', { params: { query: { accountId } } });
    return data!.items[0]!;
  }

  it('is reported with its dispute and age, and written off, which unfreezes the account', async () => {
    await open('0');
    await chargeBack();
    expect(await balance()).toBe('-3');
    const report = async () => (await finance.api.GET('/api/finance/reports/debts')).data!;
    const before = await report();
    const debtor = before.items.find(({ accountId }) => accountId === owner.accountId);
    expect(debtor).toMatchObject({
      main: '-3',
      frozen: true,
      reason: 'debt',
      disputes: [{ state: 'lost', credits: '4' }],
    });
    expect(Date.parse(debtor!.since!)).toBeGreaterThan(Date.now() - 900_000);
    expect(before).toMatchObject({ debt: '3', accounts: 1, frozen: 1 });
    const file = await (await finance.send('/api/finance/reports/debts.csv')).text();
    expect(file).toContain(`${owner.accountId},`);

    // What one person wrote off alone today counts towards the limit too.
    const { data } = await giveUp();
    expect(data).toMatchObject({ state: 'pending', writeOff: null });
    expect((await decide(data!.approvalId!, second)).data).toMatchObject({ state: 'approved' });
    expect(await balance()).toBe('0');
    expect((await report()).items).toEqual([]);
    const { data: listed } = await finance.api.GET('/api/finance/write-offs', {
      params: { query: { accountId: owner.accountId } },
    });
    expect(listed!.items).toMatchObject([{ amount: '3', approvedBy: `user:${second.userId}` }]);
    expect((await giveUp()).response.status).toBe(409);
  });

  it('is written off in part, once a month, and never without a debt', async () => {
    await open('0');
    expect((await giveUp()).response.status).toBe(409);
    await chargeBack();
    expect((await giveUp('3.1')).response.status).toBe(409);
    expect((await giveUp('0')).response.status).toBe(400);
    expect((await giveUp('1')).data).toMatchObject({ state: 'done', writeOff: { amount: '1' } });
    expect(await balance()).toBe('-2');
    expect((await giveUp('1')).response.status).toBe(409);
    await adjust('2');
  });

  it('comes back when the write-off is reversed, once, by two people above the limit', async () => {
    await open('0');
    await chargeBack();
    const given = await giveUp('2');
    const writeOffId = given.data?.writeOff?.id ?? (await lastWriteOff()).id;
    const back = (id: string) =>
      finance.api.POST('/api/finance/write-offs/{writeOffId}/reverse', {
        params: { path: { writeOffId: id } },
        body: { note: 'they answered', requestId: newId() },
      });
    expect((await back(newId())).response.status).toBe(404);
    // What one person wrote off today counts towards the limit too.
    const { data } = await back(writeOffId);
    expect(data).toMatchObject({ state: 'pending', writeOff: null });
    expect((await decide(data!.approvalId!, second)).data).toMatchObject({ state: 'approved' });
    expect(await balance()).toBe('-3');
    expect(await lastWriteOff()).toMatchObject({ amount: '-2', reversesId: writeOffId });
    expect((await back(writeOffId)).response.status).toBe(409);
    const file = await finance.send(`/api/finance/write-offs.csv?accountId=${owner.accountId}`);
    const [titles, ...rows] = (await file.text()).trim().split('\n');
    expect(titles).toContain('recorded_at,write_off,account,ticket,amount');
    expect(rows.map((row) => row.split(',')[4])).toEqual(['-2', '2']);
    const { data: report } = await finance.api.GET('/api/finance/reports/debts');
    const debtor = report!.items.find(({ accountId }) => accountId === owner.accountId);
    expect(debtor).toMatchObject({ main: '-3', frozen: true, writtenOff: '0' });
  });
});
