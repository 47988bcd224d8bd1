import { routesFor } from '../http/route.js';

const forUsers = routesFor(['user'], 'Account');

export const liveRoutes = {
  watch: forUsers.get('watchAccount', '/api/live', {
    summary: 'Stream changes of your account as server-sent events.',
    description:
      'First the current state, then each change. `balance` carries `main`, `held` and `invite`; `task` carries a task ' +
      'as GET /api/tasks/{taskId} answers it, the newest ones and all that run; `end` says why the stream ends: ' +
      '`session_ended` or `shutdown`. A client that comes back gets the present state again.',
    produces: ['text/event-stream'],
    refusals: ['rate_limit_exceeded'],
  }),
};
