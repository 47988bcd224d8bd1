import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noteMaker } from '#identity/own-interest.js';
import { type Actor, type Role } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../test/support/audit.js';
import { enrolled, openPeople, type PeopleFixture, signedUp } from '../../test/support/people.js';
import { race } from '../../test/support/race.js';
import { staffActor } from '../../test/support/staff.js';
import { type ListedPerson, type PeopleQuery, RolesService } from './roles.service.js';

let people: PeopleFixture;
let service: RolesService;
let admin: Actor;

beforeAll(async () => {
  people = await openPeople();
  service = new RolesService(people.ledger.billing);
});
beforeEach(async () => {
  admin = await newStaff('admin');
});
afterAll(() => people.close());

function newStaff(...roles: Role[]): Promise<Actor> {
  return staffActor(people.ledger, ...roles);
}

function change({ userId }: { userId: string }, actor = admin) {
  return { userId, actor, requestId: newId() };
}

async function pages(query: Omit<PeopleQuery, 'limit' | 'cursor'>, limit = 2): Promise<ListedPerson[]> {
  const all: ListedPerson[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await service.list({ ...query, limit, cursor });
    all.push(...items);
    if (nextCursor === null) return all;
    cursor = nextCursor;
  }
}

describe('someone who is blocked', () => {
  it('has no session and cannot sign in, until they are unblocked', async () => {
    const { actor, session } = await signedUp(people);
    expect(await service.setDisabled(change(actor), true)).toMatchObject({ disabled: true });
    expect(await people.sessions.find(session.token)).toBeNull();
    await service.setDisabled(change(actor), true);
    expect(await service.setDisabled(change(actor), false)).toMatchObject({ disabled: false });
    // The session stays ended.
    expect(await people.sessions.find(session.token)).toBeNull();
    expect((await actionsOn(people.ledger, `user:${actor.userId}`)).slice(-3)).toEqual([
      'person.disabled',
      'person.disabled',
      'person.enabled',
    ]);
  });

  it('is unblocked by someone who did not create them', async () => {
    const { actor } = await signedUp(people);
    const client = await people.ledger.owner.connect();
    const { accountId } = actor;
    await noteMaker(client, { accountId, makerId: admin.userId, how: 'created' });
    client.release();
    await service.setDisabled(change(actor), true);
    await expect(service.setDisabled(change(actor), false)).rejects.toMatchObject({
      code: 'second_person_required',
    });
    expect((await service.ofAccount(accountId))!.disabled).toBe(true);
    await service.setDisabled(change(actor, await newStaff('admin')), false);
    expect((await service.ofAccount(accountId))!.disabled).toBe(false);
  });
});

describe('a decision about people', () => {
  it('cannot concern oneself, nor someone who does not exist', async () => {
    await expect(service.setDisabled(change(admin), true)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(service.removeTotp(change(admin))).rejects.toMatchObject({ code: 'forbidden' });
    const nobody = change({ userId: newId() });
    await expect(service.setDisabled(nobody, true)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leaves one administrator if two block each other at once', async () => {
    const other = await newStaff('admin');
    await people.ledger.owner.query(
      `UPDATE users SET disabled_at = now() WHERE 'admin' = ANY (roles) AND id <> ALL ($1)`,
      [[admin.userId, other.userId]],
    );
    const ends = [service.setDisabled(change(other), true), service.setDisabled(change(admin, other), true)];
    expect(await race(ends)).toEqual({ succeeded: 1, refused: ['conflict'] });
    const left = (await pages({ role: 'admin' })).filter(({ disabled }) => !disabled);
    expect(left).toHaveLength(1);
  });
});

describe('a lost device', () => {
  it('is removed with every session, by someone who did not create its owner', async () => {
    const { actor, session } = await signedUp(people);
    await enrolled(people, actor);
    expect((await service.ofAccount(actor.accountId))!.totpEnabled).toBe(true);
    expect(await service.removeTotp(change(actor))).toMatchObject({ totpEnabled: false });
    expect((await service.ofAccount(actor.accountId))!.totpEnabled).toBe(false);
    expect(await people.sessions.find(session.token)).toBeNull();
    expect(await actionsOn(people.ledger, `user:${actor.userId}`)).toContain('person.totp_removed');
  });
});

describe('the list of people', () => {
  it('is the same in pages of any size, newest first, and by role and address', async () => {
    const staff = await newStaff('finance');
    const all = await pages({}, 50);
    expect(all[0]?.userId).toBe(staff.userId);
    expect(await pages({}, 1)).toEqual(all);
    expect(await pages({ role: 'finance' })).toEqual(all.filter(({ roles }) => roles.includes('finance')));
    const found = await pages({ email: staff.email.slice(0, -4) });
    expect(found.map(({ userId }) => userId)).toEqual([staff.userId]);
    expect(await pages({ email: '%' })).toEqual([]);
  });

  it('has no person for an account that was created without one', async () => {
    const { accountId } = await people.ledger.account({ credits: '0' });
    expect(await service.ofAccount(accountId)).toBeNull();
  });
});
