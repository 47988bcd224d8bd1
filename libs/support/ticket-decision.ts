import type pg from 'pg';
import { newId } from '#platform/ids.js';
import { queueMail } from '#mail/mail.outbox.js';
import type { TicketOutcome } from './ticket.entity.js';

export interface TicketDecision {
  ticketId: string;
  /** The deciding user. */
  authorId: string;
  /** Null if nothing is final yet. */
  outcome: TicketOutcome | null;
  /** The text for the customer. */
  event: string;
}

/** Records a decision on a ticket, in the transaction of the decision. */
export async function noteDecision(client: pg.ClientBase, decision: TicketDecision): Promise<void> {
  const { ticketId, authorId, outcome, event } = decision;
  await client.query(
    `UPDATE tickets SET outcome = coalesce($2, outcome), updated_at = now(),
       state = CASE state WHEN 'open' THEN 'answered' ELSE state END WHERE id = $1`,
    [ticketId, outcome],
  );
  await client.query(
    `INSERT INTO ticket_messages (id, ticket_id, kind, author_id, from_staff, body) VALUES ($1, $2, 'event', $3, true, $4)`,
    [newId(), ticketId, authorId, event],
  );
  await mailAboutTicket(client, ticketId);
}

/** Notifies the person who opened the ticket, if the transaction commits. */
export async function mailAboutTicket(client: pg.ClientBase, ticketId: string): Promise<void> {
  const { rows } = await client.query<{ email: string; subject: string }>(
    `SELECT u.email, t.subject FROM tickets t JOIN users u ON u.id = t.opened_by
     WHERE t.id = $1 AND u.disabled_at IS NULL`,
    [ticketId],
  );
  for (const { email, subject } of rows) {
    await queueMail(client, { template: 'ticket_answered', to: email, details: { ticketId, subject } });
  }
}
