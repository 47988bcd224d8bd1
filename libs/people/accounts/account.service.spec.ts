import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noteMaker } from '#identity/own-interest.js';
import type { Actor } from '#identity/role.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { actionsOn, auditOf } from '../../../test/support/audit.js';
import { openPeople, type PeopleFixture, signedUp } from '../../../test/support/people.js';
import { meetAt } from '../../../test/support/race.js';
import { staffActor } from '../../../test/support/staff.js';
import { AccountReader } from './account.reader.js';
import { AccountService } from './account.service.js';

let people: PeopleFixture;
let service: AccountService;
let reader: AccountReader;
let support: Actor;
let accountId: string;

beforeAll(async () => {
  people = await openPeople();
  const { billing: pool } = people.ledger;
  service = new AccountService(pool);
  reader = new AccountReader(pool);
  support = await staffActor(people.ledger, 'support');
});
beforeEach(async () => {
  ({ accountId } = await people.ledger.account({ credits: '10' }));
});
afterAll(() => people.close());

function operation(id = accountId, actor = support) {
  return { by: `user:${actor.userId}`, actor, accountId: id, requestId: newId() };
}

/** The staff member who created the account. */
async function maker(): Promise<Actor> {
  const actor = await staffActor(people.ledger, 'support');
  const client = await people.ledger.owner.connect();
  await noteMaker(client, { accountId, makerId: actor.userId, how: 'created' });
  client.release();
  return actor;
}

const own = { code: 'second_person_required' };
const notFound = { code: 'not_found' };

describe('account settings', () => {
  it('give an account at most twenty names in a day, and change as before otherwise', async () => {
    const rename = (name: string) => service.change(operation(), { name });
    await rename('One');
    await people.ledger.owner.query('UPDATE attempts SET count = 19');
    await rename('Two');
    await expect(rename('Three')).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringMatching(/at most 20 changes of name in 24 hours\. Try again in 24 hours/),
    });
    await service.change(operation(), { name: 'Two', monthlyLimit: null });
    await people.ledger.owner.query('UPDATE attempts SET expires_at = now()');
    await rename('Three');
    expect(await reader.show(accountId)).toMatchObject({ name: 'Three' });
  });

  it('change if they are named, and the others stay', async () => {
    await service.change(operation(), {
      monthlyLimit: parseAmount('5'),
      lowBalanceThreshold: parseAmount('2'),
    });
    await service.change(operation(), { name: 'Atelier', monthlyLimit: null });
    expect(await reader.show(accountId)).toMatchObject({
      name: 'Atelier',
      monthlyLimit: null,
      lowBalanceThreshold: '2',
    });
  });

  it('are both there if two people change different ones at once', async () => {
    const hold = {
      sql: 'SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE',
      values: [accountId],
    };
    await meetAt(people.ledger, hold, [
      () => service.change(operation(), { monthlyLimit: parseAmount('5') }),
      () => service.change(operation(), { lowBalanceThreshold: parseAmount('2') }),
    ]);
    expect(await reader.show(accountId)).toMatchObject({ monthlyLimit: '5', lowBalanceThreshold: '2' });
  });

  it('keep the previous names, each once', async () => {
    const { name: first } = await reader.show(accountId);
    for (const name of ['One', 'Two', 'Two', first]) await service.change(operation(), { name });
    const { rows } = await people.ledger.owner.query<{ name: string }>(
      'SELECT name FROM account_names WHERE account_id = $1 ORDER BY id',
      [accountId],
    );
    expect(rows.map(({ name }) => name)).toEqual([first, 'One', 'Two', first]);
  });

  it('are logged with their previous values, but without the name', async () => {
    await service.change(operation(), { name: 'Atelier', monthlyLimit: parseAmount('0.5') });
    const [change] = (await auditOf(people.ledger, `account:${accountId}`)).slice(-1);
    expect(change).toMatchObject({
      action: 'account.changed',
      before: { monthlyLimit: null },
      after: { monthlyLimit: '0.5' },
    });
    expect(JSON.stringify(change)).not.toContain('Atelier');
  });

  it('change nothing and are not logged if none is named, or none is new', async () => {
    const { name } = await reader.show(accountId);
    await service.change(operation(), { name: undefined });
    await service.change(operation(), { name, monthlyLimit: null });
    expect(await actionsOn(people.ledger, `account:${accountId}`)).toEqual([]);
    await service.change(operation(), { name, monthlyLimit: parseAmount('5') });
    const [change] = await auditOf(people.ledger, `account:${accountId}`);
    expect(change).toMatchObject({ before: { monthlyLimit: null }, after: { monthlyLimit: '5' } });
  });

  it('change at most a thousand times in a day', async () => {
    const alert = (credits: string) =>
      service.change(operation(), { lowBalanceThreshold: parseAmount(credits) });
    await alert('1');
    await people.ledger.owner.query('UPDATE attempts SET count = 1000');
    await expect(alert('2')).rejects.toMatchObject({ code: 'too_many_attempts' });
    await alert('1');
    expect(await actionsOn(people.ledger, `account:${accountId}`)).toEqual(['account.changed']);
  });

  it('of an account that does not exist are not found', async () => {
    await expect(service.change(operation(newId()), { name: 'x' })).rejects.toMatchObject(notFound);
  });

  it('warn of a low balance only once it falls below: a threshold set above it is no crossing', async () => {
    const isTold = async () => {
      const { rows } = await people.ledger.owner.query<{ told: boolean }>(
        'SELECT low_balance_told AS told FROM customer_balances WHERE account_id = $1',
        [accountId],
      );
      return rows[0]!.told;
    };
    await service.change(operation(), { lowBalanceThreshold: parseAmount('20') });
    expect(await isTold()).toBe(true);
    await service.change(operation(), { lowBalanceThreshold: parseAmount('5') });
    expect(await isTold()).toBe(false);
  });
});

