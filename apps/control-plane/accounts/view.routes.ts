import { z } from 'zod';
import { id, timeView } from '#platform/http/fields.js';
import { route } from '../http/route.js';

const tag = 'Support: accounts';
const staff = ['support', 'admin'] as const;

export const viewRoutes = {
  begin: route({
    id: 'viewAccount',
    method: 'POST',
    path: '/api/support/accounts/{accountId}/view',
    tag,
    summary: 'Looks at the console as the owner of an account sees it, for a while.',
    description:
      'From then on, the GET routes of everybody (`/api/account`, `/api/usage` …) answer this session for that account; ' +
      'whatever else is refused until the view ends. The session says so in `viewing`. The owner sees who looked, by role, when and why.',
    access: staff,
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
  end: route({
    id: 'endAccountView',
    method: 'DELETE',
    path: '/api/support/view',
    tag,
    summary: 'Goes back to your own console; without a view it changes nothing.',
    access: staff,
    underView: 'own',
  }),
};
