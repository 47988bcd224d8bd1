import type { Pool, QueryResult, QueryResultRow } from 'pg';
import { type Clock, systemClock } from '#platform/clock.js';
import type { LeasedTask } from './leased-task.js';
import { type NextPoll, Reschedules } from './reschedules.js';
import { type Task, TASK_COLUMNS } from './task.js';
import { announceMoved, type EndingTask, taskEndedRow, type TaskError } from './task-end.js';

export interface ClaimLimits {
  limit: number;
  leaseMs: number;
}

export interface ClaimOrder {
  /** Accounts with waiting tasks. */
  without?: readonly string[];
  inHand?: ReadonlyMap<string, number> | undefined;
}

export interface FinishedFile {
  key: string;
  bytes: number;
  /** Media type. */
  type: string;
  /** How long the file can be downloaded from now on, in milliseconds. */
  lifeMs: number;
}

/** Much longer than the wait for any create, but short for held money. */
const DEFAULT_UNCLEAR_MS = 120_000;

interface Statement {
  name: string;
  text: string;
}

/**
 * When a task must have ended. A task whose create was never answered has less time, `unclearMs` from then on: perhaps nobody
 * is working on it while its credits are held.
 */
const overAt = (unclearMs: string) => `CASE t.state WHEN 'unknown'
  THEN least(t.deadline, coalesce(t.submitting_at, t.created_at) + ${unclearMs} * interval '1 ms') ELSE t.deadline END`;

const DUE = `state IN ('submitted', 'unknown') AND next_poll_at <= now()`;
const DUE_OF_TASKS = `tasks.state IN ('submitted', 'unknown') AND tasks.next_poll_at <= now()`;

/**
 * Claims at most $1 of the IDs that `due` selects and locks. The poll time moves to the lease's end, $2 ms away, so that the
 * tasks of a dead worker become due again by themselves. $3 is the time for an unclear create.
 */
function claiming(name: string, due: string): Statement {
  return {
    name,
    text: `UPDATE tasks t SET lease_token = gen_random_uuid(), next_poll_at = now() + $2 * interval '1 ms',
      poll_attempts = t.poll_attempts + 1
    FROM (${due}) due WHERE t.id = due.id
    RETURNING ${TASK_COLUMNS}, t.lease_token AS "leaseToken", t.traceparent, now() >= ${overAt('$3')} AS "pastDeadline"`,
  };
}

const CLAIM = claiming(
  'queue_claim',
  `SELECT mine.id FROM unnest($4::text[], $5::integer[]) AS channel (id, places)
    CROSS JOIN LATERAL (SELECT id, next_poll_at FROM tasks WHERE channel_id = channel.id AND ${DUE}
      AND account_id <> ALL ($6::text[])
      ORDER BY next_poll_at LIMIT channel.places FOR UPDATE SKIP LOCKED) mine
    ORDER BY mine.next_poll_at LIMIT $1`,
);
/** The number of tasks examined per claimed task: others can be leased by another worker at the same moment. */
const LOOKED_AT = 4;
/**
 * In turn by account, counting the tasks that this worker has of each. It reads everything that is due, so it is used only when
 * there is more than can be taken; otherwise the order does not matter.
 */
