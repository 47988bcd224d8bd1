import { route } from '../http/route.js';

export const liveRoutes = {
  watch: route({
    id: 'watchAccount',
    method: 'GET',
    path: '/api/live',
    tag: 'Account',
    summary: 'What changes on your account, as it changes: a stream of server-sent events.',
    description:
      'First the current state, then each change. `balance` carries `main`, `held` and `invite`; `task` carries a task ' +
      'as GET /api/tasks/{taskId} answers it, the newest ones and all that run; `end` says why the stream ends: ' +
      '`session_ended` or `shutdown`. A client that comes back gets the present state again.',
    access: ['user'],
    produces: ['text/event-stream'],
    refusals: ['rate_limit_exceeded'],
  }),
};
