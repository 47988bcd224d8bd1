import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { openEntities } from '../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { customerOf, speakingFor } from '../../test/support/speakers.js';
import { staffActor } from '../../test/support/staff.js';
import { type NewTicket, type Speaker, TicketService } from './ticket.service.js';

let ledger: LedgerFixture;
let source: DataSource;
let tickets: TicketService;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  tickets = new TicketService(source);
});
afterAll(async () => {
  await source.destroy();
  await ledger.close();
});

const QUESTION: NewTicket = { kind: 'question', subject: 'How', body: 'How does it work?' };

async function newCustomer(): Promise<Speaker> {
  const { accountId } = await ledger.account({ credits: '0' });
  return customerOf(ledger, accountId);
}

async function support(): Promise<Speaker> {
  return speakingFor(await staffActor(ledger, 'support'));
}

async function opened(): Promise<{ customer: Speaker; ticketId: string }> {
  const customer = await newCustomer();
  const { ticket } = await tickets.open(customer, QUESTION);
  return { customer, ticketId: ticket.id };
}

async function mailsTo({ actor }: Speaker): Promise<number> {
  const { rows } = await ledger.owner.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM mail_outbox WHERE recipient = $1',
    [actor.email],
  );
  return rows[0]!.count;
}

async function auditOf(ticketId: string): Promise<string[]> {
  const { rows } = await ledger.owner.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE subject = $1 ORDER BY id',
    [`ticket:${ticketId}`],
  );
  return rows.map(({ action }) => action);
}

