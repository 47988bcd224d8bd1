import type { Pool } from 'pg';
import { type Task, TASK_COLUMNS } from './task.js';

export interface TaskPage {
  kind: Task['kind'];
  /** By the time of creation, which is part of the IDs. */
  order: 'asc' | 'desc';
  /** Only tasks after this ID. */
  after: string | undefined;
  limit: number;
}

// Two statements, because the direction of an index scan is part of its plan.
const listing = (order: TaskPage['order'], behind: '<' | '>') => ({
  name: `task_list_${order}`,
  text: `SELECT ${TASK_COLUMNS} FROM tasks t
    WHERE t.account_id = $1 AND t.kind = $2 AND ($3::text IS NULL OR t.id ${behind} $3)
      AND t.state <> 'refused' AND t.deleted_at IS NULL
    ORDER BY t.id ${order} LIMIT $4`,
});
const LISTINGS = { asc: listing('asc', '>'), desc: listing('desc', '<') };

const DELETED = {
  name: 'task_deleted',
  text: `UPDATE tasks SET deleted_at = coalesce(deleted_at, now()) WHERE id = $1 AND state IN ('completed', 'failed')`,
};

/** The tasks of an account as a list, and removing them from it. */
export class TaskListing {
  constructor(private readonly pool: Pool) {}

  /** A page by key. Its cost does not depend on the length of the list. Refused and deleted tasks are left out. */
  async page(accountId: string, { kind, order, after, limit }: TaskPage): Promise<Task[]> {
    const values = [accountId, kind, after ?? null, limit];
    return (await this.pool.query<Task>({ ...LISTINGS[order], values })).rows;
  }

  /** Records that the owner deleted the file. False while the task is running. The record stays permanently. */
  async markDeleted(id: string): Promise<boolean> {
    return (await this.pool.query({ ...DELETED, values: [id] })).rowCount === 1;
  }
}
