import { Controller } from '@nestjs/common';
import { ApiError } from '#platform/errors.js';
import { readCursorId, sliceOf } from '#platform/http/page.js';
import { findTask, listTasks } from '#usage/task.reader.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { viewTask } from './task.view.js';
import { taskRoutes as routes } from './tasks.routes.js';

/** Long-running work of one's own account, as the gateways and workers left it. */
@Controller()
export class TasksController extends Using({ pool: POOL, clock: CONTROL_PLANE_CLOCK }) {
  @Serves(routes.list)
  async list({ actor, query }: CallOf<typeof routes.list>) {
    const { limit, cursor, ...filter } = query;
    const after = readCursorId(cursor);
    const slice = await listTasks(this.pool, { accountId: actor.accountId, filter }, { limit, after });
    const nowMs = this.clock.nowMs();
    return sliceOf(slice, (task) => viewTask(task, nowMs));
  }

  @Serves(routes.show)
  async show({ actor, params }: CallOf<typeof routes.show>) {
    const task = await findTask(this.pool, actor.accountId, params.taskId);
    if (!task) throw new ApiError('not_found', 'You have no such task.');
    return viewTask(task, this.clock.nowMs());
  }
}
