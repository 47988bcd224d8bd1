import type { ClientBase, Pool, QueryResult, QueryResultRow } from 'pg';
import { inTransaction } from '#database/database.js';
import type { CallerLimits } from '#identity/key-authenticator.js';
import type { Nanos } from '#money/amount.js';
import { type Clock, systemClock } from '#platform/clock.js';
import { currentTrace } from '#platform/tracing.js';
import { type Task, TASK_COLUMNS, type TaskRequest } from './task.js';
import { announceMoved, type EndingTask, taskEndedRow, type TaskError } from './task-end.js';
import { requireSlot } from './running-tasks.js';
import { mayMove, type TaskState } from './task-state.js';

export interface NewTask {
  id: string;
  kind: 'video' | '3d';
  accountId: string;
  keyId: string;
  /** The key's group. */
  group: string;
  /** What the key and its group can run at once. Undefined means no limit. */
  limits: CallerLimits | undefined;
  chargeId: string;
  dialect: Task['dialect'];
  /** The model that is priced; an alias stays in `requestedModel`. */
  modelId: string;
  requestedModel: string;
  request: TaskRequest;
  seconds: number;
  /** The time limit for the whole task, in milliseconds from now. */
  deadlineMs: number;
}

export interface TaskTarget {
  channelId: string;
  /** The mark of the key in use (`keyMark`): the vendor shows the task to no other key. */
  channelKey: string;
  upstreamModel: string;
}

export interface FailOptions {
  from: TaskState | readonly TaskState[];
  /** Why the operator may have to pay for work that the customer does not. */
  unbilledCost?: string;
}

/** A named statement: parsed once per connection. */
interface Statement {
  name: string;
  text: string;
}

const INSERT: Statement = {
  name: 'task_insert',
  text: `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request,
    seconds, deadline, group_name, traceparent)
    VALUES ($1, $2, $3, $4, $5, $6, 'created', $7, $8, $9, $10, now() + $11 * interval '1 ms', $12, $13)`,
};
const SUBMITTING: Statement = {
  name: 'task_submitting',
  text: `UPDATE tasks SET state = 'submitting', channel_id = $2, upstream_model = $3, held_amount = $4, channel_key = $5,
    request = $6, submitting_at = now() WHERE id = $1 AND state = 'created'`,
};
const RETARGET: Statement = {
  name: 'task_retarget',
  text: `UPDATE tasks SET channel_id = $2, upstream_model = $3, channel_key = $4, submitting_at = now()
    WHERE id = $1 AND state = 'submitting'`,
};
const SUBMITTED: Statement = {
  name: 'task_submitted',
  text: `UPDATE tasks SET state = 'submitted', upstream_id = $2, submitted_at = now(),
    next_poll_at = now() + $3 * interval '1 ms' WHERE id = $1 AND state IN ('submitting', 'unknown')`,
};
const UNKNOWN: Statement = {
  name: 'task_unknown',
  text: `UPDATE tasks SET state = 'unknown', next_poll_at = now() + $2 * interval '1 ms'
    WHERE id = $1 AND state = 'submitting'`,
};
// Its prompt is not sent any more, and accounts without credits could fill the table with prompts.
const REFUSED: Statement = {
  name: 'task_refused',
  text: `UPDATE tasks SET state = 'refused', error_code = $2, error_message = $3, ended_at = now(),
    request = request || '{"prompt": ""}' WHERE id = $1 AND state = 'created'`,
};
const FAILED: Statement = {
  name: 'task_failed',
  text: `WITH moved AS (
      UPDATE tasks SET state = 'failed', error_code = $3, error_message = $4, unbilled_cost = $5, ended_at = now(),
        next_poll_at = NULL WHERE id = $1 AND state = ANY ($2) RETURNING id)
    ${announceMoved(6)}`,
};
const UNBILLED: Statement = {
  name: 'task_unbilled',
  text: 'UPDATE tasks SET unbilled_cost = $2 WHERE id = $1',
};
// Tasks that a worker has are being polled, and keep their lease.
const POLL_NOW: Statement = {
  name: 'task_poll_now',
  text: `UPDATE tasks SET next_poll_at = now() WHERE channel_id = $1 AND upstream_id = ANY ($2) AND state = 'submitted'
    AND lease_token IS NULL AND next_poll_at > now()`,
};
const FIND: Statement = {
  name: 'task_find',
  text: `SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.id = $2 AND t.account_id = $1 AND t.state <> 'refused'`,
};
const FIND_ANY: Statement = {
  name: 'task_find_any',
  text: `SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.id = $1 AND t.state <> 'refused'`,
};
const FIND_LAST: Statement = {
  name: 'task_find_last',
  text: `SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.charge_id = ANY ($1::text[])
    ORDER BY array_position($1::text[], t.charge_id) DESC LIMIT 1`,
};
// Two rows are enough to see that an upstream's id is not unique within the account.
const FIND_UPSTREAM: Statement = {
  name: 'task_find_upstream',
  text: `SELECT ${TASK_COLUMNS} FROM tasks t
    WHERE t.account_id = $1 AND t.upstream_id = $2 AND t.state <> 'refused' LIMIT 2`,
};

/**
 * The tasks as the gateway writes and reads them, up to the upstream's acceptance. Every move is a compare-and-set:
 * `true` means that this caller made it, `false` that another was faster and the caller must stop.
 */
