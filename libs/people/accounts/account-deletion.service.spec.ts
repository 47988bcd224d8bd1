import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import type { Actor } from '#identity/role.js';
import { ConfigReader } from '#platform/config.js';
import { newId } from '#platform/ids.js';
import { findDeletion } from '#privacy/deletion-request.js';
import { readPrivacyConfig } from '#privacy/privacy.config.js';
import { TicketService } from '#support/ticket.service.js';
import { auditOf } from '../../../test/support/audit.js';
import { openEntities } from '../../../test/support/entities.js';
import { buy } from '../../../test/support/ledger-person.js';
import { NOBODY_WAITS } from '../../../test/support/payments.js';
import {
  enrolled,
  lastMail,
  newOrigin,
  openPeople,
  PASSWORD,
  type PeopleFixture,
  signedUp,
} from '../../../test/support/people.js';
import { race } from '../../../test/support/race.js';
import { speakingFor } from '../../../test/support/speakers.js';
import { staffActor } from '../../../test/support/staff.js';
import { AccountDeletionService, type OwnerConsent } from './account-deletion.service.js';

let people: PeopleFixture;
let source: DataSource;
let approvals: ApprovalService;
let tickets: TicketService;
let service: AccountDeletionService;

beforeAll(async () => {
  people = await openPeople();
  source = await openEntities(people.ledger);
  approvals = new ApprovalService(source);
  tickets = new TicketService(source);
  const reader = new ConfigReader({});
  const privacy = reader.finish(readPrivacyConfig(reader));
  service = new AccountDeletionService({
    approvals,
    source,
    tickets,
    config: { privacy },
    pool: people.ledger.billing,
    relay: NOBODY_WAITS,
    passwords: people.passwords,
    signIns: people.signIns,
  });
});
afterAll(async () => {
  await source.destroy();
  await people.close();
});

function request(actor: Actor, of: Partial<OwnerConsent> = {}) {
  return service.request(actor, { password: PASSWORD, forfeitBalance: false, ...of }, newId());
}

function cancel(actor: Actor, accountId: string) {
  const operation = { by: `user:${actor.userId}`, actor, accountId, requestId: newId() };
  return service.cancel(operation, 'They called.');
}

function stateOf({ accountId }: Actor) {
  return findDeletion(people.ledger.billing, accountId);
}

async function withCredits(): Promise<Actor> {
  const { actor } = await signedUp(people);
  await buy(people.ledger, { accountId: actor.accountId, keyId: '' }, '1');
  return actor;
}

describe('a deletion that the owner requests', () => {
  it('ends every session and key at once, and mails how to keep the account', async () => {
    const { actor, session, email } = await signedUp(people);
    const keyId = await people.ledger.key(actor.accountId);
    const deletion = await request(actor);
    expect(deletion).toMatchObject({ state: 'requested', accountId: actor.accountId });
    expect(await people.sessions.find(session.token)).toBeNull();
    const { rows } = await people.ledger.owner.query(
      'SELECT FROM api_keys WHERE id = $1 AND revoked_at IS NOT NULL',
      [keyId],
    );
    expect(rows).toHaveLength(1);
    expect((await lastMail(people, email))?.text).toContain('To keep the account');
  });

  it('exists once, even if it is requested twice at once', async () => {
    const { actor } = await signedUp(people);
    const [one, two] = await Promise.all([request(actor), request(actor)]);
    expect(one.id).toBe(two.id);
  });

  it('needs the password, and the code of a device', async () => {
    const { actor } = await signedUp(people);
    await expect(request(actor, { password: 'a guess' })).rejects.toMatchObject({ code: 'forbidden' });
    const { next } = await enrolled(people, actor);
    await expect(request(actor)).rejects.toMatchObject({ code: 'totp_required' });
    await expect(request(actor, { code: '000000' })).rejects.toMatchObject({ code: 'sign_in_failed' });
    expect(await stateOf(actor)).toBeNull();
    expect(await request(actor, { code: next() })).toHaveProperty('id');
  });

  it('forfeits credits only if the owner agrees', async () => {
    const actor = await withCredits();
    expect(await service.preview(actor.accountId)).toMatchObject({ main: 1_000_000_000n });
    await expect(request(actor)).rejects.toMatchObject({ code: 'conflict', param: 'forfeitBalance' });
    expect(await stateOf(actor)).toBeNull();
    expect(await request(actor, { forfeitBalance: true })).toMatchObject({ forfeits: true });
  });

  it('is cancelled once by support, with a reason and a mail, and lets its owner in again', async () => {
    const { actor, email } = await signedUp(people);
    await request(actor);
    const support = await staffActor(people.ledger, 'support');
    const ends = [1, 2].map(() => cancel(support, actor.accountId));
    expect(await race(ends)).toEqual({ succeeded: 1, refused: ['conflict'] });
    expect(await stateOf(actor)).toBeNull();
    expect((await auditOf(people.ledger, `account:${actor.accountId}`)).slice(-1)).toMatchObject([
      {
        actor: `user:${support.userId}`,
        action: 'account.deletion_cancelled',
        after: { reason: 'They called.' },
      },
    ]);
    expect((await lastMail(people, email))?.text).toContain('support team cancelled the deletion');
    expect(await people.signIns.signIn({ email, password: PASSWORD }, newOrigin())).toHaveProperty('token');
  });

  it('is not cancelled by staff for themselves', async () => {
    const { actor } = await signedUp(people);
    await request(actor);
    await expect(cancel(actor, actor.accountId)).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await stateOf(actor)).toMatchObject({ state: 'requested' });
  });

  it('of an account that does not exist is not found', async () => {
    const { actor } = await signedUp(people);
    await expect(service.preview(newId())).rejects.toMatchObject({ code: 'not_found' });
    await expect(cancel(actor, newId())).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a deletion that staff request', () => {
  async function asked(forfeitBalance = true) {
    const customer = await withCredits();
    const speaker = { actor: customer, requestId: newId(), side: 'customer' as const };
    const wish = { kind: 'question' as const, subject: 'Delete', body: 'Please delete my account.' };
    const { ticket } = await tickets.open(speaker, wish);
    const colleague = await staffActor(people.ledger, 'support', 'admin');
    const approvalId = await service.ask(speakingFor(colleague), {
      ticketId: ticket.id,
      reason: 'by mail',
      forfeitBalance,
      requestId: newId(),
    });
    return { customer, colleague, approvalId };
  }
  const approve = (approvalId: string, actor: Actor) =>
    approvals.approve({ approvalId, actor, note: null, requestId: newId() });

  it('waits for an administrator other than the requester, and is mailed to the owner', async () => {
    const { customer, colleague, approvalId } = await asked();
    expect(await stateOf(customer)).toBeNull();
    await expect(approve(approvalId, colleague)).rejects.toMatchObject({ code: 'second_person_required' });
    await approve(approvalId, await staffActor(people.ledger, 'admin'));
    expect(await stateOf(customer)).toMatchObject({ state: 'requested', forfeits: true });
    expect((await lastMail(people, customer.email))?.text).toContain('will be deleted');
  });

  it('leaves an account alone if it may not forfeit its credits', async () => {
    const { customer, approvalId } = await asked(false);
    const decided = approve(approvalId, await staffActor(people.ledger, 'admin'));
    await expect(decided).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf(customer)).toBeNull();
  });
});
