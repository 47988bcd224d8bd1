import type pg from 'pg';
import type { TicketState } from './ticket.entity.js';

export interface FoundTicket {
  ticketId: string;
  accountId: string;
  subject: string;
  state: TicketState;
  createdAt: Date;
}

/** Subjects have no index: only those of the newest tickets are read. */
const SUBJECTS_READ = 5_000;
const MOST_FOUND = 10;

/** Each condition uses its own index. $1 is the text in lower case, $2 the accounts. */
const MATCHES = `SELECT id FROM tickets WHERE id = $1
  UNION SELECT id FROM tickets WHERE account_id = ANY ($2::text[])
  UNION SELECT id FROM (SELECT id, subject FROM tickets ORDER BY id DESC LIMIT ${SUBJECTS_READ}) AS newest
    WHERE strpos(lower(subject), $1) > 0`;

/** Tickets by their ID, a part of their subject or their customer, newest first. */
export async function searchTickets(
  pool: pg.Pool,
  { words, accountIds }: { words: string; accountIds: readonly string[] },
): Promise<FoundTicket[]> {
  const { rows } = await pool.query<FoundTicket>(
    `SELECT id AS "ticketId", account_id AS "accountId", subject, state, created_at AS "createdAt" FROM tickets
     WHERE id IN (${MATCHES}) ORDER BY id DESC LIMIT ${MOST_FOUND}`,
    [words.toLowerCase(), [...accountIds]],
  );
  return rows;
}
