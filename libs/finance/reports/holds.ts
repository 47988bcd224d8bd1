import type pg from 'pg';
import type { RowOf } from '#platform/http/fields.js';
import { crd, iso } from '../controls/found-items.js';
import type { holdShape } from '../views/work-reports.view.js';

/**
 * Holds with the latest time at which they should be resolved: work that a client waits for has its own deadline, a running
 * task has the task's, and a hold is due at once when its task has ended.
 */
export const HELD = `
SELECT c.id, c.account_id, c.amount, c.model_id, c.group_name, c.family, c.request_id, c.key_id, c.created_at,
  coalesce(t.channel_id, c.channel_id) AS channel_id, c.task_id, t.state AS task_state, t.upstream_id,
  coalesce(t.ended_at, c.deadline, t.deadline, c.created_at) AS due_at
FROM charges c LEFT JOIN tasks t ON t.id = c.task_id
WHERE c.state = 'held'`;

export const HELD_DETAILS = `jsonb_build_object('charge', h.id, 'account', h.account_id, 'amount', ${crd('h.amount')},
  'model', h.model_id, 'channel', h.channel_id, 'task', h.task_id, 'task_state', h.task_state,
  'upstream_task', h.upstream_id, 'request', h.request_id, 'held_since', ${iso('h.created_at')}, 'due_at', ${iso('h.due_at')})`;

export type OpenHold = RowOf<typeof holdShape>;

export interface HoldsQuery {
  graceMs: number;
  limit: number;
  /** The last hold of the previous page. */
  after: { heldSince: string; chargeId: string } | null;
  /** Only holds past their deadline and the grace period. */
  overdueOnly: boolean;
}

const MINUTE_MS = 60_000;
const BUCKETS_MS = [MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 24 * 60 * MINUTE_MS];

/** A page of holds, oldest first. Times are text in the client's time zone. */
export async function readHolds(client: pg.ClientBase, query: HoldsQuery): Promise<OpenHold[]> {
  const { graceMs, limit, after, overdueOnly } = query;
  const { rows } = await client.query<OpenHold>(
    `SELECT h.id AS "chargeId", h.account_id AS "accountId", h.amount, h.created_at::text AS "heldSince",
       h.due_at::text AS "dueAt", (extract(epoch FROM now() - h.created_at) * 1000)::bigint AS "ageMs",
       h.due_at < now() - $1::float8 * interval '1 millisecond' AS "isOverdue", h.family, h.model_id AS model,
       h.group_name AS "group", h.channel_id AS channel, h.upstream_id AS "upstreamTaskId", h.task_id AS "taskId",
       h.task_state AS "taskState", h.request_id AS "requestId",
       (SELECT t.id FROM ledger_transactions t WHERE t.reference = 'charge:' || h.id || ':hold') AS "transactionId"
     FROM (${HELD}) AS h
     WHERE ($2::timestamptz IS NULL OR (h.created_at, h.id) > ($2, $3::text))
       AND (NOT $4::boolean OR h.due_at < now() - $1::float8 * interval '1 millisecond')
     ORDER BY h.created_at, h.id LIMIT $5`,
    [graceMs, after?.heldSince ?? null, after?.chargeId ?? '', overdueOnly, limit],
  );
  return rows;
}

interface BucketRow {
  bucket: number;
  count: bigint;
  amount: bigint;
  late: bigint;
  lateAmount: bigint;
}

const BY_AGE = `SELECT width_bucket(extract(epoch FROM now() - h.created_at) * 1000, $2::numeric[])::int AS bucket, count(*),
    sum(h.amount)::bigint AS amount, count(*) FILTER (WHERE late) AS late,
    coalesce(sum(h.amount) FILTER (WHERE late), 0)::bigint AS "lateAmount"
  FROM (${HELD}) AS h, LATERAL (SELECT h.due_at < now() - $1::float8 * interval '1 millisecond' AS late) AS judged
  GROUP BY 1`;

/**
 * How many nanos are held for how long, and the held balances of accounts: the same sum if the books are consistent.
 * `underMs` is null in the last bucket, that of the oldest.
 */
export async function readHoldTotals(client: pg.ClientBase, graceMs: number) {
  const { rows } = await client.query<BucketRow>(BY_AGE, [graceMs, BUCKETS_MS]);
  const balances = await client.query<{ held: bigint }>(
    'SELECT coalesce(sum(held), 0)::bigint AS held FROM customer_balances',
  );
  const buckets = [...BUCKETS_MS, null].map((underMs, index) => {
    const row = rows.find(({ bucket }) => bucket === index);
    return { underMs, count: row?.count ?? 0n, amount: row?.amount ?? 0n };
  });
  return {
    buckets,
    overdue: {
      count: rows.reduce((sum, { late }) => sum + late, 0n),
      amount: rows.reduce((sum, { lateAmount }) => sum + lateAmount, 0n),
    },
    total: buckets.reduce((sum, { amount }) => sum + amount, 0n),
    balances: balances.rows[0]?.held ?? 0n,
  };
}
