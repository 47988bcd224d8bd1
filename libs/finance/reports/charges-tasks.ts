import type pg from 'pg';
import { z } from 'zod';
import { amountView, countView, numberText, type RowOf, timeView } from '#platform/http/fields.js';

/**
 * Charges against the work that they are for: every charge with its task, and every task with its charge, by the references of
 * both; and every other charge with the answer to its request, for as long as that is stored, or an unacknowledged finding about
 * it is open. A request can have a charge for each model that it was sent to, one of which is settled.
 */
export const workStates = [
  /** Done and charged, or not done and not charged. */
  'matched',
  /** In progress, or recent enough that it may be. */
  'running',
  'charged_without_work',
  'work_without_charge',
  'failed_without_release',
  'failed_and_settled',
  /** The task was completed after its charge was released. */
  'late',
  'task_missing',
  'charge_missing',
] as const;

export type WorkState = (typeof workStates)[number];
export const workState = z.enum(workStates);

/** States that a person must look at. */
export const FAULTY_WORK = workStates.filter((state) => state !== 'matched' && state !== 'running');

/** The range of the SQL: everything, or what was created or ended from $2 up to $3, with everything related to it. */
export type WorkScope = 'whole' | 'range';

/** Refunds of a charge after its settlement. */
const REFUNDED = `coalesce((SELECT sum(r.amount) FROM charge_refunds r WHERE r.charge_id = c.id), 0)`;

/**
 * The hold of a task never arrived: its charge was given up before and does not know the task. No upstream was called without
 * it.
 */
const GIVEN_UP = `t.submitting_at IS NULL AND EXISTS (SELECT FROM charges x WHERE x.id = t.charge_id AND x.state = 'refused'
  AND x.task_id IS NULL AND x.account_id = t.account_id AND x.refusal_code = 'abandoned')`;

/** The request of a charge. A charge that does not store it, and the first one of each request, have its ID. */
const REQUEST = `coalesce(c.request_id, c.id)`;

/**
 * What changed in the range, with everything it refers to and everything that refers to it, in two steps, so that the task of a
 * charge does not appear to be missing just because it is older.
 */
const TOUCHED = `
  touched_charges AS MATERIALIZED (
    SELECT id, task_id, ${REQUEST} AS request FROM charges AS c WHERE created_at >= $2::timestamptz AND created_at < $3::timestamptz
    UNION SELECT id, task_id, ${REQUEST} FROM charges AS c WHERE resolved_at >= $2::timestamptz AND resolved_at < $3::timestamptz),
  near_tasks AS MATERIALIZED (
    SELECT id, charge_id FROM tasks WHERE created_at >= $2::timestamptz AND created_at < $3::timestamptz
    UNION SELECT id, charge_id FROM tasks WHERE state IN ('completed', 'failed', 'refused') AND ended_at >= $2::timestamptz
      AND ended_at < $3::timestamptz
    UNION SELECT t.id, t.charge_id FROM touched_charges k JOIN tasks t ON t.id = k.task_id),
  near_charges AS MATERIALIZED (
    SELECT id, task_id, request FROM touched_charges
    UNION SELECT c.id, c.task_id, ${REQUEST} FROM near_tasks k JOIN charges c ON c.id = k.charge_id),
  all_tasks AS MATERIALIZED (
    SELECT id FROM near_tasks UNION SELECT t.id FROM near_charges k JOIN tasks t ON t.id = k.task_id),`;

interface Sources {
  touched: string;
  charges: string;
  tasks: string;
  ofRange: string;
  answers: string;
}

const SOURCES: Record<WorkScope, Sources> = {
  whole: { touched: '', charges: 'charges', tasks: 'tasks', ofRange: '', answers: '' },
  range: {
    touched: TOUCHED,
    charges: '(SELECT c.* FROM near_charges k JOIN charges c USING (id))',
    tasks: '(SELECT t.* FROM all_tasks k JOIN tasks t USING (id))',
    ofRange: 'WHERE c.id IS NOT NULL OR t.id IN (SELECT id FROM near_tasks)',
    answers: `AND (k.charge_id IN (SELECT request FROM near_charges)
      OR (k.created_at >= $2::timestamptz AND k.created_at < $3::timestamptz AND NOT EXISTS (SELECT FROM charges x
        WHERE x.id = k.charge_id)))`,
  },
};

/**
 * Answers are deleted after a day, but their findings are not: they keep the answer until a person notes the outcome. So a
 * contradiction does not resolve itself, and calls store nothing more for it.
 */
const ANSWERS = `
    SELECT charge_id, status::int, key_id, created_at, content_type, false AS is_kept FROM idempotency_keys WHERE state = 'answered'
    UNION ALL
    SELECT coalesce(details ->> 'request', details ->> 'charge'), (details ->> 'answered')::int, details ->> 'key', coalesce(happened_at, first_seen_at), NULL, true
    FROM control_findings WHERE control = 'charges-tasks' AND resolved_at IS NULL AND details ->> 'answered' IS NOT NULL
      AND (acknowledged_at IS NULL OR coalesce(note, '') = '')`;

