import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { AttemptsStore } from '#identity/attempts.store.js';
import { mailSubjects } from '#mail/mail.outbox.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { adjust, reverseAdjustment } from '#ledger/postings/adjustment.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { setFreeze } from '#ledger/postings/freeze.js';
import { transferInvite } from '#ledger/postings/invite-transfer.js';
import { creditTopup } from '#ledger/postings/topup.js';
import { writeOff } from '#ledger/postings/write-off.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { applyDisputeFact } from '#payments/facts/dispute.fact.js';
import { priceCredits } from '#topup/conversion.js';
import { tablesWith } from '../../test/support/everywhere.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { meetAt } from '../../test/support/race.js';
import { cancelDeletion, findDeletion, requestDeletion } from './deletion-request.js';
import { DeletionRunner } from './deletion-runner.js';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

const runnerOn = (pool: pg.Pool, retryMs = 0) => new DeletionRunner({ pool, fileLifeMs: 0, retryMs });

interface Someone {
  accountId: string;
  keyId: string;
  userId: string;
  email: string;
  /** A word in everything that they wrote, and nowhere else. */
  word: string;
}

/** A customer who has left something everywhere. */
async function someone(credits = '3'): Promise<Someone> {
  const { accountId, keyId } = await fixture.account({ credits });
  const [userId, id] = [newId(), newId()];
  const word = `word-${userId}`;
  const email = `${userId}@example.com`;
  const { owner } = fixture;
  const run = (text: string, ...values: unknown[]) => owner.query(text, values);
  await run('UPDATE accounts SET name = $2 WHERE id = $1', accountId, word);
  await run(
    `INSERT INTO users (id, account_id, email, password_hash, totp_secret, totp_confirmed_at) VALUES ($1, $2, $3, $4, $4, now())`,
    userId,
    accountId,
    email,
    word,
  );
  await run(
    `INSERT INTO sessions (id, user_id, token_hash, csrf_token, ip, user_agent, expires_at)
     VALUES ($1, $2, sha256(convert_to($1::text, 'UTF8')), $3, '192.0.2.1', $3, now() + interval '1 day')`,
    id,
    userId,
    word,
  );
  await run(`UPDATE api_keys SET name = $2, allowed_ips = '{192.0.2.1}' WHERE id = $1`, keyId, word);
  await run(
    `INSERT INTO tickets (id, account_id, opened_by, kind, subject) VALUES ($1, $2, $3, 'question', $4)`,
    id,
    accountId,
    userId,
    word,
  );
  await run(
    `INSERT INTO ticket_messages (id, ticket_id, kind, author_id, from_staff, body) VALUES ($1, $1, 'message', $2, false, $3)`,
    id,
    userId,
    `${word} ${email}`,
  );
  await run(
    `INSERT INTO webhook_endpoints (id, account_id, url, description, events, secret)
     VALUES ($1, $2, 'https://example.com/' || $3, $3, '{charge.settled}', $3)`,
    id,
    accountId,
    word,
  );
  await run(
    `INSERT INTO webhook_deliveries (id, endpoint_id, account_id, event_id, event_type, body, give_up_at)
     VALUES ($1, $1, $2, $1, 'charge.settled', $3, now())`,
    id,
    accountId,
    word,
  );
  await run(
    `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
       error_message, ended_at, deadline)
     VALUES ($1, 'video', $2, $3, $1, 'openai', 'failed', 'm', 'm', jsonb_build_object('prompt', $4::text), 5, $4, now(), now())`,
    id,
    accountId,
    keyId,
    word,
  );
  await run(
    `INSERT INTO idempotency_keys (key_id, idempotency_key, content_hash, charge_id, state, lease_until, status, answer, expires_at)
     VALUES ($1, $2::text, sha256('x'), $2::text, 'answered', now(), 200, convert_to($2::text, 'UTF8'), now() + interval '1 day')`,
    keyId,
    word,
  );
  await run(
    'INSERT INTO billing_details (account_id, name, address, tax_id) VALUES ($1, $2, $2, $2)',
    accountId,
    word,
  );
  await run('INSERT INTO account_names (account_id, name) VALUES ($1, $2)', accountId, word);
  // The previous address, which now only the mail about its change contains.
  await run(
    `INSERT INTO mail_outbox (template, recipient, details, ended_at)
     VALUES ('email_changed', $1, jsonb_build_object('email', $2::text), now()), ('security_notice', $2, '{}', NULL)`,
    `before-${email}`,
    email,
  );
  await countAttempts(email);
  return { accountId, keyId, userId, email, word };
}

