import { ArrayOverlap, type DataSource, type EntityManager, In, IsNull, Not } from 'typeorm';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { lockAccount } from '#identity/account.store.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { countDaily } from '#identity/daily-limits.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { Actor } from '#identity/role.js';
import { User } from '#identity/user.entity.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import type { Page } from '#platform/http/page.js';
import { mailAboutTicket } from './ticket-decision.js';
import { Ticket, type TicketKind, TicketMessage, type TicketState } from './ticket.entity.js';
import { listNewest, listWaiting, type TicketFilter } from './ticket-list.js';

/** Who asks, and the request id for the audit log. `side` is the side of the ticket they speak for. */
export interface Speaker {
  actor: Actor;
  requestId: string;
  side: 'customer' | 'staff';
}

export interface NewTicket {
  kind: TicketKind;
  subject: string;
  body: string;
  chargeId?: string | undefined;
}

export interface TicketWithMessages {
  ticket: Ticket;
  messages: TicketMessage[];
}

/** One more would not help an account with this many. */
const MAX_UNCLOSED = 20;
/** A ticket is read as a whole, so what one reading costs must have an end. */
const MAX_MESSAGES = 500;
const MAX_CHARACTERS = 200_000;

/** Those who may answer tickets and can sign in. */
const OF_SUPPORT = { roles: ArrayOverlap(['support', 'admin']), disabledAt: IsNull() };

/** Tickets between customers and support. Customers only reach those of their account. Others look as if they did not exist. */
export class TicketService {
  constructor(private readonly source: DataSource) {}

  /** @throws ApiError for someone else's charge, or one ticket too many at the same time or in a day */
  open(speaker: Speaker, wanted: NewTicket): Promise<TicketWithMessages> {
    const { accountId, userId } = speaker.actor;
    return inEntityTransaction(this.source, async (transaction) => {
      const { entities } = transaction;
      await refuseOneTooMany(transaction, accountId);
      await countDaily(transaction.client, accountId, 'new tickets');
      const { kind, subject, body, chargeId = null } = wanted;
      if (chargeId !== null) await requireCharge(transaction, chargeId, accountId);
      const ticket = entities.create(Ticket, {
        id: newId(),
        accountId,
        openedBy: userId,
        kind,
        subject,
        chargeId,
        state: 'open',
        outcome: null,
        closedAt: null,
        assigneeId: null,
      });
      await entities.insert(Ticket, ticket);
      await addMessage(transaction, speaker, { ticketId: ticket.id, kind: 'message', body });
      return this.read(entities, ticket, speaker);
    });
  }

  /** A customer's own tickets, or for staff all that match the filter: newest first, and open ones by waiting time. */
  list(speaker: Speaker, filter: TicketFilter): Promise<Page<Ticket>> {
    if (speaker.side === 'customer') {
      const { accountId } = speaker.actor;
      return listNewest(this.source, { ...filter, accountId, assignee: undefined });
    }
    return filter.state === 'open' ? listWaiting(this.source, filter) : listNewest(this.source, filter);
  }

  /** @throws ApiError not_found */
  async find(speaker: Speaker, ticketId: string): Promise<TicketWithMessages> {
    const ticket = await this.source.getRepository(Ticket).findOneBy(ownedBy(speaker, ticketId));
    return this.read(this.source.manager, ticket ?? refuseUnknown(), speaker);
  }