/**
 * Answers with the outcome of all charges of their requests, which belong to one account and have the time of the request in their
 * IDs. An answer that could belong to several of them contradicts none of them alone.
 */
const ANSWERED = `
    SELECT k.charge_id, k.status, k.key_id, k.created_at, of_request.settled_charges, of_request.held_charges
    FROM answers k LEFT JOIN charges f ON f.id = k.charge_id
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE c.state = 'settled') AS settled_charges,
        count(*) FILTER (WHERE c.state = 'held') AS held_charges, coalesce(bool_or(c.lines IS NOT NULL), false) AS is_by_token
      FROM charges c WHERE c.account_id = f.account_id AND c.id >= left(f.id, 10)
        AND c.id <= left(f.id, 10) || repeat('z', 16) AND ${REQUEST} = k.charge_id) AS of_request
    WHERE NOT of_request.is_by_token`;

const OF_CHARGE = `c.state AS charge_state, c.request_id, c.amount, c.settled, c.created_at AS charged_at, c.upstream_status`;

const STATE_OF_TASK = `CASE
  WHEN t.id IS NULL THEN 'task_missing'
  WHEN c.id IS NULL THEN CASE WHEN t.state = 'completed' THEN 'work_without_charge'
    WHEN t.state IN ('failed', 'refused') THEN CASE WHEN ${GIVEN_UP} THEN 'matched' ELSE 'charge_missing' END
    ELSE 'running' END
  WHEN t.state = 'completed' THEN CASE c.state
    WHEN 'held' THEN 'work_without_charge' WHEN 'settled' THEN 'matched' ELSE 'late' END
  WHEN t.state = 'failed' THEN CASE WHEN c.state = 'held' THEN 'failed_without_release'
    WHEN c.state = 'settled' AND c.settled > ${REFUNDED} THEN 'failed_and_settled' ELSE 'matched' END
  WHEN c.state = 'settled' AND c.settled > ${REFUNDED} THEN 'charged_without_work'
  WHEN t.state = 'refused' THEN CASE WHEN c.state = 'held' THEN 'charged_without_work' ELSE 'matched' END
  ELSE 'running' END`;

const STATE_OF_REQUEST = `CASE
  WHEN c.state = 'held' THEN 'running'
  WHEN c.state = 'settled' AND c.settled > 0 AND (c.channel_id IS NULL OR c.upstream_status NOT BETWEEN 200 AND 299
    OR k.status >= 300) AND c.settled > ${REFUNDED} THEN 'charged_without_work'
  WHEN k.status < 300 AND c.state IS DISTINCT FROM 'settled' AND k.settled_charges = 0 AND coalesce(c.id, k.charge_id) = k.charge_id
    THEN CASE WHEN k.held_charges > 0 THEN 'running' ELSE 'work_without_charge' END
  ELSE 'matched' END`;

/**
 * A query with a row for each item, `work`: $1 is the grace in milliseconds, within which a contradiction may be in progress. For
 * requests, leaves out answers that began before their work failed, and work priced by the token, part of which was delivered
 * before it failed.
 */
export function workSql(scope: WorkScope): string {
  const { touched, charges, tasks, ofRange, answers } = SOURCES[scope];
  return `${touched}
  answers AS (
    SELECT DISTINCT ON (k.charge_id) k.charge_id, k.status, k.key_id, k.created_at FROM (${ANSWERS}) AS k
    WHERE coalesce(k.content_type, '') NOT LIKE 'text/event-stream%'
      AND NOT EXISTS (SELECT FROM tasks t WHERE t.charge_id = k.charge_id)
      AND NOT EXISTS (SELECT FROM charges x WHERE x.id = k.charge_id AND x.task_id IS NOT NULL)
      ${answers}
    ORDER BY k.charge_id, k.is_kept, k.created_at DESC),
  answered AS (${ANSWERED}),
  paired AS (
    SELECT coalesce('task:' || t.id, 'charge:' || c.id) AS subject, coalesce(t.ended_at, c.resolved_at, c.created_at, t.created_at) AS at,
      c.id AS charge_id, coalesce(c.account_id, t.account_id) AS account_id, coalesce(t.id, c.task_id) AS task_id, t.state AS task_state,
      t.ended_at AS task_ended_at, coalesce(c.model_id, t.model_id) AS model_id, coalesce(t.channel_id, c.channel_id) AS channel_id,
      NULL::int AS answered, NULL::text AS key_id, ${OF_CHARGE},
      ${STATE_OF_TASK} AS state
    FROM (SELECT * FROM ${charges} AS c WHERE task_id IS NOT NULL) AS c
    FULL JOIN ${tasks} AS t ON t.charge_id = c.id AND t.id = c.task_id
    ${ofRange}),
  direct AS (
    SELECT 'charge:' || coalesce(c.id, k.charge_id), coalesce(c.resolved_at, c.created_at, k.created_at),
      coalesce(c.id, k.charge_id), c.account_id, NULL, NULL, NULL::timestamptz, c.model_id, c.channel_id, k.status, k.key_id, ${OF_CHARGE},
      ${STATE_OF_REQUEST}
    FROM (SELECT * FROM ${charges} AS c WHERE task_id IS NULL) AS c FULL JOIN answered k ON k.charge_id = ${REQUEST}),
  work AS (
    SELECT i.subject, i.at, i.charge_id, i.account_id, i.task_id, i.task_state, i.task_ended_at, i.model_id, i.channel_id, i.answered,
      i.key_id, i.charge_state, i.request_id, i.amount, i.settled, i.charged_at, i.upstream_status,
      CASE WHEN i.state <> 'matched' AND i.at >= now() - $1::float8 * interval '1 millisecond' THEN 'running' ELSE i.state END
        AS state
    FROM (SELECT * FROM paired UNION ALL SELECT * FROM direct) AS i)`;
}

