import { z } from 'zod';
import { activityActors } from '#privacy/activity.js';
import { pageOf, pageQuery, timeView, numberText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const forUsers = routesFor(['user'], 'Account');

export const activityRoutes = {
  list: forUsers.get('listActivity', '/api/activity', {
    summary: 'List access to your account, newest first.',
    description:
      'Sign-ins, changes of keys, password and second factor, exports and deletions that were asked for, and each time a ' +
      'colleague of ours viewed your console: their role, when, and why.',
    query: z.strictObject(pageQuery),
    answer: pageOf(
      z.object({
        id: numberText,
        action: z.string().meta({ examples: ['account.view_began', 'session.opened', 'key.created'] }),
        by: z.enum(activityActors).meta({ description: 'You, or the role of the person who did it.' }),
        subject: z.string().meta({ description: '`kind:{id}` of what it was done to.' }),
        reason: z.string().nullable(),
        ticketId: z.string().nullable(),
        at: timeView,
      }),
    ),
  }),
};