describe('a freeze', () => {
  it('has a reason that its owner reads, once even if repeated, and is lifted again', async () => {
    await service.freeze(operation(), 'a chargeback');
    await service.freeze(operation(), 'a chargeback');
    expect(await reader.show(accountId)).toMatchObject({ frozen: { reason: 'a chargeback' } });
    await service.unfreeze(operation(), 'it was settled');
    expect(await reader.show(accountId)).toMatchObject({ frozen: null });
    expect(await auditOf(people.ledger, `account:${accountId}`)).toMatchObject([
      { action: 'account.frozen', after: { reason: 'a chargeback' } },
      { action: 'account.unfrozen', before: { reason: 'a chargeback' }, after: { note: 'it was settled' } },
    ]);
  });

  it('of a balance below zero is lifted only by credits', async () => {
    await people.ledger.owner.query(
      `UPDATE customer_balances SET main = -1, frozen = true, frozen_reason = 'debt' WHERE account_id = $1`,
      [accountId],
    );
    await expect(service.unfreeze(operation(), 'please')).rejects.toMatchObject({ code: 'conflict' });
    expect(await reader.show(accountId)).toMatchObject({ frozen: { reason: 'debt' } });
  });

  it('is not called a debt, which the next credit would end', async () => {
    const wrong = { code: 'invalid_value', param: 'reason' };
    await expect(service.freeze(operation(), ' Debt')).rejects.toMatchObject(wrong);
    expect(await reader.show(accountId)).toMatchObject({ frozen: null });
  });

  it('is decided by someone who did not create the account', async () => {
    const actor = await maker();
    await expect(service.freeze(operation(accountId, actor), 'x')).rejects.toMatchObject(own);
    await expect(service.unfreeze(operation(accountId, actor), 'x')).rejects.toMatchObject(own);
    await expect(service.freeze(operation(newId()), 'x')).rejects.toMatchObject(notFound);
  });
});

describe('an account’s sessions', () => {
  it('end all at once, by someone without an interest in it', async () => {
    const { actor, session } = await signedUp(people);
    await people.sessions.open({ userId: actor.userId, ip: null, userAgent: null });
    const byThemselves = service.revokeSessions(operation(actor.accountId, actor));
    await expect(byThemselves).rejects.toMatchObject(own);
    expect(await service.revokeSessions(operation(actor.accountId))).toBe(2);
    expect(await people.sessions.find(session.token)).toBeNull();
    expect(await service.revokeSessions(operation(actor.accountId))).toBe(0);
  });

  it('do not exist without a person, and an unknown account is not found', async () => {
    expect(await service.revokeSessions(operation())).toBe(0);
    await expect(service.revokeSessions(operation(newId()))).rejects.toMatchObject(notFound);
  });
});