/** Counts an attempt to sign in and a request of each mail, of which there may be one. */
const countAttempts = (email: string) =>
  new AttemptsStore(fixture.billing).count(
    ...[`sign-in email ${email}`, ...mailSubjects(email)].map((subject) => ({
      subject,
      limit: { most: 1, windowMs: 3_600_000 },
    })),
  );

const ask = (
  { accountId, userId }: Pick<Someone, 'accountId' | 'userId'>,
  { forfeits = true, graceMs = 0 } = {},
) =>
  inTransaction(fixture.billing, (client) =>
    requestDeletion(client, {
      accountId,
      requestedBy: `user:${userId}`,
      ticketId: null,
      forfeits,
      graceMs,
      requestId: newId(),
    }),
  );

const makeDue = () => fixture.owner.query('UPDATE deletion_requests SET next_try_at = now()');

async function runAll(pool = fixture.billing): Promise<void> {
  while (await runnerOn(pool).round());
}

const reward = async (inviter: Someone) => {
  const invitee = await fixture.account({ credits: '0' });
  await fixture.owner.query(
    'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
    [invitee.accountId, inviter.accountId],
  );
  return () => topUp(invitee.accountId, '10');
};

const topUp = (accountId: string, credits: string) =>
  inTransaction(fixture.billing, (client) =>
    creditTopup(client, {
      ...priceCredits(parseAmount(credits), '1.3'),
      accountId,
      provider: 'manual',
      paymentId: newId(),
      rate: '1.3',
      currency: 'USD',
    }),
  );

const invite = (invitee: Someone, inviter: Someone) =>
  fixture.owner.query('INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)', [
    invitee.accountId,
    inviter.accountId,
  ]);

/** Tops up, and returns how the bank disputes that payment. */
async function disputedTopUp(accountId: string, credits: string) {
  const { topupId } = await topUp(accountId, credits);
  const { paidMinor: amountMinor } = priceCredits(parseAmount(credits), '1.3');
  const id = `dp_${newId()}`;
  const about = { provider: 'manual' as const, disputeId: id, topupId, accountId, amountMinor };
  const report = (state: 'open' | 'won' | 'lost') =>
    inTransaction(fixture.billing, (client) => applyDispute(client, { ...about, state }, 'USD'));
  return Object.assign(report, { id, topupId, amountMinor });
}

/** A provider's event says that a dispute was won. */
function won({ id: disputeId, topupId, amountMinor }: Awaited<ReturnType<typeof disputedTopUp>>) {
  return inTransaction(fixture.billing, async (client) => {
    const { rows } = await client.query<{ paymentId: string }>(
      'SELECT payment_id AS "paymentId" FROM topups WHERE id = $1',
      [topupId],
    );
    const fact = { kind: 'dispute', provider: 'manual', disputeId, state: 'won', reportedAt: null } as const;
    const money = { amountMinor, currency: 'USD', house: 'USD', paymentId: rows[0]!.paymentId };
    return applyDisputeFact(client, { ...fact, ...money });
  });
}

/** The terms of a correction, with a ticket of the account and two people. */
async function ticketTerms(accountId: string) {
  const { rows } = await fixture.owner.query<{ id: string }>('SELECT id FROM tickets WHERE account_id = $1', [
    accountId,
  ]);
  const people = { requestedBy: `user:${newId()}`, approvedBy: `user:${newId()}` };
  return { id: rows[0]?.id ?? '', note: 'a mistake', ...people };
}

