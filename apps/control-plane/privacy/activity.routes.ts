import { z } from 'zod';
import { activityActors } from '#privacy/activity.js';
import { pageOf, pageQuery, timeView } from '#platform/http/fields.js';
import { route } from '../http/route.js';

export const activityRoutes = {
  list: route({
    id: 'listActivity',
    method: 'GET',
    path: '/api/activity',
    tag: 'Account',
    summary: 'What happened to the access of your account, the newest first.',
    description:
      'Sign-ins, changes of keys, password and second factor, exports and deletions that were asked for, and each time a ' +
      'colleague of ours viewed your console: their role, when, and why.',
    access: ['user'],
    query: z.strictObject(pageQuery),
    answer: pageOf(
      z.object({
        id: z.string(),
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
