import { $api, queryClient } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';

/** Every change returns the whole ticket. */
export async function takeTicket(ticket: Shape<'StaffTicket'> | undefined): Promise<void> {
  if (!ticket) return;
  const init = { params: { path: { ticketId: ticket.id } } };
  queryClient.setQueryData(
    $api.queryOptions('get', '/api/support/tickets/{ticketId}', init).queryKey,
    ticket,
  );
  await refresh('/api/support/tickets', '/api/support/accounts/{accountId}/rate');
}
