import { z } from 'zod';
import { activityActors } from '#privacy/activity.js';
import { pageOf, pageQuery, timeView, numberText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const forUsers = routesFor(['user'], 'Account');

export const activityRoutes = {
  list: forUsers.get('listActivity', '/api/activity', {
    summary: 'List access to your account, newest first.',
    description:
      'Includes sign-ins, changes of keys, password and second factor, requested exports and deletions, and each time staff viewed your console, with their role, the time and the reason.',
    query: z.strictObject(pageQuery),
    answer: pageOf(
      z.object({
        id: numberText,
        action: z.string().meta({ examples: ['account.view_began', 'session.opened', 'key.created'] }),
        by: z.enum(activityActors).meta({ description: 'You, or the role of the actor.' }),
        subject: z.string().meta({ description: 'The subject, as `kind:{id}`.' }),
        reason: z.string().nullable(),
        ticketId: z.string().nullable(),
        at: timeView,
      }),
    ),
  }),
};
