import { z } from 'zod';
import { roles } from '#identity/role.js';
import { route } from '../http/route.js';

export const sessionView = z.object({
  userId: z.string(),
  accountId: z.string(),
  email: z.string(),
  roles: z.array(z.enum(roles)),
  csrfToken: z
    .string()
    .meta({ description: 'Goes into the header x-csrf-token of whatever changes something.' }),
});

export const sessionRoutes = {
  show: route({
    id: 'getSession',
    method: 'GET',
    path: '/api/session',
    tag: 'Session',
    summary: 'Who is signed in.',
    access: ['user'],
    answer: sessionView,
  }),
};