/** The tasks of these people have no charges, which is a fault only once they are this old. */
const A_LONG_TEST_MS = 3_600_000;

const expectCleanBooks = async () => {
  expect(await checkLedger(fixture.billing, { graceMs: A_LONG_TEST_MS })).toMatchObject({
    ok: true,
    violations: [],
  });
};

describe('an address that two people had, one after the other', () => {
  /** The first has changed to an address of their own since, so a mail to the second's address names it. */
  async function successors() {
    const [first, second] = [await someone(), await someone()];
    await fixture.owner.query(
      `INSERT INTO mail_outbox (template, recipient, details, ended_at)
       VALUES ('email_changed', $1, jsonb_build_object('email', $2::text), now())`,
      [second.email, first.email],
    );
    return { first, second };
  }

  /** How many mails, and how many counters of attempts, are about these addresses. */
  async function keptOf({ email }: Someone) {
    const subjects = [`sign-in email ${email}`, ...mailSubjects(email)];
    const counted = subjects.map((subject) => createHash('sha256').update(subject).digest('base64url'));
    const { rows } = await fixture.owner.query(
      `SELECT (SELECT count(*)::int FROM mail_outbox WHERE recipient = $1 OR details ->> 'email' = $1) AS mails,
         (SELECT count(*)::int FROM attempts WHERE subject = ANY ($2)) AS attempts`,
      [email, counted],
    );
    return rows[0];
  }

  it.each(['first', 'second'] as const)('is erased for the %s only', async (who) => {
    const both = await successors();
    const other = both[who === 'first' ? 'second' : 'first'];
    await ask(both[who]);
    await runAll();
    expect(await keptOf(both[who])).toEqual({ mails: 0, attempts: 0 });
    // The mail about the change is gone: it names them both.
    expect(await keptOf(other)).toEqual({ mails: 2, attempts: 1 + mailSubjects(other.email).length });
  });
});

describe('requesting a deletion', () => {
  it('revokes keys and sessions at once, and exists once', async () => {
    const person = await someone();
    const deletion = await ask(person, { graceMs: 60_000 });
    expect(await ask(person, { graceMs: 60_000 })).toEqual(deletion);
    const { rows } = await fixture.owner.query(
      `SELECT (SELECT count(*)::int FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL) AS keys,
         (SELECT count(*)::int FROM sessions WHERE user_id = $2 AND revoked_at IS NULL) AS sessions`,
      [person.accountId, person.userId],
    );
    expect(rows).toEqual([{ keys: 0, sessions: 0 }]);
    await runAll();
    expect(await findDeletion(fixture.billing, person.accountId)).toMatchObject({ state: 'requested' });
  });

  it('can be cancelled until it is due, and not afterwards', async () => {
    const person = await someone();
    const cancel = () =>
      inTransaction(fixture.billing, (client) =>
        cancelDeletion(client, { accountId: person.accountId, by: `user:${person.userId}`, requestId: null }),
      );
    await ask(person, { graceMs: 60_000 });
    expect(await cancel()).toBe(true);
    expect(await cancel()).toBe(false);
    expect(await findDeletion(fixture.billing, person.accountId)).toBeNull();
    await ask(person);
    await runAll();
    expect(await cancel()).toBe(false);
    expect(await findDeletion(fixture.billing, person.accountId)).toMatchObject({ state: 'done' });
  });

  it('is refused for a debt, for a colleague, and for credits that nobody forfeits', async () => {
    const person = await someone();
    await expect(ask(person, { forfeits: false })).rejects.toMatchObject({
      code: 'conflict',
      param: 'forfeitBalance',
    });
    await fixture.owner.query(`UPDATE users SET roles = '{user,support}' WHERE id = $1`, [person.userId]);
    await expect(ask(person)).rejects.toMatchObject({ code: 'conflict', message: /staff role/ });
    await fixture.owner.query(`UPDATE users SET roles = '{user}' WHERE id = $1`, [person.userId]);
    const before = await fixture.owner.query(
      'UPDATE customer_balances SET main = main - 5000000000, frozen = true WHERE account_id = $1',
      [person.accountId],
    );
    expect(before.rowCount).toBe(1);
    await expect(ask(person)).rejects.toMatchObject({ code: 'conflict', message: /below zero/ });
    await fixture.owner.query(
      'UPDATE customer_balances SET main = main + 5000000000, frozen = false WHERE account_id = $1',
      [person.accountId],
    );
    await expectCleanBooks();
  });
});

