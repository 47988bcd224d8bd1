import { z } from 'zod';
import { id, pageOf, pageQuery, time } from '#platform/http/fields.js';
import { modelName } from '#marketplace/prices/price-change.fields.js';
import { publicStates } from '#tasks/task-state.js';
import { route } from '../http/route.js';
import { taskView } from './task.view.js';

const tag = 'Tasks';

/** Ids of tasks of other programs may be longer than ours. */
export const taskId = z.string().regex(/^[0-9a-z]{20,40}$/, 'must be the id of a task');

export const taskRoutes = {
  list: route({
    id: 'listTasks',
    method: 'GET',
    path: '/api/tasks',
    tag,
    summary: 'Your videos and 3D assets.',
    description:
      'Newest first. A page may hold fewer items than its limit, or none, while nextCursor goes on: it looks at so many ' +
      'tasks at most. `running` means queued and in progress.',
    access: ['user'],
    query: z.strictObject({
      ...pageQuery,
      kind: z.enum(['video', '3d']).optional(),
      state: z.enum([...publicStates, 'running']).optional(),
      model: modelName.optional(),
      keyId: id.optional(),
      from: time.optional().meta({ description: 'Not before this time.' }),
      to: time.optional().meta({ description: 'Before this time.' }),
    }),
    answer: pageOf(taskView),
  }),
  show: route({
    id: 'getTask',
    method: 'GET',
    path: '/api/tasks/{taskId}',
    tag,
    summary: 'One of your tasks.',
    access: ['user'],
    params: z.strictObject({ taskId }),
    answer: taskView,
  }),
};