const CLAIM_FAIRLY = claiming(
  'queue_claim_fairly',
  `SELECT mine.id FROM unnest($4::text[], $5::integer[]) AS channel (id, places)
    CROSS JOIN LATERAL (SELECT tasks.id, tasks.next_poll_at, ranked.turn FROM (
        SELECT due.id, due.next_poll_at, coalesce(hand.tasks, 0)
          + row_number() OVER (PARTITION BY due.account_id ORDER BY due.next_poll_at) AS turn
        FROM (SELECT id, account_id, next_poll_at FROM tasks WHERE channel_id = channel.id AND ${DUE}
          AND account_id <> ALL ($6::text[])) due
        LEFT JOIN unnest($7::text[], $8::integer[]) AS hand (account_id, tasks) ON hand.account_id = due.account_id
        ORDER BY turn, due.next_poll_at LIMIT ${LOOKED_AT} * channel.places) ranked
      JOIN tasks ON tasks.id = ranked.id WHERE ${DUE_OF_TASKS}
      ORDER BY ranked.turn, tasks.next_poll_at LIMIT channel.places FOR UPDATE OF tasks SKIP LOCKED) mine
    ORDER BY mine.turn, mine.next_poll_at LIMIT $1`,
);
const CLAIM_STRAY = claiming(
  'queue_claim_stray',
  `SELECT id FROM tasks WHERE ${DUE} AND (channel_id IS NULL OR channel_id <> ALL ($4::text[]))
    ORDER BY next_poll_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
);
const CLAIM_OVERDUE = claiming(
  'queue_claim_overdue',
  `SELECT id FROM tasks t WHERE ${DUE} AND channel_id = ANY ($4::text[])
      AND ${overAt('$3')} < now() - $5 * interval '1 ms'
    ORDER BY next_poll_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
);
const SPREAD: Statement = {
  name: 'queue_spread',
  text: `UPDATE tasks SET next_poll_at = now() + random() * $2 * interval '1 ms', lease_token = NULL
    WHERE id IN (SELECT id FROM tasks WHERE channel_id = $1 AND ${DUE} FOR UPDATE SKIP LOCKED)`,
};
const LEASED = `id = $1 AND lease_token = $2 AND state IN ('submitted', 'unknown')`;
const RENEW: Statement = {
  name: 'queue_renew',
  text: `UPDATE tasks SET next_poll_at = now() + $3 * interval '1 ms' WHERE ${LEASED}`,
};
const AT_DEADLINE: Statement = {
  name: 'queue_at_deadline',
  text: `UPDATE tasks t SET next_poll_at = greatest(${overAt('$3')}, now()), lease_token = NULL
    WHERE ${LEASED} AND state = 'unknown'`,
};
const SUBMITTED: Statement = {
  name: 'queue_submitted',
  text: `UPDATE tasks SET state = 'submitted', upstream_id = $3, submitted_at = now(), lease_token = NULL,
    next_poll_at = now() + $4 * interval '1 ms'
    WHERE id = $1 AND lease_token = $2 AND state = 'unknown'`,
};
const COMPLETE: Statement = {
  name: 'queue_complete',
  text: `WITH moved AS (
      UPDATE tasks SET state = 'completed', progress = 100, file_key = $3, file_bytes = $4, file_type = $5,
        ended_at = now(), expires_at = now() + $6 * interval '1 ms', next_poll_at = NULL, lease_token = NULL
      WHERE id = $1 AND lease_token = $2 AND state = 'submitted' RETURNING id)
    ${announceMoved(7)}`,
};
const FAIL: Statement = {
  name: 'queue_fail',
  text: `WITH moved AS (
      UPDATE tasks SET state = 'failed', error_code = $3, error_message = $4, unbilled_cost = $5, ended_at = now(),
        next_poll_at = NULL, lease_token = NULL
      WHERE ${LEASED} AND state = $6 RETURNING id)
    ${announceMoved(7)}`,
};
const STUCK_CREATED: Statement = {
  name: 'queue_stuck_created',
  text: `SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.state = 'created' AND t.created_at < now() - $1 * interval '1 ms'
    ORDER BY t.created_at LIMIT $2`,
};
const FAIL_CREATED: Statement = {
  name: 'queue_fail_created',
  text: `WITH moved AS (
      UPDATE tasks SET state = 'failed', error_code = $2, error_message = $3, ended_at = now()
      WHERE id = $1 AND state = 'created' RETURNING id)
    ${announceMoved(4)}`,
};
const STUCK_SUBMITTING: Statement = {
  name: 'queue_stuck_submitting',
  text: `UPDATE tasks SET state = 'unknown', next_poll_at = now()
    WHERE id IN (SELECT id FROM tasks WHERE state = 'submitting' AND submitting_at < now() - $1 * interval '1 ms'
      ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};
const OLDEST_DUE: Statement = {
  name: 'queue_oldest_due',
  text: `SELECT coalesce(extract(epoch FROM now() - min(next_poll_at)), 0)::float8 AS seconds FROM tasks
    WHERE state IN ('submitted', 'unknown') AND next_poll_at <= now()`,
};

const HAS_FAILED: Statement = {
  name: 'queue_has_failed',
  text: `SELECT FROM tasks WHERE id = $1 AND state = 'failed'`,
};

/**
 * The tasks as the worker sees them: a queue of due rows, handed out under leases. Every write returns whether it counted;
 * `false` means that the lease went to another worker or the task has ended.
 */
export class TaskQueue {
  private readonly reschedules: Reschedules;

  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock = systemClock,
    /** How long a task can wait, from its create, to learn whether the upstream accepted it. */
    private readonly unclearMs: number = DEFAULT_UNCLEAR_MS,
  ) {
    this.reschedules = new Reschedules(pool);
  }

  /**
   * Hands out due tasks, longest due first, each to one worker only: at most `limit`, and at most `places` (at least 1) per
   * channel. With `inHand`, the worker's tasks per account, accounts take turns instead, so that one with thousands of tasks
   * does not block the others.
   */
  claimDue(
    places: ReadonlyMap<string, number>,
    { limit, leaseMs, without = [], inHand }: ClaimLimits & ClaimOrder,
  ): Promise<LeasedTask[]> {
    const values = [limit, leaseMs, this.unclearMs, [...places.keys()], [...places.values()], without];
    if (!inHand) return this.claim(CLAIM, values);
    return this.claim(CLAIM_FAIRLY, [...values, [...inHand.keys()], [...inHand.values()]]);
  }

  /** Hands out due tasks of channels other than these: new or removed ones. */
  claimStray(knownChannels: readonly string[], { limit, leaseMs }: ClaimLimits): Promise<LeasedTask[]> {
    return this.claim(CLAIM_STRAY, [limit, leaseMs, this.unclearMs, knownChannels]);
  }

  /** Hands out due tasks of these channels whose deadline passed `graceMs` ago. */
  claimOverdue(
    channels: readonly string[],
    { limit, leaseMs, graceMs }: ClaimLimits & { graceMs: number },
  ): Promise<LeasedTask[]> {
    return this.claim(CLAIM_OVERDUE, [limit, leaseMs, this.unclearMs, channels, graceMs]);
  }

  /** Spreads the due tasks of a channel at random over `overMs`. Returns their number. */
  async spreadDue(channelId: string, overMs: number): Promise<number> {
    return (await this.run(SPREAD, [channelId, overMs])).rowCount ?? 0;
  }

  renewLease(task: LeasedTask, leaseMs: number): Promise<boolean> {
    return this.write(RENEW, [task.id, task.leaseToken, leaseMs]);
  }

  /** Puts a task back for a while, in one batch with others. */
  reschedule(task: LeasedTask, next: NextPoll): Promise<boolean> {
    return this.reschedules.add(task, next);
  }

  /** Puts back an `unknown` task for which nothing can be done before its deadline. */
  waitForDeadline(task: LeasedTask): Promise<boolean> {
    return this.write(AT_DEADLINE, [task.id, task.leaseToken, this.unclearMs]);
  }

  /** An `unknown` task turned out to be accepted. */
  toSubmitted(task: LeasedTask, accepted: { upstreamId: string; firstPollMs: number }): Promise<boolean> {
    return this.write(SUBMITTED, [task.id, task.leaseToken, accepted.upstreamId, accepted.firstPollMs]);
  }

  /**
   * Ends a task whose file is stored, and announces it in the same transaction. The file's life starts now, by the
   * database's clock.
   */
  complete(task: LeasedTask, file: FinishedFile): Promise<boolean> {
    const announcement = taskEndedRow('worker', task, { error: null, endedAtMs: this.clock.nowMs() });
    const values = [task.id, task.leaseToken, file.key, file.bytes, file.type, file.lifeMs];
    return this.write(COMPLETE, [...values, ...announcement]);
  }

  /**
   * Ends a task without a result, and announces it in the same transaction; its charge is refunded. False as well if the
   * gateway has learned since the claim that the upstream accepted it: then it is to be polled, not ended.
   */
  fail(task: LeasedTask, error: TaskError, unbilledCost: string | null): Promise<boolean> {
    const announcement = taskEndedRow('worker', task, { error, endedAtMs: this.clock.nowMs() });
    const values = [task.id, task.leaseToken, error.code, error.message, unbilledCost, task.state];
    return this.write(FAIL, [...values, ...announcement]);
  }

  /** Whether a task has ended without a result, whoever ended it. */
  hasFailed({ id }: LeasedTask): Promise<boolean> {
    return this.write(HAS_FAILED, [id]);
  }

  /** Tasks whose gateway died before it called an upstream. */
  async stuckCreated(olderThanMs: number, limit: number): Promise<Task[]> {
    return (await this.run<Task>(STUCK_CREATED, [olderThanMs, limit])).rows;
  }

  /** Ends a task that never reached an upstream, and announces it in the same transaction. */
  failCreated(task: EndingTask, error: TaskError): Promise<boolean> {
    const announcement = taskEndedRow('worker', task, { error, endedAtMs: this.clock.nowMs() });
    return this.write(FAIL_CREATED, [task.id, error.code, error.message, ...announcement]);
  }

  /** Marks tasks as `unknown` that have been in their upstream call for too long. Returns their number. */
  async giveUpSubmitting(olderThanMs: number, limit: number): Promise<number> {
    return (await this.run(STUCK_SUBMITTING, [olderThanMs, limit])).rowCount ?? 0;
  }

  /** How long the longest due task has waited, in seconds. 0 if none is waiting. */
  async oldestDueSeconds(): Promise<number> {
    return (await this.run<{ seconds: number }>(OLDEST_DUE, [])).rows[0]?.seconds ?? 0;
  }

  private async claim(statement: Statement, values: unknown[]): Promise<LeasedTask[]> {
    return (await this.run<LeasedTask>(statement, values)).rows;
  }

  private async write(statement: Statement, values: unknown[]): Promise<boolean> {
    return (await this.run(statement, values)).rowCount === 1;
  }

  private run<R extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<QueryResult<R>> {
    return this.pool.query<R>({ ...statement, values });
  }
}