/** By the end of the work, or otherwise by its charge. `to` is exclusive. */
export interface WorkRange {
  from: Date;
  to: Date;
  /** More recent contradictions may still be in progress. */
  graceMs: number;
}

/** Items of one UTC day and state: the amounts first held, and settled. */
export const dayShape = z
  .object({
    day: z.string().meta({ examples: ['2026-01-31'] }),
    state: workState,
    items: countView,
    amount: amountView,
    settled: amountView,
  })
  .meta({ id: 'ChargeTaskDay' });

export type WorkDay = RowOf<typeof dayShape>;

/** The number of items by state, newest day first. The client's time zone must be UTC. */
export async function readWorkDays(
  client: pg.ClientBase,
  { from, to, graceMs }: WorkRange,
): Promise<WorkDay[]> {
  const { rows } = await client.query<WorkDay>(
    `WITH ${workSql('range')}
     SELECT to_char(at, 'YYYY-MM-DD') AS day, state, count(*) AS items, coalesce(sum(amount), 0)::bigint AS amount,
       coalesce(sum(settled), 0)::bigint AS settled
     FROM work WHERE at >= $2::timestamptz AND at < $3::timestamptz GROUP BY 1, 2 ORDER BY 1 DESC, array_position($4, state)`,
    [graceMs, from, to, workStates],
  );
  return rows;
}

export const itemShape = z
  .object({
    at: timeView.describe('When the work ended, or otherwise its charge.'),
    state: workState,
    chargeId: z.string().nullable(),
    chargeState: z.string().nullable(),
    amount: amountView.nullable().describe('The amount first held.'),
    settled: amountView.nullable(),
    taskId: z.string().nullable(),
    taskState: z.string().nullable(),
    answered: z
      .int()
      .nullable()
      .describe('The status returned to the client, if it sent an idempotency key.'),
    requestId: z.string().nullable(),
    accountId: z.string().nullable(),
    model: z.string().nullable(),
    channel: z.string().nullable(),
    transactionIds: z.array(numberText).describe('Ledger transactions.'),
    subject: z.string().describe('`task:{id}`, or `charge:{id}` for work without a task.'),
  })
  .meta({ id: 'ChargeTaskItem' });

export type WorkItem = RowOf<typeof itemShape>;

export interface WorkQuery extends WorkRange {
  /** Null means any state. */
  states: readonly WorkState[] | null;
  limit: number;
  /** The last item of the previous page. */
  after: { at: string; subject: string } | null;
}

/** A page of items, newest first. Times are text in the client's time zone. */
export async function readWork(client: pg.ClientBase, query: WorkQuery): Promise<WorkItem[]> {
  const { from, to, graceMs, states, limit, after } = query;
  const { rows } = await client.query<WorkItem>(
    `WITH ${workSql('range')},
     page AS (
       SELECT * FROM work WHERE at >= $2::timestamptz AND at < $3::timestamptz AND ($4::text[] IS NULL OR state = ANY($4::text[]))
         AND ($5::timestamptz IS NULL OR (at, subject) < ($5::timestamptz, $6::text))
       ORDER BY at DESC, subject DESC LIMIT $7)
     SELECT subject, state, at::text, charge_id AS "chargeId", charge_state AS "chargeState", amount, settled,
       account_id AS "accountId", model_id AS model, channel_id AS channel, request_id AS "requestId", task_id AS "taskId",
       task_state AS "taskState", answered,
       ARRAY(SELECT t.id FROM ledger_transactions t WHERE t.reference
         IN ('charge:' || page.charge_id || ':hold', 'charge:' || page.charge_id || ':resolve') ORDER BY t.id) AS "transactionIds"
     FROM page ORDER BY page.at DESC, subject DESC`,
    [graceMs, from, to, states, after?.at ?? null, after?.subject ?? '', limit],
  );
  return rows;
}
