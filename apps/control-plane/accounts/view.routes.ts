import { z } from 'zod';
import { id, timeView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const forStaff = routesFor(['support', 'admin'], 'Support: accounts');

export const viewRoutes = {
  begin: forStaff.post('viewAccount', '/api/support/accounts/{accountId}/view', {
    summary: 'View the console as the owner of an account, for a limited time.',
    description:
      'From then on, the GET routes of everybody (`/api/account`, `/api/usage` …) answer this session for that account; ' +
      'whatever else is refused until the view ends. The session says so in `viewing`. The owner sees who looked, by role, when and why.',
    params: z.strictObject({ accountId: id }),
    body: z.strictObject({
      reason: z
        .string()
        .trim()
        .min(3, 'must say why, in at least 3 characters')
        .max(500)
        .meta({ description: 'Why you look. The owner of the account reads it.' }),
      ticketId: id.optional().meta({ description: 'The ticket of this account that it is about.' }),
    }),
    answer: z.object({ accountId: z.string(), name: z.string(), until: timeView }),
  }),
  end: forStaff.delete('endAccountView', '/api/support/view', {
    summary: 'End the view and return to your own console.',
    underView: 'own',
  }),
};
