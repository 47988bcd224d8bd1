import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { groupsOfAccount } from '#groups/account-groups.js';
import { openEntities } from '../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { customerOf, speakingFor } from '../../test/support/speakers.js';
import { staffActor } from '../../test/support/staff.js';
import { GroupGrants } from './group-grants.js';
import { type Speaker, TicketService } from './ticket.service.js';

let ledger: LedgerFixture;
let source: DataSource;
let tickets: TicketService;
let grants: GroupGrants;
let group: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  tickets = new TicketService(source);
  grants = new GroupGrants(source, tickets);
  const { rows } = await ledger.owner.query<{ name: string }>(
    `UPDATE groups SET open = false WHERE name = 'Vendora-Main' RETURNING name`,
  );
  group = rows[0]!.name;
});
afterAll(async () => {
  await source.destroy();
  await ledger.close();
});

async function support(): Promise<Speaker> {
  return speakingFor(await staffActor(ledger, 'support'));
}

async function asked(): Promise<{ accountId: string; customer: Speaker; ticketId: string }> {
  const { accountId } = await ledger.account({ credits: '0' });
  const customer = await customerOf(ledger, accountId);
  const wanted = { kind: 'question', subject: 'Group', body: 'May I?' } as const;
  const { ticket } = await tickets.open(customer, wanted);
  return { accountId, customer, ticketId: ticket.id };
}

async function hasIt(accountId: string): Promise<boolean> {
  return (await groupsOfAccount(ledger.billing, accountId)).some((each) => each.group === group);
}

async function auditOf(accountId: string): Promise<string[]> {
  const { rows } = await ledger.owner.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE subject = $1 ORDER BY id',
    [`account:${accountId}`],
  );
  return rows.map(({ action }) => action);
}

describe('a group that is not open to everyone', () => {
  it('is granted once by several at once, and its customer is notified once', async () => {
    const { accountId, customer, ticketId } = await asked();
    expect(await hasIt(accountId)).toBe(false);
    const people = await Promise.all([support(), support(), support()]);
    await Promise.all(people.map((by) => grants.grant(by, { accountId, group }, ticketId)));
    expect(await hasIt(accountId)).toBe(true);
    const { messages } = await tickets.find(customer, ticketId);
    expect(messages.filter(({ kind }) => kind === 'event')).toHaveLength(1);
    expect(await auditOf(accountId)).toEqual(['group.granted']);
  });

  it('is withdrawn once, and can be granted again', async () => {
    const { accountId } = await asked();
    const by = await support();
    await grants.grant(by, { accountId, group });
    await Promise.all([
      grants.withdraw(by, { accountId, group }),
      grants.withdraw(await support(), { accountId, group }),
    ]);
    expect(await hasIt(accountId)).toBe(false);
    await grants.grant(by, { accountId, group });
    expect(await hasIt(accountId)).toBe(true);
    expect(await auditOf(accountId)).toEqual(['group.granted', 'group.withdrawn', 'group.granted']);
  });

  it('is not granted from a ticket of another account, nor to oneself', async () => {
    const [one, other] = [await asked(), await asked()];
    const wrong = grants.grant(await support(), { accountId: one.accountId, group }, other.ticketId);
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_value', param: 'ticketId' });
    const itself = await support();
    const own = { accountId: itself.actor.accountId, group };
    await expect(grants.grant(itself, own)).rejects.toMatchObject({ code: 'second_person_required' });
    await expect(grants.withdraw(itself, own)).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await hasIt(one.accountId)).toBe(false);
  });

  it('and an account must exist', async () => {
    const { accountId } = await asked();
    const by = await support();
    for (const of of [
      { accountId: 'nobody', group },
      { accountId, group: 'no-such-group' },
    ]) {
      await expect(grants.grant(by, of)).rejects.toMatchObject({ code: 'not_found' });
      await expect(grants.withdraw(by, of)).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