export class TaskStore {
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock = systemClock,
  ) {}

  /**
   * Saves a task before anything is held or sent, so that a crash leaves a row to find.
   * @param requirement throws if the task must not be created. Runs first in the same transaction.
   * @throws ApiError rate_limit_exceeded if the key or its group already runs as many tasks as allowed. Nothing is
   * saved then.
   */
  async insertCreated(task: NewTask, requirement?: (client: ClientBase) => Promise<void>): Promise<void> {
    const { limits } = task;
    if (!limits && !requirement) return this.insert(this.pool, task);
    return inTransaction(this.pool, async (client) => {
      await requirement?.(client);
      await this.insert(client, task);
      if (limits) await requireSlot(client, { ...task, limits });
    });
  }

  private async insert(database: Pool | ClientBase, task: NewTask): Promise<void> {
    const { id, kind, accountId, keyId, chargeId, dialect, modelId, requestedModel, request } = task;
    const values = [
      id,
      kind,
      accountId,
      keyId,
      chargeId,
      dialect,
      modelId,
      requestedModel,
      JSON.stringify(request),
    ];
    const rest = [task.seconds, task.deadlineMs, task.group, currentTrace() ?? null];
    await database.query({ ...INSERT, values: [...values, ...rest] });
  }

  /** Takes the permission to call the upstream, once the credits are held, with the request as paid for. */
  toSubmitting(
    id: string,
    target: TaskTarget & { heldAmount: Nanos; request: TaskRequest },
  ): Promise<boolean> {
    const { channelId, channelKey, upstreamModel, heldAmount } = target;
    const request = JSON.stringify(target.request);
    return this.move(SUBMITTING, [id, channelId, upstreamModel, heldAmount.toString(), channelKey, request]);
  }

  /** Switches to another channel after one that provably did not accept. The time limit for stuck tasks starts again. */
  retarget(id: string, target: TaskTarget): Promise<boolean> {
    return this.move(RETARGET, [id, target.channelId, target.upstreamModel, target.channelKey]);
  }

  /** The upstream accepted. This also wins over a sweep that considered the caller dead and made the task `unknown`. */
  toSubmitted(id: string, accepted: { upstreamId: string; firstPollMs: number }): Promise<boolean> {
    return this.move(SUBMITTED, [id, accepted.upstreamId, accepted.firstPollMs]);
  }

  /** The upstream's outcome is unknown. The worker takes over after `firstPollMs`. */
  toUnknown(id: string, firstPollMs: number): Promise<boolean> {
    return this.move(UNKNOWN, [id, firstPollMs]);
  }

  /** The hold was refused: nothing is charged, and the task is not listed. */
  toRefused(id: string, error: { code: string; message: string }): Promise<boolean> {
    return this.move(REFUSED, [id, error.code, error.message]);
  }

  /** Ends a task that no upstream works on, and announces it in the same transaction. Wake the outbox relay afterwards. */
  toFailed(task: EndingTask, error: TaskError, { from, unbilledCost }: FailOptions): Promise<boolean> {
    const states = ([] as TaskState[]).concat(from);
    for (const state of states) requireEndable(state);
    const announcement = taskEndedRow('gateway', task, { error, endedAtMs: this.clock.nowMs() });
    return this.move(FAILED, [
      task.id,
      states,
      error.code,
      error.message,
      unbilledCost ?? null,
      ...announcement,
    ]);
  }

  /** For the operator: an upstream may bill this task although the customer does not pay for it. */
  async noteUnbilledCost(id: string, why: string): Promise<void> {
    await this.run(UNBILLED, [id, why]);
  }

  /** Makes a worker poll the tasks of these ids now. Returns whether one was waiting for its next poll. */
  async pollNow(channelId: string, upstreamIds: readonly string[]): Promise<boolean> {
    return (await this.run(POLL_NOW, [channelId, upstreamIds])).rowCount !== 0;
  }

  /** A task of this account by its id, or by the upstream's id if exactly one has it. Null for anyone else's. */
  async findForAccount(accountId: string, idOrUpstreamId: string): Promise<Task | null> {
    const own = await this.run<Task>(FIND, [accountId, idOrUpstreamId]);
    if (own.rows[0]) return own.rows[0];
    const named = await this.run<Task>(FIND_UPSTREAM, [accountId, idOrUpstreamId]);
    return named.rows.length === 1 ? named.rows[0]! : null;
  }

  /** The task of the last of these charges that has one, including refused ones, for the account that made the charges. */
  async lastOfCharges(
    chargeIds: readonly string[],
    database: Pool | ClientBase = this.pool,
  ): Promise<Task | null> {
    const { rows } = await database.query<Task>({ ...FIND_LAST, values: [chargeIds] });
    return rows[0] ?? null;
  }

  /** A task of any account, only for requests with a signed address of it. */
  async find(id: string): Promise<Task | null> {
    return (await this.run<Task>(FIND_ANY, [id])).rows[0] ?? null;
  }

  private async move(statement: Statement, values: unknown[]): Promise<boolean> {
    return (await this.run(statement, values)).rowCount === 1;
  }

  private run<R extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<QueryResult<R>> {
    return this.pool.query<R>({ ...statement, values });
  }
}

/** A move that the states do not allow is a mistake in the program, not a lost race. */
function requireEndable(from: TaskState): void {
  if (!mayMove(from, 'failed')) throw new RangeError(`A task does not move from ${from} to failed.`);
}
