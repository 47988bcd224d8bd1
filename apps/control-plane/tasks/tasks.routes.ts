import { z } from 'zod';
import { id, time } from '#platform/http/fields.js';
import { modelName } from '#marketplace/prices/price-change.fields.js';
import { publicStates } from '#tasks/task-state.js';
import { routesFor } from '../http/route.js';
import { accountTaskView } from './task.view.js';

/** Ids of tasks of other programs may be longer than ours. */
export const taskId = z.string().regex(/^[0-9a-z]{20,40}$/, 'must be the id of a task');

const forUsers = routesFor(['user'], 'Tasks');

export const taskRoutes = {
  list: forUsers.list(accountTaskView)('listTasks', '/api/tasks', {
    summary: 'List your videos and 3D assets.',
    description:
      'Newest first. A page searches a limited number of tasks, so it can have fewer items than its limit, or none, and still have a `nextCursor`. `running` includes queued and in-progress tasks.',
    query: {
      kind: z.enum(['video', '3d']).optional(),
      state: z.enum([...publicStates, 'running']).optional(),
      model: modelName.optional(),
      keyId: id.optional(),
      from: time.optional().describe('At or after this time.'),
      to: time.optional().describe('Before this time.'),
    },
  }),
  show: forUsers.get('getTask', '/api/tasks/{taskId}', {
    summary: 'Get one of your tasks.',
    params: z.strictObject({ taskId }),
    answer: accountTaskView,
  }),
};
