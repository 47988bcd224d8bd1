import { z } from 'zod';
import { id, timeView, reasonText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const forStaff = routesFor(['support', 'admin'], 'Support: accounts');

export const viewRoutes = {
  begin: forStaff.post('viewAccount', '/api/support/accounts/{accountId}/view', {
    summary: 'View the console as the owner of an account, for a limited time.',
    description:
      "Until the view ends, the GET routes for customers (`/api/account`, `/api/usage`, …) answer for that account, and all other requests of this session are refused. The session shows this in `viewing`. The owner can see the viewer's role, the time and the reason.",
    body: z.strictObject({
      reason: reasonText.describe('Your reason. Shown to the account owner.'),
      ticketId: id.optional().describe("The account's ticket that the view is about."),
    }),
    answer: z.object({ accountId: z.string(), name: z.string(), until: timeView }),
  }),
  end: forStaff.delete('endAccountView', '/api/support/view', {
    summary: 'End the view and return to your own console.',
    underView: 'own',
  }),
};