  /** A message of either side. After a customer's, support has to answer, and the other way round. A note changes nothing. */
  write(
    speaker: Speaker,
    ticketId: string,
    line: { body: string; isNote?: boolean },
  ): Promise<TicketWithMessages> {
    return this.locked(speaker, ticketId, async (transaction, ticket) => {
      if (ticket.state === 'closed') throw new ApiError('conflict', 'The ticket is closed. Reopen it first.');
      await requireRoom(transaction, ticketId);
      if (speaker.side === 'customer')
        await countDaily(transaction.client, ticket.accountId, 'messages on tickets');
      const { body, isNote = false } = line;
      await addMessage(transaction, speaker, {
        ticketId: ticket.id,
        kind: isNote ? 'note' : 'message',
        body,
      });
      if (!isNote) await this.move(transaction, ticket, speaker.side === 'staff' ? 'answered' : 'open');
      if (!isNote && speaker.side === 'staff' && ticket.assigneeId === null)
        await transaction.entities.update(Ticket, ticketId, { assigneeId: speaker.actor.userId });
      await noteStaff(transaction, speaker, {
        ...ticket,
        action: isNote ? 'ticket.noted' : 'ticket.answered',
      });
      if (speaker.side === 'staff' && !isNote) await mailAboutTicket(transaction.client, ticketId);
    });
  }

  /** A repeat changes nothing. @throws ApiError not_found */
  close(speaker: Speaker, ticketId: string): Promise<TicketWithMessages> {
    return this.locked(speaker, ticketId, async (transaction, ticket) => {
      if (ticket.state === 'closed') return;
      await this.move(transaction, ticket, 'closed');
      await addMessage(transaction, speaker, { ticketId: ticket.id, kind: 'event', body: 'Closed.' });
      await noteStaff(transaction, speaker, { ...ticket, action: 'ticket.closed' });
    });
  }

  /** A repeat changes nothing. @throws ApiError not_found, conflict */
  reopen(speaker: Speaker, ticketId: string): Promise<TicketWithMessages> {
    return this.locked(speaker, ticketId, async (transaction, ticket) => {
      if (ticket.state !== 'closed') return;
      await requireRoom(transaction, ticketId);
      await this.move(transaction, ticket, 'open');
      await addMessage(transaction, speaker, { ticketId: ticket.id, kind: 'event', body: 'Reopened.' });
      await noteStaff(transaction, speaker, { ...ticket, action: 'ticket.reopened' });
    });
  }

  /** Possible assignees, by email address. */
  colleagues(): Promise<Pick<User, 'id' | 'email'>[]> {
    const select = { id: true, email: true } as const;
    return this.source.getRepository(User).find({ select, where: OF_SUPPORT, order: { email: 'ASC' } });
  }

  /**
   * Assigns a ticket to a member of the support team, or to nobody. A repeat changes nothing.
   * @throws ApiError not_found, second_person_required, invalid_value for anyone else
   */
  assign(speaker: Speaker, ticketId: string, assigneeId: string | null): Promise<TicketWithMessages> {
    return this.locked(speaker, ticketId, async (transaction, ticket) => {
      if (ticket.assigneeId === assigneeId) return;
      if (assigneeId !== null) await requireColleague(transaction, assigneeId);
      await transaction.entities.update(Ticket, ticketId, { assigneeId });
      const after = { assigneeId };
      await noteStaff(transaction, speaker, { ...ticket, action: 'ticket.assigned', after });
    });
  }

  /**
   * Locks a ticket for a decision about it, such as a rate, in the caller's transaction. Staff do not decide on their
   * own tickets.
   * @throws ApiError not_found, second_person_required
   */
  async lock({ entities, client }: EntityTransaction, speaker: Speaker, ticketId: string): Promise<Ticket> {
    const ticket = await entities.findOne(Ticket, {
      where: ownedBy(speaker, ticketId),
      lock: { mode: 'for_no_key_update' },
    });
    if (ticket && speaker.side === 'staff') await refuseOwnInterest(client, speaker.actor, ticket.accountId);
    return ticket ?? refuseUnknown();
  }

  private async locked(
    speaker: Speaker,
    ticketId: string,
    work: (transaction: EntityTransaction, ticket: Ticket) => Promise<void>,
  ): Promise<TicketWithMessages> {
    return inEntityTransaction(this.source, async (transaction) => {
      await work(transaction, await this.lock(transaction, speaker, ticketId));
      const ticket = await transaction.entities.findOneByOrFail(Ticket, { id: ticketId });
      return this.read(transaction.entities, ticket, speaker);
    });
  }