describe('carrying a deletion out', () => {
  it('leaves nothing of a person, and books that add up', async () => {
    const person = await someone();
    const pay = await reward(person);
    await pay();
    await ask(person);
    await runAll();
    expect(await findDeletion(fixture.billing, person.accountId)).toMatchObject({ state: 'done' });
    for (const trace of [person.word, person.email])
      expect(await tablesWith(fixture.owner, trace)).toEqual([]);
    // It is the first one again.
    await countAttempts(person.email);
    expect(await readBalance(fixture.billing, person.accountId)).toMatchObject({
      main: 0n,
      invite: 0n,
      held: 0n,
    });
    const { rows } = await fixture.owner.query('SELECT name FROM accounts WHERE id = $1', [person.accountId]);
    expect(rows).toEqual([{ name: 'Deleted account' }]);
    await expectCleanBooks();
  });

  it('continues from wherever a process died, and forfeits once', async () => {
    const person = await someone();
    const pay = await reward(person);
    await pay();
    await ask(person);
    for (let queries = 1; queries < 500; queries += 1) {
      await makeDue();
      await runnerOn(dyingAfter(fixture.billing, queries))
        .round()
        .catch((error: unknown) => expect(error).toBeInstanceOf(Died));
      if ((await findDeletion(fixture.billing, person.accountId))?.state === 'done') break;
    }
    expect(await findDeletion(fixture.billing, person.accountId)).toMatchObject({ state: 'done' });
    for (const trace of [person.word, person.email])
      expect(await tablesWith(fixture.owner, trace)).toEqual([]);
    const { rows } = await fixture.owner.query(
      `SELECT d.forfeited, (SELECT count(*)::int FROM ledger_transactions WHERE account_id = $1 AND kind = 'forfeited') AS count
       FROM deletion_requests d WHERE account_id = $1`,
      [person.accountId],
    );
    expect(rows).toEqual([{ forfeited: parseAmount('4'), count: 1 }]);
    await expectCleanBooks();
  });

  it('is done once by several processes at the same moment', async () => {
    const people = await Promise.all([someone(), someone(), someone()]);
    for (const person of people) await ask(person);
    await Promise.all(Array.from({ length: 6 }, () => runAll()));
    for (const { accountId } of people)
      expect(await findDeletion(fixture.billing, accountId)).toMatchObject({ state: 'done' });
    await expectCleanBooks();
  });

  it('erases nothing if its owner cancels it at the moment at which it is due', async () => {
    const person = await someone();
    const { accountId, userId } = person;
    await ask(person);
    const before = await tablesWith(fixture.owner, person.word);
    const hold = {
      sql: 'SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE',
      values: [accountId],
      meanwhile: (client: pg.ClientBase) =>
        cancelDeletion(client, { accountId, by: `user:${userId}`, requestId: null }),
    };
    await meetAt(fixture, hold, [() => runnerOn(fixture.billing).round()]);
    expect(await findDeletion(fixture.billing, accountId)).toBeNull();
    expect(await tablesWith(fixture.owner, person.word)).toEqual(before);
  });

  it('waits for what is open, and says for what', async () => {
    const person = await someone('0');
    const { accountId, keyId } = person;
    const taskId = newId();
    await fixture.owner.query(
      `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds, deadline)
       VALUES ($1, 'video', $2, $3, $1, 'openai', 'submitted', 'm', 'm', '{"prompt": "x"}', 5, now())`,
      [taskId, accountId, keyId],
    );
    await ask(person);
    const waitsFor = async () => {
      await makeDue();
      await runnerOn(fixture.billing, 60_000).round();
      return (await findDeletion(fixture.billing, accountId))?.waitingFor;
    };
    expect(await waitsFor()).toBe('tasks');
    await fixture.owner.query(`UPDATE tasks SET state = 'failed', ended_at = now() WHERE id = $1`, [taskId]);
    await fixture.owner.query('UPDATE deletion_requests SET forfeits = false WHERE account_id = $1', [
      accountId,
    ]);
    await fixture.owner.query('UPDATE accounts SET closing_at = NULL WHERE id = $1', [accountId]);
    await topUp(accountId, '1');
    await fixture.owner.query('UPDATE accounts SET closing_at = now() WHERE id = $1', [accountId]);
    expect(await waitsFor()).toBe('balance');
    await fixture.owner.query('UPDATE deletion_requests SET forfeits = true WHERE account_id = $1', [
      accountId,
    ]);
    expect(await waitsFor()).toBeNull();
    expect(await findDeletion(fixture.billing, accountId)).toMatchObject({ state: 'done' });
  });
});

