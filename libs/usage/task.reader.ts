import type pg from 'pg';
import type { publicStates } from '#tasks/task-state.js';
import { type Task, TASK_COLUMNS } from '#tasks/task.js';
import { CLOCKS_APART_MS, conditionsOn, idsWithin, type Slice } from './newest-first.js';

/** The filter. `running` means queued and in progress. Times are of creation, without `to`. */
export interface TaskFilter {
  kind?: Task['kind'] | undefined;
  state?: (typeof publicStates)[number] | 'running' | undefined;
  model?: string | undefined;
  keyId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A task with its charge's amounts in nanos, null if there is none yet. */
export interface AccountTask extends Task {
  settled: bigint | null;
  released: bigint | null;
}

/** The most tasks that a page examines, newest first. Later pages continue from there. */
const SCAN_LIMIT = 5_000;

const STATES: Record<NonNullable<TaskFilter['state']>, string> = {
  running: `t.state IN ('created', 'submitting', 'submitted', 'unknown')`,
  queued: `(t.state IN ('created', 'submitting', 'unknown') OR t.state = 'submitted' AND t.progress = 0)`,
  in_progress: `t.state = 'submitted' AND t.progress > 0`,
  completed: `t.state = 'completed'`,
  failed: `t.state = 'failed'`,
};

const COLUMNS = `${TASK_COLUMNS}, c.settled, c.released`;

/** Tasks `t` with their charges `c`, to be followed by a clause. */
export const ACCOUNT_TASKS = `SELECT ${COLUMNS}
  FROM tasks t LEFT JOIN charges c ON c.id = t.charge_id AND c.account_id = t.account_id`;

/**
 * The tasks of an account, newest first, by the index on account and id, whatever the filter. Refused ones are left out. In
 * the order of the index, charges are only read for the page.
 */
export async function listTasks(
  pool: pg.Pool,
  { accountId, filter }: { accountId: string; filter: TaskFilter },
  page: { limit: number; after: string | null },
): Promise<Slice<AccountTask>> {
  const scan = scanOf(accountId, filter, page.after);
  const { where, values } = conditionsOf(filter, scan.values);
  const { rows } = await pool.query<AccountTask>(
    `SELECT ${COLUMNS} FROM (SELECT t.* ${scan.text} LIMIT ${SCAN_LIMIT}) AS t
     LEFT JOIN charges c ON c.id = t.charge_id AND c.account_id = t.account_id
     WHERE ${where} ORDER BY t.account_id DESC, t.id DESC LIMIT ${page.limit + 1}`,
    values,
  );
  const items = rows.slice(0, page.limit);
  if (rows.length > page.limit) return { items, next: items.at(-1)!.id };
  const { rows: ends } = await pool.query<{ id: string }>(
    `SELECT t.id ${scan.text} OFFSET ${SCAN_LIMIT - 1} LIMIT 1`,
    scan.values,
  );
  return { items, next: ends[0]?.id ?? null };
}

/** A task of this account by its id; null for anyone else's, and for a refused one. */
export async function findTask(
  pool: pg.Pool,
  accountId: string,
  taskId: string,
): Promise<AccountTask | null> {
  const { rows } = await pool.query<AccountTask>(
    `${ACCOUNT_TASKS} WHERE t.id = $1 AND t.account_id = $2 AND t.state <> 'refused'`,
    [taskId, accountId],
  );
  return rows[0] ?? null;
}

function scanOf(accountId: string, filter: TaskFilter, after: string | null) {
  const { first, before } = idsWithin(filter, after, CLOCKS_APART_MS);
  return {
    text: `FROM tasks t WHERE (t.account_id, t.id) < ($1, $2) AND (t.account_id, t.id) >= ($1, $3)
      ORDER BY t.account_id DESC, t.id DESC`,
    values: [accountId, before, first] as unknown[],
  };
}

function conditionsOf(filter: TaskFilter, given: readonly unknown[]): { where: string; values: unknown[] } {
  const values = [...given];
  const conditions = [
    `t.state <> 'refused'`,
    ...conditionsOn(values, {
      't.kind =': filter.kind,
      't.model_id =': filter.model,
      't.key_id =': filter.keyId,
      't.created_at >=': filter.from,
      't.created_at <': filter.to,
    }),
    ...(filter.state ? [STATES[filter.state]] : []),
  ];
  return { where: conditions.join(' AND '), values };
}