  private async move({ client }: EntityTransaction, { id }: Ticket, state: TicketState): Promise<void> {
    await client.query(
      `UPDATE tickets SET state = $2, updated_at = now(), closed_at = CASE $2 WHEN 'closed' THEN now() END WHERE id = $1`,
      [id, state],
    );
  }

  private async read(
    entities: EntityManager,
    ticket: Ticket,
    { side }: Speaker,
  ): Promise<TicketWithMessages> {
    const kinds =
      side === 'staff' ? (['message', 'note', 'event'] as const) : (['message', 'event'] as const);
    const messages = await entities.find(TicketMessage, {
      where: { ticketId: ticket.id, kind: In([...kinds]) },
      order: { id: 'ASC' },
    });
    return { ticket, messages };
  }
}

function ownedBy({ side, actor }: Speaker, id: string): { id: string; accountId?: string } {
  return side === 'staff' ? { id } : { id, accountId: actor.accountId };
}

async function requireCharge(
  { client }: EntityTransaction,
  chargeId: string,
  accountId: string,
): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM charges WHERE id = $1 AND account_id = $2', [
    chargeId,
    accountId,
  ]);
  if (rowCount === 0) {
    throw invalidField('chargeId', 'there is no such charge.');
  }
}

/** Locks the account, so that tickets opened at the same moment are counted. @throws ApiError conflict */
async function refuseOneTooMany({ entities, client }: EntityTransaction, accountId: string): Promise<void> {
  await lockAccount(client, accountId);
  const unclosed = await entities.countBy(Ticket, { accountId, state: Not('closed' as const) });
  if (unclosed < MAX_UNCLOSED) return;
  throw new ApiError('conflict', `An account can have at most ${MAX_UNCLOSED} open tickets.`);
}

async function requireRoom({ client }: EntityTransaction, ticketId: string): Promise<void> {
  const { rows } = await client.query<{ hasRoom: boolean }>(
    `SELECT count(*) < $2 AND coalesce(sum(length(body)), 0) < $3 AS "hasRoom" FROM ticket_messages WHERE ticket_id = $1`,
    [ticketId, MAX_MESSAGES, MAX_CHARACTERS],
  );
  if (rows[0]?.hasRoom) return;
  throw new ApiError('conflict', 'The ticket has too many or too long messages. Open another one.');
}

async function requireColleague({ entities }: EntityTransaction, userId: string): Promise<void> {
  if (await entities.existsBy(User, { id: userId, ...OF_SUPPORT })) return;
  throw invalidField('assigneeId', 'there is no such member of the support team.');
}

async function addMessage(
  { entities }: EntityTransaction,
  { actor, side }: Speaker,
  line: Pick<TicketMessage, 'ticketId' | 'kind' | 'body'>,
): Promise<void> {
  await entities.insert(TicketMessage, {
    ...line,
    id: newId(),
    authorId: actor.userId,
    fromStaff: side === 'staff',
  });
}

type Noted = Pick<Ticket, 'id' | 'accountId' | 'state' | 'assigneeId'> & {
  action: AuditAction;
  after?: { assigneeId: string | null };
};

/** The audit log has the actions of staff; the ticket has the texts. */
async function noteStaff(
  { client }: EntityTransaction,
  { actor, side, requestId }: Speaker,
  { id, accountId, state, assigneeId, action, after }: Noted,
): Promise<void> {
  if (side !== 'staff') return;
  const actedAs = `user:${actor.userId}`;
  await audit(client, {
    actor: actedAs,
    action,
    subject: `ticket:${id}`,
    accountId,
    before: after ? { assigneeId } : { state },
    ...(after ? { after } : {}),
    requestId,
  });
}

function refuseUnknown(): never {
  throw new ApiError('not_found', 'There is no such ticket.');
}
