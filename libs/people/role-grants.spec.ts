import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import type { Actor, Role } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { openEntities } from '../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { staffActor } from '../../test/support/staff.js';
import { RoleGrants } from './role-grants.js';

let ledger: LedgerFixture;
let source: DataSource;
let approvals: ApprovalService;
let grants: RoleGrants;
/** The first administrator ever, and two others. */
let admins: [Actor, Actor, Actor];

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  approvals = new ApprovalService(source);
  grants = new RoleGrants({ source, approvals });
  const newAdmin = () => staffActor(ledger, 'admin');
  admins = [await newAdmin(), await newAdmin(), await newAdmin()];
});
afterAll(async () => {
  await source.destroy();
  await ledger.close();
});

function set(actor: Actor, { userId }: Actor, ...roles: Role[]) {
  return grants.setRoles({ userId, actor, requestId: newId() }, { roles });
}

async function rolesOf({ userId }: Actor): Promise<Role[]> {
  const { rows } = await ledger.owner.query<{ roles: Role[] }>('SELECT roles FROM users WHERE id = $1', [
    userId,
  ]);
  return [...rows[0]!.roles].sort();
}

function approve(approvalId: string | null, actor: Actor) {
  return approvals.approve({ approvalId: approvalId as string, actor, note: null, requestId: newId() });
}

describe('staff roles', () => {
  it('are granted by two administrators, once, even if several request them at once', async () => {
    const somebody = await staffActor(ledger);
    const [one, two, three] = admins;
    const asked = await Promise.all([set(one, somebody, 'finance'), set(two, somebody, 'finance')]);
    expect(asked[0].approvalId).not.toBeNull();
    expect(asked[1].approvalId).toBe(asked[0].approvalId);
    expect(await rolesOf(somebody)).toEqual(['user']);
    await Promise.all([approve(asked[0].approvalId, three), approve(asked[0].approvalId, three)]);
    expect(await rolesOf(somebody)).toEqual(['finance', 'user']);
  });

  it('are not granted by their requester or their recipient', async () => {
    const somebody = await staffActor(ledger, 'admin');
    const { approvalId } = await set(admins[0], somebody, 'admin', 'finance');
    await expect(approve(approvalId, admins[0])).rejects.toMatchObject({ code: 'second_person_required' });
    await expect(approve(approvalId, somebody)).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await rolesOf(somebody)).toEqual(['admin', 'user']);
  });

  it('are not granted to someone who was blocked meanwhile', async () => {
    const somebody = await staffActor(ledger);
    const { approvalId } = await set(admins[0], somebody, 'support');
    await ledger.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [somebody.userId]);
    await expect(approve(approvalId, admins[1])).rejects.toMatchObject({ code: 'conflict' });
    expect(await rolesOf(somebody)).toEqual(['user']);
  });

  it('are revoked by one administrator at once, while new ones wait', async () => {
    const somebody = await staffActor(ledger, 'support', 'finance');
    const { approvalId } = await set(admins[0], somebody, 'support', 'admin');
    expect(await rolesOf(somebody)).toEqual(['support', 'user']);
    await approve(approvalId, admins[1]);
    expect(await rolesOf(somebody)).toEqual(['admin', 'support', 'user']);
  });

  it('are not changed by someone who read others, unless they already are as wanted', async () => {
    const somebody = await staffActor(ledger, 'support', 'finance');
    const change = { userId: somebody.userId, actor: admins[0], requestId: newId() };
    const was = { roles: ['support'] as const };
    await expect(grants.setRoles(change, { roles: [], was })).rejects.toMatchObject({
      code: 'conflict',
      param: 'was.roles',
    });
    expect(await rolesOf(somebody)).toEqual(['finance', 'support', 'user']);
    await grants.setRoles(change, { roles: ['finance', 'support'], was });
    await grants.setRoles(change, { roles: ['finance'], was: { roles: ['user', 'finance', 'support'] } });
    expect(await rolesOf(somebody)).toEqual(['finance', 'user']);
  });

  it('are changed by someone other than their holder', async () => {
    const [one] = admins;
    await expect(set(one, one, 'finance')).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('administrators', () => {
  it('who revoke each other’s role at once leave one', async () => {
    await ledger.owner.query(
      `UPDATE users SET disabled_at = now() WHERE 'admin' = ANY (roles) AND id <> ALL ($1)`,
      [admins.slice(0, 2).map(({ userId }) => userId)],
    );
    const [one, two] = admins;
    const ends = await Promise.allSettled([set(one, two), set(two, one)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { rows } = await ledger.owner.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM users WHERE 'admin' = ANY (roles) AND disabled_at IS NULL`,
    );
    expect(rows[0]!.count).toBe(1);
  });
});
