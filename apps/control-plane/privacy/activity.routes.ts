import { activityLine } from '#privacy/activity.js';
import { routesFor } from '../http/route.js';

const forUsers = routesFor(['user'], 'Account');

export const activityRoutes = {
  list: forUsers.list(activityLine)('listActivity', '/api/activity', {
    summary: 'List access to your account, newest first.',
    description:
      'Includes sign-ins, changes of keys, password and second factor, requested exports and deletions, and each time staff viewed your console, with their role, the time and the reason.',
  }),
};
