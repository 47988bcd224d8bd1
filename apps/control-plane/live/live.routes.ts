import { routesFor } from '../http/route.js';

const forUsers = routesFor(['user'], 'Account');

export const liveRoutes = {
  watch: forUsers.get('watchAccount', '/api/live', {
    summary: 'Stream changes of your account as server-sent events.',
    description:
      'Sends the current state, then each change. `balance` has `main`, `held` and `invite`; `task` has a task as returned by GET /api/tasks/{taskId}, starting with the newest and all running tasks; `end` says why the stream ends: `session_ended` or `shutdown`. A client that reconnects gets the current state again.',
    produces: ['text/event-stream'],
  }),
};
