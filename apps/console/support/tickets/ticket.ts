import { keepAnswer, refresh, type Shape } from '../../api/client.js';

/** Every change returns the whole ticket. */
export async function takeTicket(ticket: Shape<'StaffTicket'> | undefined): Promise<void> {
  if (!ticket) return;
  keepAnswer('/api/support/tickets/{ticketId}', { path: { ticketId: ticket.id } }, ticket);
  await refresh('/api/support/tickets', '/api/support/accounts/{accountId}/rate');
}