describe('a ticket', () => {
  it('is one of at most fifty that an account opens in a day, even if it closes them', async () => {
    const { customer, ticketId } = await opened();
    await tickets.close(customer, ticketId);
    await ledger.owner.query('UPDATE attempts SET count = 49');
    await tickets.open(customer, QUESTION);
    await expect(tickets.open(customer, QUESTION)).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringMatching(/at most 50 new tickets in 24 hours\. Try again in 24 hours/),
    });
    await ledger.owner.query('UPDATE attempts SET expires_at = now()');
    expect(await tickets.open(customer, QUESTION)).toHaveProperty('ticket');
  });

  it('gets at most two hundred messages of its customer in a day, and any of support', async () => {
    const { customer, ticketId } = await opened();
    await tickets.write(customer, ticketId, { body: 'Hello?' });
    await ledger.owner.query('UPDATE attempts SET count = 200');
    await expect(tickets.write(customer, ticketId, { body: 'Hello?' })).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringContaining('at most 200 messages on tickets in 24 hours'),
    });
    await tickets.write(await support(), ticketId, { body: 'Yes.' });
  });

  it('is not reopened once it is full', async () => {
    const { customer, ticketId } = await opened();
    await ledger.owner.query(
      `INSERT INTO ticket_messages (id, ticket_id, author_id, from_staff, kind, body)
       SELECT $1 || n, $1, $2, false, 'message', 'Again.' FROM generate_series(1, 498) AS n`,
      [ticketId, customer.actor.userId],
    );
    await tickets.close(customer, ticketId);
    await expect(tickets.reopen(customer, ticketId)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('takes no more once its messages are as long as a book', async () => {
    const { customer, ticketId } = await opened();
    const long = { kind: 'message', body: '长'.repeat(10_000) } as const;
    for (let sent = 0; sent < 20; sent += 1) await tickets.write(customer, ticketId, long);
    await expect(tickets.write(customer, ticketId, long)).rejects.toThrow(/too long messages/);
  });

  it('waits for support until it is answered, and for its customer until they write', async () => {
    const { customer, ticketId } = await opened();
    const staff = await support();
    const answered = await tickets.write(staff, ticketId, { body: 'Like this.' });
    expect(answered.ticket).toMatchObject({ state: 'answered', waitingSince: null });
    expect(await mailsTo(customer)).toBe(1);
    const { ticket, messages } = await tickets.write(customer, ticketId, { body: 'Thanks.' });
    expect(ticket).toMatchObject({ state: 'open', waitingSince: expect.any(Date) as unknown });
    expect(messages.map(({ body, fromStaff }) => [body, fromStaff])).toEqual([
      ['How does it work?', false],
      ['Like this.', true],
      ['Thanks.', false],
    ]);
    expect(await mailsTo(customer)).toBe(1);
    expect(await auditOf(ticketId)).toEqual(['ticket.answered']);
  });

  it('hides staff notes from its customer, who is not notified of them', async () => {
    const { customer, ticketId } = await opened();
    const staff = await support();
    const noted = await tickets.write(staff, ticketId, { body: 'They asked before.', isNote: true });
    expect(noted.ticket.state).toBe('open');
    expect(noted.messages.map(({ kind }) => kind)).toEqual(['message', 'note']);
    const seen = await tickets.find(customer, ticketId);
    expect(seen.messages.map(({ kind }) => kind)).toEqual(['message']);
    expect(await mailsTo(customer)).toBe(0);
  });

  it('of another account is treated as if it did not exist', async () => {
    const { ticketId } = await opened();
    const stranger = await newCustomer();
    for (const ask of [
      () => tickets.find(stranger, ticketId),
      () => tickets.write(stranger, ticketId, { body: 'Mine?' }),
      () => tickets.close(stranger, ticketId),
      () => tickets.reopen(stranger, ticketId),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'not_found' });
    expect((await tickets.list(stranger, { limit: 10 })).items).toEqual([]);
  });

  it('is closed once by two at once, then accepts no message, and is open again once reopened', async () => {
    const { customer, ticketId } = await opened();
    const staff = await support();
    await Promise.all([tickets.close(customer, ticketId), tickets.close(staff, ticketId)]);
    const { ticket, messages } = await tickets.find(customer, ticketId);
    expect(ticket).toMatchObject({ state: 'closed', closedAt: expect.any(Date) as unknown });
    expect(messages.filter(({ kind }) => kind === 'event')).toHaveLength(1);
    await expect(tickets.write(customer, ticketId, { body: 'But' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await Promise.all([tickets.reopen(customer, ticketId), tickets.reopen(customer, ticketId)]);
    const again = await tickets.find(customer, ticketId);
    expect(again.ticket).toMatchObject({ state: 'open', closedAt: null });
    expect(again.messages.filter(({ kind }) => kind === 'event')).toHaveLength(2);
  });

  it('of a staff member is decided by someone else', async () => {
    const customer = await newCustomer();
    const { ticket } = await tickets.open(customer, QUESTION);
    const itself: Speaker = { ...customer, side: 'staff' };
    await expect(tickets.write(itself, ticket.id, { body: 'Granted.' })).rejects.toMatchObject({
      code: 'second_person_required',
    });
  });

  it('only names a charge of its own account', async () => {
    const customer = await newCustomer();
    await expect(tickets.open(customer, { ...QUESTION, chargeId: 'none' })).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'chargeId',
    });
  });

  it('is one of at most twenty open ones, even if they are opened at once', async () => {
    const customer = await newCustomer();
    for (let count = 0; count < 17; count += 1) await tickets.open(customer, QUESTION);
    const ends = await Promise.allSettled(Array.from({ length: 6 }, () => tickets.open(customer, QUESTION)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    const [newest] = (await tickets.list(customer, { limit: 1 })).items;
    await tickets.close(customer, newest!.id);
    expect(await tickets.open(customer, QUESTION)).toMatchObject({ ticket: { state: 'open' } });
  });
});

describe('the list of tickets', () => {
  const pages = async (speaker: Speaker, filter: { accountId: string; state?: 'open' }) => {
    const first = await tickets.list(speaker, { limit: 2, ...filter });
    const rest = await tickets.list(speaker, { limit: 2, ...filter, cursor: first.nextCursor! });
    expect(rest.nextCursor).toBeNull();
    return [...first.items, ...rest.items].map(({ id }) => id);
  };

  it('has the newest first, or for support the longest waiting first, page by page', async () => {
    const customer = await newCustomer();
    const { accountId } = customer.actor;
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) made.push((await tickets.open(customer, QUESTION)).ticket.id);
    const staff = await support();
    expect(await pages(customer, { accountId })).toEqual(made.toReversed());
    expect(await pages(staff, { accountId })).toEqual(made.toReversed());
    expect(await pages(staff, { accountId, state: 'open' })).toEqual(made);
    await tickets.write(staff, made[0]!, { body: 'Like this.' });
    await tickets.write(customer, made[0]!, { body: 'And this?' });
    expect(await pages(staff, { accountId, state: 'open' })).toEqual([made[1], made[2], made[0]]);
    await tickets.close(customer, made[1]!);
    const waiting = await tickets.list(staff, { limit: 9, accountId, state: 'open' });
    expect(waiting.items.map(({ id }) => id)).toEqual([made[2], made[0]]);
  });

  it('refuses a cursor of another list', async () => {
    const customer = await newCustomer();
    const { accountId } = customer.actor;
    for (let count = 0; count < 2; count += 1) await tickets.open(customer, QUESTION);
    const staff = await support();
    const { nextCursor } = await tickets.list(staff, { limit: 1, accountId });
    const wanted = tickets.list(staff, { limit: 1, accountId, state: 'open', cursor: nextCursor! });
    await expect(wanted).rejects.toMatchObject({ code: 'invalid_value', param: 'cursor' });
  });
});

describe('the assignee of a ticket', () => {
  it('is the first to reply, then the person it is handed to, and each finds their own tickets', async () => {
    const { customer, ticketId } = await opened();
    const [first, second] = [await support(), await support()];
    const { accountId } = customer.actor;
    const of = async (assignee: string) =>
      (await tickets.list(second, { limit: 9, accountId, assignee })).items.map(({ id }) => id);
    expect(await of('none')).toEqual([ticketId]);
    await tickets.write(second, ticketId, { body: 'They asked before.', isNote: true });
    expect(await of('none')).toEqual([ticketId]);
    await tickets.write(first, ticketId, { body: 'Like this.' });
    await tickets.write(second, ticketId, { body: 'And like that.' });
    expect(await of(first.actor.userId)).toEqual([ticketId]);
    const { ticket } = await tickets.assign(first, ticketId, second.actor.userId);
    expect(ticket.assigneeId).toBe(second.actor.userId);
    await tickets.assign(first, ticketId, second.actor.userId);
    expect(await of(second.actor.userId)).toEqual([ticketId]);
    await tickets.assign(second, ticketId, null);
    expect(await of('none')).toEqual([ticketId]);
    expect((await auditOf(ticketId)).filter((action) => action === 'ticket.assigned')).toHaveLength(2);
  });

  it('is on the support team, and may sign in', async () => {
    const { customer, ticketId } = await opened();
    const [staff, gone] = [await support(), await support()];
    await ledger.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [gone.actor.userId]);
    const listed = (await tickets.colleagues()).map(({ id }) => id);
    expect(listed).toContain(staff.actor.userId);
    for (const { actor } of [customer, gone]) {
      expect(listed).not.toContain(actor.userId);
      await expect(tickets.assign(staff, ticketId, actor.userId)).rejects.toMatchObject({
        code: 'invalid_value',
        param: 'assigneeId',
      });
    }
  });
});
