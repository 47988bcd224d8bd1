import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import type { Actor, Role } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { openEntities } from '../../test/support/entities.js';
import {
  newEmail,
  newOrigin,
  openPeople,
  PASSWORD,
  type PeopleFixture,
  signedUp,
} from '../../test/support/people.js';
import { race } from '../../test/support/race.js';
import { staffActor } from '../../test/support/staff.js';
import { listOperators, makeOperator, type OperatorRequest } from './operators.js';
import { RoleGrants } from './role-grants.js';

interface Installation {
  people: PeopleFixture;
  source: DataSource;
  approvals: ApprovalService;
  make(of: Partial<OperatorRequest>): ReturnType<typeof makeOperator>;
  close(): Promise<void>;
}

let used: Installation;
let admin: Actor;

beforeAll(async () => {
  used = await install();
  admin = await staffActor(used.people.ledger, 'admin');
});
afterAll(() => used.close());

async function install(): Promise<Installation> {
  const people = await openPeople();
  const source = await openEntities(people.ledger);
  const approvals = new ApprovalService(source);
  const services = { source, grants: new RoleGrants({ source, approvals }) };
  const make = (of: Partial<OperatorRequest>) =>
    makeOperator(services, {
      email: newEmail(),
      name: 'Somebody',
      roles: ['admin'],
      passwordHash: null,
      linkLifeMs: null,
      by: null,
      requestId: newId(),
      ...of,
    });
  const close = async () => {
    await source.destroy();
    await people.close();
  };
  return { people, source, approvals, make, close };
}

function withLink(by: Actor | null, ...roles: Role[]) {
  return used.make({ by, roles, linkLifeMs: 60_000 });
}

function decide(approvalId: string | null, actor: Actor) {
  return used.approvals.approve({
    approvalId: approvalId as string,
    actor,
    note: null,
    requestId: newId(),
  });
}

describe('the first administrator', () => {
  it('needs nobody’s approval, is one of several created at once, and is an administrator', async () => {
    const fresh = await install();
    try {
      await expect(fresh.make({ roles: ['support'] })).rejects.toMatchObject({ code: 'forbidden' });
      const ends = [1, 2].map(() => fresh.make({}));
      expect(await race(ends)).toEqual({ succeeded: 1, refused: ['forbidden'] });
      const [first, ...others] = await listOperators(fresh.people.ledger.billing);
      expect(others).toEqual([]);
      expect(first).toMatchObject({ roles: ['user', 'admin'], disabled: false, totpEnabled: false });
      // Not even once there is none any more.
      await fresh.people.ledger.owner.query('UPDATE users SET disabled_at = now()');
      await expect(fresh.make({})).rejects.toMatchObject({ code: 'forbidden' });
    } finally {
      await fresh.close();
    }
  });
});

describe('a new operator', () => {
  it('sets a password with the link, and has the roles once another administrator agrees', async () => {
    const made = await withLink(admin, 'support');
    expect(made).toMatchObject({ created: true, roles: ['user'] });
    const reset = { token: made.token!, password: PASSWORD };
    const { token } = await used.people.passwords.reset(reset, newOrigin(), newId());
    const rolesNow = async () => (await used.people.sessions.find(token))!.actor.roles;
    expect(await rolesNow()).toEqual(['user']);
    await expect(decide(made.approvalId, admin)).rejects.toMatchObject({ code: 'second_person_required' });
    await decide(made.approvalId, await staffActor(used.people.ledger, 'admin'));
    expect(await rolesNow()).toEqual(['user', 'support']);
  });

  it('is one person if two administrators name the address at once', async () => {
    const email = newEmail();
    const both = [admin, await staffActor(used.people.ledger, 'admin')].map((by) =>
      used.make({ email, by, roles: ['finance'] }),
    );
    const [one, two] = await Promise.all(both);
    expect(one!.userId).toBe(two!.userId);
    expect([one!.created, two!.created].sort()).toEqual([false, true]);
    expect(one!.approvalId).toBe(two!.approvalId);
  });
});

describe('an existing person', () => {
  it('keeps what they have, and a new password ends their sessions', async () => {
    const { people } = used;
    const { email, session, actor } = await signedUp(people);
    const made = await used.make({ email, by: admin, roles: [], passwordHash: 'none' });
    expect(made).toMatchObject({ userId: actor.userId, created: false, approvalId: null, token: null });
    expect(await people.sessions.find(session.token)).toBeNull();
    const before = { email, password: PASSWORD };
    await expect(people.signIns.signIn(before, newOrigin())).rejects.toMatchObject({
      code: 'sign_in_failed',
    });
  });

  it('on the staff gets no password and no link from someone else', async () => {
    const { email } = await staffActor(used.people.ledger, 'finance');
    for (const taken of [{ passwordHash: 'none' }, { linkLifeMs: 60_000 }])
      await expect(used.make({ email, by: admin, roles: [], ...taken })).rejects.toMatchObject({
        code: 'forbidden',
      });
    expect(await used.make({ email: admin.email, by: admin, roles: [], linkLifeMs: 60_000 })).toMatchObject({
      userId: admin.userId,
      created: false,
    });
  });

  it('cannot give themselves roles', async () => {
    const asked = used.make({ email: admin.email, by: admin, roles: ['finance'] });
    await expect(asked).rejects.toMatchObject({ code: 'forbidden' });
  });
});
