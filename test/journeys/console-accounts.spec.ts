import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { type Person, person } from '../support/console.js';
import { awaitMail, mailTo } from '../support/mail.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { recordTopup } from '../support/topups.js';

let relay: Relay;
let support: Person;

beforeAll(async () => {
  relay = await startRelay({ MAIL_POLL_SECONDS: '0.1' });
  support = await person(relay, { roles: ['support'] });
});
afterAll(() => relay?.close());

async function draw(apiKey: string, n = 1): Promise<number> {
  const body = { model: 'vendora-imagine-image', prompt: 'a cat', n };
  const { status } = await fetch(
    `${relay.baseUrl}/v1/images/generations`,
    json(body, { authorization: `Bearer ${apiKey}` }),
  );
  return status;
}

async function keyOf(someone: Person): Promise<string> {
  const { data } = await someone.api.POST('/api/keys', { body: { name: 'a key', group: 'Vendora-Main' } });
  return data!.apiKey;
}

async function topUp(accountId: string, credits: string): Promise<void> {
  await recordTopup(relay.fixture.billing, {
    accountId,
    provider: 'manual',
    paymentId: newId(),
    ...priceCredits(parseAmount(credits), '1.3'),
    rate: '1.3',
    currency: 'USD',
  });
}

describe('names', () => {
  const read = (by: Person, of: string) => by.api.GET('/api/support/names', { params: { query: { of } } });

  it('are shown to staff for known IDs, and to nobody else', async () => {
    const customer = await person(relay);
    await customer.api.PATCH('/api/account', { body: { name: 'The south studio' } });
    const { data: key } = await customer.api.POST('/api/keys', {
      body: { name: 'shop', group: 'Vendora-Main' },
    });
    const { accountId, userId } = customer;
    const of = `account:${accountId},user:${userId},key:${key!.keyId},account:${newId()},user:${accountId}`;
    for (const role of ['support', 'finance', 'admin'] as const) {
      const { data } = await read(await person(relay, { roles: [role] }), of);
      expect(data!.items.sort((a, b) => a.kind.localeCompare(b.kind))).toEqual([
        { kind: 'account', id: accountId, name: 'The south studio' },
        { kind: 'key', id: key!.keyId, name: 'shop' },
        { kind: 'user', id: userId, name: 'The south studio' },
      ]);
    }
    expect((await read(customer, of)).response.status).toBe(403);
  });

  it('include the email address for staff, because names are freely chosen, but not for customers', async () => {
    const [named, nameless] = [
      await person(relay, { roles: ['finance'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    await named.api.PATCH('/api/account', { body: { name: 'Ada' } });
    const customer = await person(relay);
    await relay.fixture.owner.query(`UPDATE accounts SET name = '' WHERE id = ANY ($1)`, [
      [nameless.accountId, customer.accountId],
    ]);
    const of = [named, nameless, customer].map(({ userId }) => `user:${userId}`).join();
    const { data } = await read(support, of);
    expect(new Map(data!.items.map(({ id, name }) => [id, name]))).toEqual(
      new Map([
        [named.userId, `Ada · ${named.email}`],
        [nameless.userId, nameless.email],
      ]),
    );
  });

  it('are available for a hundred IDs at once, and for nothing else', async () => {
    const many = (count: number) => Array.from({ length: count }, () => `user:${newId()}`).join();
    expect((await read(support, many(100))).data).toEqual({ items: [] });
    for (const asked of [many(101), 'account:', `group:${newId()}`, '', `account:${newId()},`])
      expect((await read(support, asked)).response.status).toBe(400);
  });
});

describe('accounts to record money for', () => {
  const find = (by: Person, query: string) =>
    by.api.GET('/api/finance/accounts', { params: { query: { query } } });

  it('are found by finance, with what distinguishes them and nothing else', async () => {
    const customer = await person(relay);
    const { accountId, email } = customer;
    const name = `Foundry ${newId()}`;
    await customer.api.PATCH('/api/account', { body: { name } });
    const finance = await person(relay, { roles: ['finance'] });
    for (const query of [accountId, email, name.toLowerCase()])
      expect((await find(finance, query)).data).toEqual({ items: [{ accountId, name, email }] });
    for (const tooShort of ['', 'Fo', ' Fo '])
      expect((await find(finance, tooShort)).response.status).toBe(400);
    for (const other of [customer, support, await person(relay, { roles: ['admin'] })])
      expect((await find(other, email)).response.status).toBe(403);
  });

  it('are ten at most', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 11; count++)
      ids.push((await relay.fixture.account({ credits: '0' })).accountId);
    const name = `Crowd ${newId()}`;
    await relay.fixture.owner.query('UPDATE accounts SET name = $2 WHERE id = ANY ($1)', [ids, name]);
    const { data } = await find(await person(relay, { roles: ['finance'] }), name);
    expect(data!.items.map(({ accountId }) => accountId)).toEqual(ids.reverse().slice(0, 10));
  });
});

describe('tickets to adjust an account for', () => {
  it('are found by finance by their ID, part of their subject, and their customer', async () => {
    const customer = await person(relay);
    const { accountId, email } = customer;
    const subject = `Missing credits of ${newId()}`;
    const ticket = { kind: 'billing', subject, body: 'Please have a look.' } as const;
    const ticketId = (await customer.api.POST('/api/tickets', { body: ticket })).data!.id;
    const finance = await person(relay, { roles: ['finance'] });
    const find = (by: Person, query: string) =>
      by.api.GET('/api/finance/tickets', { params: { query: { query } } });
    for (const query of [ticketId.toUpperCase(), subject.slice(3).toUpperCase(), email, accountId])
      expect((await find(finance, query)).data!.items).toMatchObject([{ ticketId, accountId, subject }]);
    expect((await find(finance, newId())).data).toEqual({ items: [] });
    for (const other of [customer, support]) expect((await find(other, email)).response.status).toBe(403);
  });
});

const freeze = (by: Person, accountId: string, reason = 'under review') =>
  by.api.POST('/api/support/accounts/{accountId}/freeze', {
    params: { path: { accountId } },
    body: { reason },
  });
const unfreeze = (by: Person, accountId: string) =>
  by.api.POST('/api/support/accounts/{accountId}/unfreeze', {
    params: { path: { accountId } },
    body: { note: 'reviewed' },
  });

describe('an account', () => {
  it('shows its balances, and its name, threshold and limit can be changed', async () => {
    const someone = await person(relay, { credits: '1' });
    const { data } = await someone.api.PATCH('/api/account', {
      body: { name: 'Acme', lowBalanceThreshold: '0.5', monthlyLimit: '10' },
    });
    expect(data).toMatchObject({
      accountId: someone.accountId,
      name: 'Acme',
      balance: { main: '1', held: '0', invite: '0', refundPending: '0' },
      frozen: null,
      lowBalanceThreshold: '0.5',
      monthlyLimit: '10',
      spentThisMonth: '0',
    });
    expect(data?.inviteCode).toMatch(/^[a-z0-9]{10}$/);
    await draw(await keyOf(someone), 2);
    expect((await someone.api.GET('/api/account')).data?.spentThisMonth).toBe('0.04');
    const { data: cleared } = await someone.api.PATCH('/api/account', {
      body: { lowBalanceThreshold: null },
    });
    expect(cleared).toMatchObject({ name: 'Acme', lowBalanceThreshold: null, monthlyLimit: '10' });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a threshold of zero', { lowBalanceThreshold: '0' }, 'lowBalanceThreshold'],
    ['a limit below zero', { monthlyLimit: '-1' }, 'monthlyLimit'],
    ['an empty name', { name: ' ' }, 'name'],
    ['a balance', { main: '100' }, 'main'],
  ])('does not accept %s', async (_what, body, param) => {
    const { error } = await (await person(relay)).api.PATCH('/api/account', { body });
    expect(error).toMatchObject({ error: { param } });
  });
});

describe('a low balance', () => {
  it('is announced once per crossing: by mail, and to webhooks as an event', async () => {
    const someone = await person(relay, { credits: '0.1' });
    const apiKey = await keyOf(someone);
    await someone.api.PATCH('/api/account', { body: { lowBalanceThreshold: '0.05' } });
    const countAnnounced = async () =>
      (await mailTo(relay, someone.email)).filter(({ subject }) => /balance is low/.test(subject)).length;
    await draw(apiKey);
    await draw(apiKey);
    expect(await countAnnounced()).toBe(0);
    await draw(apiKey);
    const mail = await awaitMail(relay, someone.email, { subject: /balance is low/ });
    expect(mail.text).toContain('0.04 credits, below your alert level of 0.05 credits');
    await draw(apiKey);
    await topUp(someone.accountId, '0.01');
    await draw(apiKey);
    await topUp(someone.accountId, '0.1');
    await draw(apiKey, 4);
    await awaitMail(relay, someone.email, { subject: /balance is low/, count: 2 });
    expect(await countAnnounced()).toBe(2);
  });

  it('is announced once even if 50 calls cross it together', async () => {
    const someone = await person(relay, { credits: '1' });
    const apiKey = await keyOf(someone);
    await someone.api.PATCH('/api/account', { body: { lowBalanceThreshold: '0.5' } });
    await Promise.all(Array.from({ length: 50 }, () => draw(apiKey)));
    await awaitMail(relay, someone.email, { subject: /balance is low/ });
    await until('the outbox to be empty', async () => {
      const { rows } = await relay.fixture.owner.query(
        `SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM mail_outbox WHERE ended_at IS NULL) AS left`,
      );
      return Number(rows[0].left) === 0;
    });
    const subjects = (await mailTo(relay, someone.email)).map(({ subject }) => subject);
    expect(subjects.filter((subject) => /balance is low/.test(subject))).toHaveLength(1);
  });

  it('is mailed 20 times a day at most, however often the level is changed', async () => {
    const [often, once] = [await person(relay, { credits: '1' }), await person(relay, { credits: '1' })];
    const crossedAt = new Date().toISOString();
    const alert = (accountId: string) => {
      const low = { alertId: newId(), accountId, balance: '1', threshold: '2', crossedAt };
      return outboxRow(topics.balanceLow, low);
    };
    const tell = (alerts: ReturnType<typeof alert>[]) =>
      relay.fixture.billing.query(outboxInsert('billing', alerts));
    const countMails = async (recipient: string) => {
      const { rows } = await relay.fixture.owner.query<{ mails: number }>(
        `SELECT count(*)::int AS mails FROM mail_outbox WHERE recipient = $1 AND template = 'low_balance'`,
        [recipient],
      );
      return rows[0]!.mails;
    };
    await tell(Array.from({ length: 23 }, () => alert(often.accountId)));
    await until('the mails up to the limit', async () => (await countMails(often.email)) >= 20);
    // Alerts beyond the limit leave no mail. They are handled before the next one, whose mail can be waited for.
    await tell([alert(once.accountId)]);
    await until('the mail to somebody else', async () => (await countMails(once.email)) === 1);
    expect(await countMails(often.email)).toBe(20);
  });
});

describe('support', () => {
  it('finds accounts by person, ID, key and name', async () => {
    const someone = await person(relay);
    const apiKey = await keyOf(someone);
    const name = `Firma ${newId()}`;
    await someone.api.PATCH('/api/account', { body: { name } });
    const { data: keys } = await someone.api.GET('/api/keys');
    const search = async (query: string) => {
      const { data } = await support.api.GET('/api/support/accounts', { params: { query: { query } } });
      return data!.items.map(({ accountId }) => accountId);
    };
    const queries = [
      someone.email,
      someone.email.slice(0, 24).toUpperCase(),
      someone.accountId,
      someone.userId,
      keys!.items[0]!.keyId,
      apiKey,
      apiKey.slice(0, 10),
      name.toLowerCase(),
    ];
    for (const query of queries) expect(await search(query)).toContain(someone.accountId);
    expect(await search('%%%')).toEqual([]);
    expect(await search(`${name}_`)).toEqual([]);
  });

  it('sees an account as its owner does, with its keys but not their secrets', async () => {
    const someone = await person(relay, { credits: '3' });
    const apiKey = await keyOf(someone);
    const { data } = await support.api.GET('/api/support/accounts/{accountId}', {
      params: { path: { accountId: someone.accountId } },
    });
    expect(data?.account).toEqual((await someone.api.GET('/api/account')).data);
    expect(data?.person).toMatchObject({ email: someone.email, roles: ['user'] });
    expect(data?.keys).toEqual((await someone.api.GET('/api/keys')).data?.items);
    expect(JSON.stringify(data)).not.toContain(apiKey);
  });

  it('freezes an account with a reason that its owner reads, and lifts the freeze; both are logged', async () => {
    const someone = await person(relay, { credits: '1' });
    const frozen = await freeze(support, someone.accountId);
    expect(frozen.data?.frozen).toEqual({ reason: 'under review' });
    expect((await someone.api.GET('/api/account')).data?.frozen).toEqual({ reason: 'under review' });
    await freeze(support, someone.accountId);
    expect((await unfreeze(support, someone.accountId)).data?.frozen).toBeNull();
    const { rows } = await relay.fixture.owner.query(
      'SELECT actor, action, after FROM audit_log WHERE subject = $1 ORDER BY id',
      [`account:${someone.accountId}`],
    );
    expect(rows).toEqual([
      {
        actor: `user:${support.userId}`,
        action: 'account.frozen',
        after: { frozen: true, reason: 'under review' },
      },
      {
        actor: `user:${support.userId}`,
        action: 'account.unfrozen',
        after: { frozen: false, reason: null, note: 'reviewed' },
      },
    ]);
  });

  it('does not lift the freeze of a debt', async () => {
    const someone = await person(relay);
    const set = (main: string, frozen: boolean) =>
      relay.fixture.owner.query(
        `UPDATE customer_balances SET main = $2, frozen = $3, frozen_reason = 'debt' WHERE account_id = $1`,
        [someone.accountId, main, frozen],
      );
    await set('-5', true);
    const { error } = await unfreeze(support, someone.accountId);
    expect(error).toMatchObject({ error: { code: 'conflict' } });
    await set('0', true);
    expect((await unfreeze(support, someone.accountId)).response.status).toBe(200);
  });

  it('ends the sessions of an account', async () => {
    const someone = await person(relay);
    const { data } = await support.api.DELETE('/api/support/accounts/{accountId}/sessions', {
      params: { path: { accountId: someone.accountId } },
    });
    expect(data).toEqual({ revoked: 1 });
    expect((await someone.api.GET('/api/account')).response.status).toBe(401);
  });

  it('is for staff only, and only names existing accounts', async () => {
    const [user, finance] = [await person(relay), await person(relay, { roles: ['finance'] })];
    for (const by of [user, finance]) {
      expect((await freeze(by, user.accountId)).response.status).toBe(403);
      expect((await by.api.GET('/api/support/accounts')).response.status).toBe(403);
    }
    expect((await freeze(support, newId())).response.status).toBe(404);
    expect((await freeze(support, 'nonsense')).response.status).toBe(404);
    expect((await freeze(support, user.accountId, 'debt')).error).toMatchObject({
      error: { param: 'reason' },
    });
  });

  it('leaves the ledger clean', () => expectCleanLedger(relay));
});

describe('the request limits of an account', () => {
  it('are set by an administrator, seen by support, and hold from the next request on', async () => {
    const admin = await person(relay, { roles: ['admin'] });
    const someone = await person(relay, { credits: '1' });
    const params = { path: { accountId: someone.accountId } };
    const change = (
      by: Person,
      body: { requestsPerMinute?: number | null; maxConcurrentRequests?: number; tokensPerMinute?: number },
    ) => by.api.PATCH('/api/admin/accounts/{accountId}/limits', { params, body });
    expect((await change(support, { requestsPerMinute: 5 })).response.status).toBe(403);
    expect((await change(admin, { requestsPerMinute: 0 })).response.status).toBe(400);
    const set = { requestsPerMinute: 5, tokensPerMinute: 9_000, maxConcurrentRequests: 2 };
    expect((await change(admin, set)).data).toEqual({ ...set, imagesPerMinute: null });
    await change(admin, { requestsPerMinute: null });
    const { data } = await support.api.GET('/api/support/accounts/{accountId}/limits', { params });
    expect(data).toEqual({ ...set, requestsPerMinute: null, imagesPerMinute: null });
    const log = await admin.api.GET('/api/admin/audit-log', {
      params: { query: { subject: `account:${someone.accountId}` } },
    });
    expect(log.data?.items[0]).toMatchObject({
      action: 'account.limited',
      before: { requestsPerMinute: 5, maxConcurrentRequests: 2 },
      after: { requestsPerMinute: null, maxConcurrentRequests: 2 },
    });
  });
});