describe('an account in deletion', () => {
  it('receives neither top-ups nor rewards, from the moment of the request', async () => {
    const person = await someone();
    const pay = await reward(person);
    await ask(person, { graceMs: 60_000 });
    await expect(topUp(person.accountId, '1')).rejects.toMatchObject({ code: 'account_closing' });
    await makeDue();
    await runAll();
    await expect(topUp(person.accountId, '1')).rejects.toMatchObject({ code: 'account_closing' });
    await pay();
    expect(await readBalance(fixture.billing, person.accountId)).toMatchObject({ main: 0n, invite: 0n });
    await expectCleanBooks();
  });

  it('receives neither a dispute that is won too late nor a reward: finance has the money', async () => {
    const [person, inviter] = [await someone('0'), await someone('0')];
    await invite(person, inviter);
    const dispute = await disputedTopUp(person.accountId, '10');
    await dispute('lost');
    for (const each of [person, inviter]) await ask(each);
    await runAll();
    await Promise.all([dispute('won'), dispute('won'), dispute('lost')]);
    await dispute('won');
    for (const { accountId } of [person, inviter])
      expect(await readBalance(fixture.billing, accountId)).toMatchObject({ main: 0n, invite: 0n });
    const { rows } = await fixture.owner.query(
      `SELECT why, amount_minor::text AS amount, state FROM suspense_items WHERE reference = $1`,
      [dispute.id],
    );
    expect(rows).toEqual([{ why: 'dispute_after_deletion', amount: '1300', state: 'open' }]);
    await expectCleanBooks();
  });

  it.each([
    ['after a part was taken back', '0.6', null],
    ['after nothing was taken back', '1', null],
    ['after it paid a part of it', '1', '0.4'],
    ['after it paid all of it', '1', '5'],
  ])('neither owes nor gets a reward whose dispute is won %s', async (_when, spent, paid) => {
    const [person, inviter] = [await someone('0'), await someone('0')];
    const { accountId } = inviter;
    await invite(person, inviter);
    const dispute = await disputedTopUp(person.accountId, '10');
    const { id: ticketId, ...terms } = await ticketTerms(accountId);
    const spend = { ...terms, accountId, ticketId, reason: 'goodwill' as const, requestId: newId() };
    await inTransaction(fixture.billing, (client) =>
      transferInvite(client, { accountId, requestId: newId(), amount: parseAmount('1'), windowMs: 0 }),
    );
    await inTransaction(fixture.billing, (client) =>
      adjust(client, { ...spend, amount: -parseAmount(spent) }),
    );
    await dispute('lost');
    if (paid !== null) await topUp(accountId, paid);
    await ask(inviter);
    await runAll();
    await dispute('won');
    expect(await readBalance(fixture.billing, accountId)).toMatchObject({ main: 0n, invite: 0n });
    const { rows } = await fixture.owner.query('SELECT owed FROM reward_debts WHERE account_id = $1', [
      accountId,
    ]);
    expect(rows).toEqual([{ owed: 0n }]);
    await expectCleanBooks();
  });

  it('is neither adjusted nor unfrozen, but a debt that came too late is written off', async () => {
    const person = await someone('0');
    const { accountId } = person;
    const dispute = await disputedTopUp(accountId, '10');
    const { id: ticketId, ...terms } = await ticketTerms(accountId);
    const wanted = { ...terms, accountId, ticketId, reason: 'goodwill' as const };
    const settled = await inTransaction(fixture.billing, (client) =>
      adjust(client, { ...wanted, amount: parseAmount('-1'), requestId: newId() }),
    );
    await ask(person);
    await runAll();
    await expect(
      inTransaction(fixture.billing, (client) =>
        adjust(client, { ...wanted, amount: parseAmount('1'), requestId: newId() }),
      ),
    ).rejects.toMatchObject({ code: 'deleted', message: /was deleted/ });
    await expect(
      inTransaction(fixture.billing, (client) =>
        reverseAdjustment(client, { ...terms, adjustmentId: settled.id, requestId: newId() }),
      ),
    ).rejects.toMatchObject({ code: 'deleted' });
    for (const reason of [null, 'another'])
      expect(
        await inTransaction(fixture.billing, (client) => setFreeze(client, accountId, reason)),
      ).toMatchObject({ outcome: 'deleted' });
    await dispute('lost');
    await inTransaction(fixture.billing, (client) =>
      writeOff(client, { ...terms, accountId, ticketId, amount: null, requestId: newId() }),
    );
    expect(await readBalance(fixture.billing, accountId)).toMatchObject({ main: 0n, frozen: true });
    expect(await won(dispute)).toMatchObject({
      state: 'suspense',
      detail: expect.stringContaining('keep the money instead of returning it') as string,
    });
    await expectCleanBooks();
  });

  it('has its debt undone by a dispute that was opened and won too late', async () => {
    const person = await someone('0');
    const dispute = await disputedTopUp(person.accountId, '10');
    await ask(person);
    await runAll();
    await dispute('open');
    expect(await readBalance(fixture.billing, person.accountId)).toMatchObject({ main: parseAmount('-10') });
    await dispute('won');
    expect(await readBalance(fixture.billing, person.accountId)).toMatchObject({ main: 0n });
    await expectCleanBooks();
  });

  it('does not let anyone else delete messages of tickets', async () => {
    await someone();
    await expect(fixture.billing.query('DELETE FROM ticket_messages')).rejects.toMatchObject({
      code: '23001',
    });
    await expect(fixture.owner.query(`UPDATE ticket_messages SET body = ''`)).rejects.toMatchObject({
      code: '23001',
    });
  });
});

class Died extends Error {}

/**
 * A pool whose process dies at its n-th query: that query and all later ones fail, and what was not committed is rolled
 * back.
 */
function dyingAfter(pool: pg.Pool, queries: number): pg.Pool {
  let left = queries;
  const guarded = (target: pg.Pool | pg.PoolClient): unknown =>
    new Proxy(target, {
      get(object, name) {
        const value: unknown = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        if (name === 'query')
          return (...args: [string]) => {
            if (args[0] !== 'ROLLBACK' && (left -= 1) < 0) throw new Died('at a query');
            return Reflect.apply(value, object, args) as unknown;
          };
        if (name === 'connect') return async () => guarded(await pool.connect());
        return value.bind(object) as unknown;
      },
    });
  return guarded(pool) as pg.Pool;
}
